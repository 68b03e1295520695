import type { TaskRecord } from '../../../contract/task.ts'
import { duration } from '../ui/duration.ts'
import { causeWords } from './cause-words.ts'
import { type Evidence, parseReason, type Reason } from './parse-reason.ts'

/** What the sheet on top of a task says, from the first thing one must know to the evidence. */
export type VerdictWords = {
  readonly headline: string
  readonly lead: string | undefined
  readonly evidence: readonly Evidence[]
  readonly todo: readonly string[]
}

const shownEvidence = 6

export function verdictWords(task: TaskRecord): VerdictWords {
  if (task.status === 'in progress') return waitingWords(task.progress ?? '')
  const reason = parseReason(task.status_reason, task.cause)
  const headline = headlineOf(task, reason)
  const lead = reason.first === undefined ? undefined : sentence(reason.first)
  return {
    headline,
    lead: lead === undefined || withoutIds(lead) === headline ? undefined : lead,
    evidence: reason.evidence.slice(0, shownEvidence),
    todo: reason.todo === undefined ? todoOf(task) : [reason.todo],
  }
}

/** The second line of a row: why it ended as it did, or that it went back. Nothing for what went as usual. */
export function rowCause(task: TaskRecord): string | undefined {
  if (task.status === 'in progress' || task.status === 'deployed') return task.is_rollback ? 'Rollback' : undefined
  return headlineOf(task, parseReason(task.status_reason, task.cause))
}

/** The task that took the place of this one, where the reason names it. */
export const supersededBy = (task: TaskRecord): string | undefined =>
  task.cause === 'superseded' ? uuid.exec(task.status_reason ?? '')?.[0] : undefined

/** How long it took, or has taken by now, in seconds. */
export function secondsTaken(task: TaskRecord, now: number): number {
  return (task.status === 'in progress' ? now : task.updated) - task.created
}

/** The end of its time in Unix seconds, where the record says how long it has. */
export const deadlineOf = (task: TaskRecord): number | undefined =>
  task.timeout === undefined ? undefined : task.created + task.timeout

/** Several waits are told with `;` between them: the first is the headline. */
function waitingWords(progress: string): VerdictWords {
  const [first = '', ...rest] = progress.split('; ')
  return {
    headline: first === '' ? 'Waiting for the first look at the application' : sentence(first),
    lead: rest.length === 0 ? undefined : `Also: ${rest.join('; ')}`,
    evidence: [],
    todo: [],
  }
}

function headlineOf(task: TaskRecord, reason: Reason): string {
  if (task.status === 'in progress') return waitingWords(task.progress ?? '').headline
  if (task.status === 'deployed') return `Deployed in ${duration(task.updated - task.created)}`
  const told = reason.first === undefined ? undefined : withoutIds(sentence(reason.first))
  // A cancellation is told best by its reason, which names who or what took its place.
  if (task.status === 'cancelled' && told !== undefined) return told
  if (task.cause !== undefined) return causeWords[task.cause].headline
  return told ?? endings[task.status]
}

const endings = {
  failed: 'The deployment failed',
  aborted: 'The outcome is unknown',
  cancelled: 'Cancelled',
  'app not found': causeWords.app_not_found.headline,
}

const todoOf = ({ cause }: TaskRecord) => (cause === undefined ? [] : causeWords[cause].todo)

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/

/** Ids of one minute begin alike, so a short one would name nothing; the facts of the page link to the whole one. */
const withoutIds = (text: string) => text.replace(new RegExp(`\\btask ${uuid.source}`), 'a newer task')

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
