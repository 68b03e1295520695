import type { History, HistoryMark } from '../../../contract/history.ts'
import type { ListedTask } from '../../../contract/task.ts'
import type { TaskEvent } from '../../../contract/task-event.ts'
import { type FinalStatus, isFinal } from '../../../contract/task-status.ts'

const maxMarks = 1_000

type Ended = ListedTask & { readonly status: FinalStatus }

/** The day with what has ended since it was read. The times of a period stay as they were read. */
export function applyToToday(history: History, events: readonly TaskEvent[]): History {
  const ended = events.flatMap(({ kind, task }) =>
    kind === 'verdict' && task !== undefined && isEnded(task) && task.updated > history.as_of ? [task] : [],
  )
  if (ended.length === 0) return history
  const counts = { ...history.total.counts }
  for (const { status } of ended) counts[status] = (counts[status] ?? 0) + 1
  const marks = [...(history.marks ?? []), ...ended.filter(hasMark).map(markOf)].slice(-maxMarks)
  return {
    ...history,
    as_of: Math.max(...ended.map(({ updated }) => updated)),
    total: { ...history.total, counts },
    marks,
  }
}

const isEnded = (task: ListedTask): task is Ended => isFinal(task.status)
const hasMark = ({ status }: ListedTask) => status !== 'cancelled' && status !== 'app not found'
const markOf = ({ id, app, status, updated }: Ended): HistoryMark => ({ id, app, status, ended: updated })
