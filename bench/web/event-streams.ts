import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { inTurns } from '../support/in-turns.ts'

const openedAtOnce = 50
const taskId = /"task_id":"([0-9a-f-]{36})"/g

/** Streams of all events, as open pages have them; notes when the first event of each task came to each. */
export async function openEventStreams(url: string, count: number) {
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 })
  const arrivals = new Map<string, number[]>()
  const streams = await inTurns(Array.from({ length: count }), openedAtOnce, async () => {
    const answer = await request(`${url}/api/v1/events`, {
      dispatcher: agent,
      headers: { accept: 'text/event-stream' },
    })
    if (answer.statusCode !== 200) throw new Error(`a stream was answered with ${answer.statusCode}`)
    const seen = new Set<string>()
    answer.body.on('data', (chunk: Buffer) => {
      const atMs = Date.now()
      for (const [, id = ''] of chunk.toString('utf8').matchAll(taskId)) {
        if (seen.has(id)) continue
        seen.add(id)
        const times = arrivals.get(id)
        if (times) times.push(atMs)
        else arrivals.set(id, [atMs])
      }
    })
    answer.body.on('error', () => undefined) // cut at the end
    return answer
  })
  return {
    /** When the first event of a task came, for each stream to which it has come. */
    arrivalsOf: (id: string): readonly number[] => arrivals.get(id) ?? [],
    async untilArrived(id: string, limitMs: number): Promise<void> {
      for (const end = Date.now() + limitMs; Date.now() < end; await delay(20)) {
        if ((arrivals.get(id)?.length ?? 0) >= streams.length) return
      }
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  }
}
