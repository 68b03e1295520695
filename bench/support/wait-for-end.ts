import { setTimeout as delay } from 'node:timers/promises'
import { Agent, fetch } from 'undici'
import { TaskRecord } from '../../contract/task.ts'
import { isFinal } from '../../contract/task-status.ts'

const waitSeconds = 60
const retryMs = 500

/** Many requests wait at once, each on a connection of its own. */
export const waitingAgent = () => new Agent({ connections: 10_000, headersTimeout: 0, bodyTimeout: 0 })

/** Waits as a pipeline does, and says when it knew. @throws where the task did not end as deployed */
export async function waitForEnd(url: string, id: string, dispatcher: Agent): Promise<number> {
  for (;;) {
    const answer = await fetch(`${url}/api/v1/tasks/${id}?wait=${waitSeconds}`, { dispatcher })
    const body = await answer.json()
    const atMs = Date.now()
    if (answer.status === 503) {
      await delay(retryMs)
      continue
    }
    if (answer.status !== 200) throw new Error(`waiting was answered with ${answer.status}: ${JSON.stringify(body)}`)
    const task = TaskRecord.parse(body)
    if (task.status === 'deployed') return atMs
    if (isFinal(task.status)) throw new Error(`${task.app} ended as ${task.status}: ${task.status_reason}`)
  }
}
