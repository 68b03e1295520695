import { Agent, fetch } from 'undici'

/** Reads the event stream of each of these tasks, as their pages do. */
export async function openTaskStreams(url: string, ids: readonly string[]) {
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 })
  const answers = await Promise.all(
    ids.map((id) =>
      fetch(`${url}/api/v1/tasks/${id}/events`, { dispatcher: agent, headers: { accept: 'text/event-stream' } }),
    ),
  )
  const read = async (answer: (typeof answers)[number]) => {
    for await (const _ of answer.body ?? []);
  }
  for (const answer of answers) read(answer).catch(() => {}) // cut at the end
  return { [Symbol.asyncDispose]: () => agent.destroy() }
}
