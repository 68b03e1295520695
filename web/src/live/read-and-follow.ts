import type { TaskEvent } from '../../../contract/task-event.ts'
import type { LiveConnection } from './live-connection.ts'

/** Reads, and applies what happened meanwhile: the answer may be older than an event that came before it. */
export async function readAndFollow<Answer>(
  connection: LiveConnection,
  read: () => Promise<Answer>,
  apply: (answer: Answer, events: readonly TaskEvent[]) => Answer,
): Promise<Answer> {
  const meanwhile: TaskEvent[] = []
  const stop = connection.on('tasks', (events) => void meanwhile.push(...events))
  try {
    return apply(await read(), meanwhile)
  } finally {
    stop()
  }
}
