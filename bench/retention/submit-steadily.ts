import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'

type Submitted = { readonly id: string; readonly atMs: number; readonly ms: number }

/** Submits so many tasks a second, whether or not earlier ones were answered, to each application in turn; their images run. */
export function submitSteadily(url: string, applications: readonly string[], perSecond: number) {
  const pool = new Pool(url, { connections: 64 })
  const stopping = new AbortController()
  const submit = async (app: string): Promise<Submitted> => {
    const images = [{ image: `registry.example/${app}`, tag: 'v0' }]
    const [atMs, began] = [Date.now(), performance.now()]
    const answer = await pool.request({
      method: 'POST',
      path: '/api/v1/tasks',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ app, author: 'bench', project: 'bench', images }),
    })
    const body = (await answer.body.json()) as { id: string }
    if (answer.statusCode !== 202) throw new Error(`not accepted: ${answer.statusCode} ${JSON.stringify(body)}`)
    return { id: body.id, atMs, ms: performance.now() - began }
  }
  const run = async () => {
    const all: Promise<Submitted>[] = []
    for (const began = performance.now(); !stopping.signal.aborted; ) {
      all.push(submit(applications[all.length % applications.length] ?? ''))
      const nextMs = began + (all.length * 1_000) / perSecond
      await delay(Math.max(0, nextMs - performance.now()), undefined, { signal: stopping.signal }).catch(
        () => undefined,
      )
    }
    return await Promise.all(all)
  }
  const running = run()
  return {
    async stop(): Promise<readonly Submitted[]> {
      stopping.abort()
      const submitted = await running
      await pool.close()
      return submitted
    },
  }
}
