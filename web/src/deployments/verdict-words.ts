import type { TaskRecord } from '../../../contract/task.ts'
import { duration } from '../ui/duration.ts'
import { causeWords } from './cause-words.ts'

/** What the sheet on top of a task says, from the first thing one must know to the evidence. */
export type VerdictWords = {
  readonly headline: string
  readonly lead: string | undefined
  readonly evidence: readonly string[]
  readonly todo: readonly string[]
}

const shownEvidence = 6

export function verdictWords(task: TaskRecord): VerdictWords {
  const [first, ...rest] = reasonLines(task)
  const headline = headlineOf(task, first)
  return {
    headline,
    lead: first === headline ? undefined : first,
    evidence: rest.slice(0, shownEvidence),
    todo: task.cause === undefined ? [] : causeWords[task.cause].todo,
  }
}

/** The second line of a row: why it ended as it did, or that it went back. Nothing for what went as usual. */
export function rowCause(task: TaskRecord): string | undefined {
  if (task.status === 'in progress' || task.status === 'deployed') return task.is_rollback ? 'Rollback' : undefined
  return headlineOf(task, reasonLines(task)[0])
}

/** How long it took, or has taken by now, in seconds. */
export function secondsTaken(task: TaskRecord, now: number): number {
  return (task.status === 'in progress' ? now : task.updated) - task.created
}

/** The end of its time in Unix seconds, where the record says how long it has. */
export const deadlineOf = (task: TaskRecord): number | undefined =>
  task.timeout === undefined ? undefined : task.created + task.timeout

function headlineOf(task: TaskRecord, reason: string | undefined): string {
  if (task.status === 'in progress') return task.progress ?? 'Waiting for the first look at the application'
  if (task.status === 'deployed') return `Deployed in ${duration(task.updated - task.created)}`
  // A cancellation is told best by its reason, which names who or what took its place.
  if (task.status === 'cancelled' && reason !== undefined) return reason
  return task.cause === undefined ? (reason ?? endings[task.status]) : causeWords[task.cause].headline
}

const endings = {
  failed: 'The deployment failed',
  aborted: 'The outcome is unknown',
  cancelled: 'Cancelled',
  'app not found': causeWords.app_not_found.headline,
}

const reasonLines = (task: TaskRecord) => (task.status_reason ?? '').split('\n').filter((line) => line.trim() !== '')
