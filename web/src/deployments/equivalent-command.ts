import type { TaskSubmission } from '../../../contract/task.ts'

const authorization = '-H "Authorization: Bearer $TOKEN"'

/** Cancels a task from a terminal. */
export const cancelCommand = (origin: string, id: string): string =>
  `curl --fail-with-body -X DELETE ${authorization} ${inQuotes(`${origin}/api/v1/tasks/${encodeURIComponent(id)}`)}`

/** Submits a task from a terminal. */
export const submitCommand = (origin: string, task: TaskSubmission): string =>
  `curl --fail-with-body ${authorization} -H "Content-Type: application/json" -d ${inQuotes(JSON.stringify(task))} ${inQuotes(`${origin}/api/v1/tasks`)}`

/** Between single quotes a shell reads everything as it is, but for the quote itself. */
const inQuotes = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
