import { Client } from 'undici'
import { appName, imageName } from '../support/load-history.ts'

/** Applications that are submitted to in turns; later tasks supersede earlier ones. */
const applications = 12_000

/** `rate` is tasks accepted per second. */
type Load = { readonly rate: number; readonly latenciesMs: readonly number[] }

let submitted = 0

/**
 * Submits tasks for so long on so many connections, each with the next one as soon as the last was answered. Each has the next
 * one of `credentials`, values of `Authorization`; none: without a credential.
 */
export async function submitFor(
  url: string,
  connections: number,
  ms: number,
  credentials: readonly string[] = [],
): Promise<Load> {
  const latenciesMs: number[] = []
  const began = performance.now()
  const submitter = async () => {
    const client = new Client(url)
    try {
      while (performance.now() - began < ms) latenciesMs.push(await submitOne(client, credentials))
    } finally {
      await client.close()
    }
  }
  await Promise.all(Array.from({ length: connections }, submitter))
  const seconds = (performance.now() - began) / 1000
  return { rate: latenciesMs.length / seconds, latenciesMs }
}

async function submitOne(client: Client, credentials: readonly string[]): Promise<number> {
  submitted += 1
  const rank = 1_000 + (submitted % applications)
  const body = JSON.stringify({
    app: appName(rank),
    author: 'bench',
    project: 'bench',
    images: [{ image: imageName(rank), tag: `v${submitted}` }],
  })
  const authorization = credentials[submitted % credentials.length]
  const sentAt = performance.now()
  const answer = await client.request({
    method: 'POST',
    path: '/api/v1/tasks',
    headers: { 'content-type': 'application/json', ...(authorization === undefined ? {} : { authorization }) },
    body,
  })
  const text = await answer.body.text()
  if (answer.statusCode !== 202) throw new Error(`not accepted: ${answer.statusCode} ${text}`)
  return performance.now() - sentAt
}
