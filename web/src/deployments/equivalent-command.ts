import type { TaskSubmission } from '../../../contract/task.ts'
import { shellQuote } from '../ui/shell-quote.ts'

const authorization = '-H "Authorization: Bearer $TOKEN"'

/** Cancels a task from a terminal. */
export const cancelCommand = (origin: string, id: string): string =>
  `curl --fail-with-body -X DELETE ${authorization} ${shellQuote(`${origin}/api/v1/tasks/${encodeURIComponent(id)}`)}`

/** Submits a task from a terminal. */
export const submitCommand = (origin: string, task: TaskSubmission): string =>
  `curl --fail-with-body ${authorization} -H "Content-Type: application/json" -d ${shellQuote(JSON.stringify(task))} ${shellQuote(`${origin}/api/v1/tasks`)}`
