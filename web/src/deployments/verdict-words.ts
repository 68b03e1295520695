import { causeOf, isCause } from '../../../contract/causes.ts'
import type { Diagnosis } from '../../../contract/diagnosis.ts'
import { renderActor, renderImpact, renderReason } from '../../../contract/render-diagnosis.ts'
import type { TaskRecord } from '../../../contract/task.ts'
import { duration } from '../ui/duration.ts'

export type Fact = { readonly name: string; readonly value: string }

/** What the sheet on top of a task says, from the first thing one must know to what to do. */
export type VerdictWords = {
  readonly headline: string
  readonly lead: string | undefined
  readonly facts: readonly Fact[]
  readonly steps: readonly { readonly actor: string; readonly text: string }[]
}

export function verdictWords(task: TaskRecord): VerdictWords {
  const { diagnosis } = task
  return {
    headline: headlineOf(task),
    lead: leadOf(task),
    facts: diagnosis === undefined ? [] : factsOf(diagnosis),
    steps: (diagnosis?.next_steps ?? []).map(({ actor, text }) => ({ actor: renderActor(actor), text })),
  }
}

/** The second line of a row: why it ended as it did, or that it went back. Nothing for what went as usual. */
export function rowCause(task: TaskRecord): string | undefined {
  if (task.status === 'in progress' || task.status === 'deployed') return task.is_rollback ? 'Rollback' : undefined
  return headlineOf(task)
}

/** The task that took the place of this one. */
export const supersededBy = (task: TaskRecord): string | undefined => task.diagnosis?.superseded_by?.task

/** How long it took, or has taken by now, in seconds. */
export function secondsTaken(task: TaskRecord, now: number): number {
  return (task.status === 'in progress' ? now : task.updated) - task.created
}

/** The end of its time in Unix seconds, where the record says how long it has. */
export const deadlineOf = (task: TaskRecord): number | undefined =>
  task.timeout === undefined ? undefined : task.created + task.timeout

function headlineOf(task: TaskRecord): string {
  if (task.status === 'in progress') return sentence(task.progress || 'waiting for the first look at the application')
  if (task.status === 'deployed') return `Deployed in ${duration(task.updated - task.created)}`
  if (task.cause !== undefined && isCause(task.cause)) return causeOf(task.cause).headline
  return endings[task.status]
}

const endings = {
  failed: 'The deployment failed',
  aborted: 'The outcome is unknown',
  cancelled: 'Cancelled',
  'app not found': causeOf('app_not_found').headline,
}

/** The message that decided, or the condition that kept the task waiting. */
function leadOf({ status, diagnosis, updated }: TaskRecord): string | undefined {
  if (diagnosis === undefined || status === 'in progress' || status === 'deployed') return undefined
  return sentence(renderReason(diagnosis, updated)) || undefined
}

function factsOf({ culprit, impact }: Diagnosis): readonly Fact[] {
  return [
    ...(culprit === undefined ? [] : [{ name: culprit.kind, value: culprit.name }]),
    ...(culprit?.namespace ? [{ name: 'Namespace', value: culprit.namespace }] : []),
    ...(culprit?.container === undefined ? [] : [{ name: 'Container', value: culprit.container }]),
    ...(impact === undefined ? [] : [{ name: 'Impact', value: renderImpact(impact) }]),
  ]
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
