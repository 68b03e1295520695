import { gatesOf } from '../../../contract/gates/gates.ts'
import type { TaskRecord } from '../../../contract/task.ts'
import { duration } from '../ui/duration.ts'
import { exactTime } from '../ui/moment.ts'
import { describeGates } from './describe-gates.ts'
import { callerName, verdictWords } from './verdict-words.ts'

/** Everything the record tells of an ended task, as text for a ticket or a chat. */
export function taskReport(task: TaskRecord, address: string): string {
  const head = fields([
    [task.status, task.app],
    ['cause', [task.cause, verdictWords(task).headline].filter(Boolean).join(': ')],
    ['task', address],
  ])
  const tail = fields([
    ...task.images.map(({ image, tag }) => ['Requested', `${image}:${tag}`] as const),
    ['Commit', task.commit],
    ['Gates', describeGates(task, gatesOf(task))],
    ['Cancelled by', task.diagnosis?.cancelled_by && callerName(task.diagnosis.cancelled_by)],
    ['Ended', exactTime(task.updated)],
    ['Took', `${duration(task.updated - task.created)}, by ${task.author}`],
  ])
  return [head, task.status_reason?.trim(), tail].filter(Boolean).join('\n\n').replaceAll('\u00a0', ' ')
}

function fields(rows: readonly (readonly [string, string | undefined])[]): string {
  const known = rows.filter(([, value]) => value)
  const width = Math.max(...known.map(([name]) => name.length)) + 2
  return known.map(([name, value]) => name.padEnd(width) + value).join('\n')
}
