import { Agent, fetch } from 'undici'
import { z } from 'zod'

const eventPattern = /^data: (.+)$/gm
const Event = z.object({ task_id: z.string().optional(), kind: z.string().optional() })

/** One reader of the stream of all events; notes when each task's verdict arrived. */
export async function followVerdicts(url: string) {
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 })
  const arrivedAtMs = new Map<string, number>()
  const answer = await fetch(`${url}/api/v1/events`, { dispatcher: agent, headers: { accept: 'text/event-stream' } })
  const read = async () => {
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of answer.body ?? []) {
      const atMs = Date.now()
      text += decoder.decode(chunk, { stream: true })
      const end = text.lastIndexOf('\n\n')
      if (end < 0) continue
      for (const [, data = '{}'] of text.slice(0, end).matchAll(eventPattern)) {
        const { task_id: taskId, kind } = Event.parse(JSON.parse(data))
        if (kind === 'verdict' && taskId !== undefined) arrivedAtMs.set(taskId, atMs)
      }
      text = text.slice(end)
    }
  }
  let failure: unknown
  read().catch((error: unknown) => {
    failure = error
  })
  return {
    /** NaN where none has come. */
    arrivedAtMs: (taskId: string) => arrivedAtMs.get(taskId) ?? Number.NaN,
    failure: () => failure,
    [Symbol.asyncDispose]: () => agent.destroy(),
  }
}
