import { Client } from 'undici'
import { appName, imageName } from '../support/load-history.ts'

/** Applications that are submitted to in turns; later tasks supersede earlier ones. */
const applications = 12_000

/** `rate` is tasks accepted per second. */
type Load = { readonly rate: number; readonly latenciesMs: readonly number[] }

let submitted = 0

/** Submits tasks for so long on so many connections, each with the next one as soon as the last was answered. */
export async function submitFor(url: string, connections: number, ms: number): Promise<Load> {
  const latenciesMs: number[] = []
  const began = performance.now()
  const submitter = async () => {
    const client = new Client(url)
    try {
      while (performance.now() - began < ms) latenciesMs.push(await submitOne(client))
    } finally {
      await client.close()
    }
  }
  await Promise.all(Array.from({ length: connections }, submitter))
  const seconds = (performance.now() - began) / 1000
  return { rate: latenciesMs.length / seconds, latenciesMs }
}

async function submitOne(client: Client): Promise<number> {
  submitted += 1
  const rank = 1_000 + (submitted % applications)
  const body = JSON.stringify({
    app: appName(rank),
    author: 'bench',
    project: 'bench',
    images: [{ image: imageName(rank), tag: `v${submitted}` }],
  })
  const sentAt = performance.now()
  const answer = await client.request({
    method: 'POST',
    path: '/api/v1/tasks',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const text = await answer.body.text()
  if (answer.statusCode !== 202) throw new Error(`not accepted: ${answer.statusCode} ${text}`)
  return performance.now() - sentAt
}
