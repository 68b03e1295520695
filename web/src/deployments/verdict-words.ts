import type { ActorKind } from '../../../contract/audit.ts'
import { causeOf, isCause, pastHeadlineOf } from '../../../contract/causes.ts'
import { awaitedOf, firstUnmet } from '../../../contract/conditions.ts'
import type { Diagnosis } from '../../../contract/diagnosis.ts'
import type { TaskRecord } from '../../../contract/task.ts'
import { renderExpectation, renderImpact, renderReason, renderRole } from '../../../contract/text/render-diagnosis.ts'
import { capitalize } from '../ui/capitalize.ts'
import { duration } from '../ui/duration.ts'
import { podsOf } from './running-images.ts'

export type Fact = { readonly name: string; readonly value: string }

/** What the sheet on top of a task says, from the first thing one must know to what to do. */
export type VerdictWords = {
  readonly headline: string
  readonly lead: string | undefined
  /** Whether the version before still serves, as far as its Pods tell. */
  readonly impact: string | undefined
  readonly facts: readonly Fact[]
  /** `actor`: who does it, where that is not the developer who reads it. */
  readonly steps: readonly { readonly actor: string | undefined; readonly text: string }[]
}

export function verdictWords(task: TaskRecord): VerdictWords {
  const { diagnosis } = task
  return {
    headline: headlineOf(task),
    lead: leadOf(task),
    impact: impactOf(task),
    facts: diagnosis === undefined ? [] : factsOf(diagnosis),
    steps: isHistory(task) ? [] : (diagnosis?.next_steps ?? []).map(stepOf),
  }
}

/** Whether another version was deployed since: what it tells is over, and nothing is left to do. */
export const isHistory = ({ status, deployed_since: since }: TaskRecord): boolean =>
  status !== 'in progress' && since !== undefined

const stepOf = ({ actor, text }: Diagnosis['next_steps'][number]) => ({
  actor: actor === 'developer' ? undefined : renderRole(actor),
  text,
})

/** The second line of a row: why it ended as it did, or that it went back. Nothing for what went as usual. */
export function rowCause(task: TaskRecord): string | undefined {
  if (task.status === 'in progress' || task.status === 'deployed') return task.is_rollback ? 'Rollback' : undefined
  return task.cause === 'app_not_found' ? causeOf('app_not_found').headline : headlineOf(task)
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
  if (task.status === 'in progress') return waitingHeadline(task) ?? progressOf(task)
  if (task.cause === 'app_not_found') return notFoundHeadline(task)
  if (task.status === 'deployed') return `Deployed in ${duration(task.updated - task.created)}`
  if (task.cause !== undefined && isCause(task.cause) && isHistory(task)) return pastHeadlineOf(task.cause)
  if (task.headline !== undefined) return task.headline
  if (task.cause !== undefined && isCause(task.cause)) return causeOf(task.cause).headline
  return endingOf(task.status)
}

/** With the name, as a letter of it may be wrong. */
function notFoundHeadline({ app, similar_apps: [similar] = [] }: TaskRecord): string {
  return `Argo CD has no application “${app}”${similar === undefined ? '' : `. Did you mean ${similar}?`}`
}

const progressOf = ({ progress }: TaskRecord) => capitalize(progress || 'waiting for the first evaluation')

/** What it waits for, in one short sentence; undefined where only the service's own words say it. */
function waitingHeadline(task: TaskRecord): string | undefined {
  const { unmet_condition: unmet, diagnosis } = task
  if (diagnosis === undefined) return undefined
  const { cause, evidence } = diagnosis
  if (evidence.some(({ kind }) => kind === 'unreachable' || kind === 'commit_pending')) return undefined
  if (task.headline !== undefined) return task.headline
  if (cause !== undefined && isCause(cause)) return causeOf(cause).headline
  if (unmet === undefined) return undefined
  const { ready, all } = newPods(task)
  if (unmet === 'healthy' && ready < all) return `${ready} of ${all} ${all === 1 ? 'Pod' : 'Pods'} ready`
  return Object.hasOwn(awaitedOf, unmet) ? `Waiting for ${awaitedOf[unmet]}` : undefined
}

/** Pods of the requested versions. */
function newPods(task: TaskRecord): { readonly ready: number; readonly all: number } {
  const found = podsOf(task).filter(({ mark }) => mark === 'ready' || mark === 'starting' || mark === 'failing')
  return { ready: found.filter(({ mark }) => mark === 'ready').length, all: found.length }
}

/** Where no cause is known. */
export const endingOf = (status: string): string => endings[status] ?? `Ended as “${status}”`

const endings: Readonly<Record<string, string>> = {
  failed: 'The deployment failed',
  aborted: 'The outcome is unknown',
  cancelled: 'Cancelled',
  'app not found': causeOf('app_not_found').headline,
}

/** The message that decided, or how far the condition is that keeps the task waiting. */
function leadOf(task: TaskRecord): string | undefined {
  const { status, diagnosis, updated } = task
  if (diagnosis === undefined || status === 'deployed') return undefined
  // The culprit's name stands among the facts.
  if (status !== 'in progress')
    return capitalize(renderReason(diagnosis, updated, ({ message }) => message)) || undefined
  if (waitingHeadline(task) === undefined) return undefined
  if (diagnosis.cause !== undefined) return capitalize(renderReason(diagnosis, updated)) || undefined
  const unmet = firstUnmet(diagnosis.conditions)
  if (unmet?.name === 'healthy' && newPods(task).all > 0) return undefined // the headline counts the Pods
  return (unmet && capitalize(renderExpectation(unmet))) || undefined
}

function impactOf(task: TaskRecord): string | undefined {
  if (task.status === 'deployed') return undefined
  const impact = renderImpact(task.diagnosis?.impact ?? impactOfPods(task), task.diagnosis?.cause, isHistory(task))
  return impact === '' ? undefined : `${capitalize(impact)}.`
}

/** Of a task that nothing holds up the diagnosis names the Pods, and not yet what an end would mean. */
function impactOfPods(task: TaskRecord): Diagnosis['impact'] {
  const old = podsOf(task).filter(({ mark }) => mark === 'old')
  if (old.length === 0) return undefined
  return { old_pods: old.length, old_pods_ready: old.filter(({ pod }) => pod.ready).length }
}

function factsOf({ culprit, cancelled_by: by }: Diagnosis): readonly Fact[] {
  return [
    ...(culprit === undefined ? [] : [{ name: culprit.kind, value: culprit.name }]),
    ...(culprit?.namespace ? [{ name: 'Namespace', value: culprit.namespace }] : []),
    ...(culprit?.container === undefined ? [] : [{ name: 'Container', value: culprit.container }]),
    ...(culprit?.restarts === undefined ? [] : [{ name: 'Restarts', value: String(culprit.restarts) }]),
    ...(by === undefined ? [] : [{ name: 'Cancelled by', value: callerName(by) }]),
  ]
}

/** A user by their name, any other caller by the kind of credential. */
export const callerName = ({ kind, name }: NonNullable<Diagnosis['cancelled_by']>): string =>
  name ?? callerKinds[kind] ?? kind

const callerKinds: Readonly<Record<string, string>> = {
  deploy_token: 'a caller with the deploy token',
  scoped_token: 'a caller with a scoped deploy token',
  jwt: 'a caller with a JWT',
  ci: 'a pipeline',
  oidc: 'a user',
  session: 'a user',
  command: 'the command line of the service',
  service: 'the service',
  anonymous: 'an anonymous caller',
} satisfies Record<ActorKind, string>
