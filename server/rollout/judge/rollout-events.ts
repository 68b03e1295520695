import type { Diagnosis } from '../../../contract/diagnosis.ts'
import { shorten } from '../../../contract/fields.ts'
import type { NewTaskEvent } from '../../timeline/task-event.ts'
import { diagnose, renderProgress } from './diagnose.ts'
import type { Evaluation } from './evaluate.ts'
import { podsOf } from './evidence.ts'
import type { ObservedApplication } from './observed-application.ts'
import { shortRevision } from './revision-condition.ts'
import type { ReportedState, RolloutMemory } from './rollout-memory.ts'
import { isAwaitingCommit } from './snapshot.ts'
import type { Verdict } from './verdict.ts'

type Changes = {
  readonly reported: ReportedState
  readonly events: readonly NewTaskEvent[]
  /** Where what the task waits for, or what was found of it, is new. */
  readonly diagnosis: Diagnosis | undefined
}

/** What changed since the timeline and the diagnosis were last written. */
export function reportChanges(
  evaluation: Evaluation,
  { reported, conditionSince }: RolloutMemory,
  holdUp: Verdict | undefined,
): Changes {
  const { application } = evaluation
  const waiting = waitingOf(evaluation, holdUp)
  const pods = podsOf(evaluation)
  const found = `${foundOf(evaluation, holdUp)}\n${JSON.stringify(pods)}`
  const diagnosis =
    waiting === reported.waiting && found === reported.found
      ? undefined
      : { ...diagnose(evaluation, conditionSince, holdUp), ...(pods.length === 0 ? {} : { pods: [...pods] }) }
  const progress = diagnosis === undefined ? reported.progress : renderProgress(diagnosis)
  const now: ReportedState = { ...describe(application), waiting, found, progress }
  const events: NewTaskEvent[] = []
  if (reported.uid === '')
    events.push({ kind: 'application_confirmed', detail: `application ${application.namespace}/${application.name}` })
  else if (reported.uid !== now.uid) events.push({ kind: 'note', detail: 'the application was re-created' })
  if (reported.sync !== now.sync) events.push({ kind: 'sync_changed', detail: now.sync })
  if (reported.health !== now.health) events.push({ kind: 'health_changed', detail: now.health })
  if (reported.operation !== now.operation && now.operation !== '')
    events.push({ kind: 'operation_changed', detail: now.operation })
  if (reported.images !== now.images) events.push({ kind: 'images_changed', detail: now.images })
  if (diagnosis !== undefined && reported.waiting !== waiting) {
    // With a cause the sentence names no condition.
    const { cause: _, headline: __, ...withoutCause } = diagnosis
    const detail = progress === reported.progress ? renderProgress(withoutCause) : progress
    events.push({ kind: 'waiting_for', detail: bounded(detail) })
  }
  const isSame = events.length === 0 && diagnosis === undefined && reported.operation === now.operation
  return { reported: isSame ? reported : now, events, diagnosis }
}

/** A condition that changed, another cause or another culprit is a new event. */
function waitingOf(evaluation: Evaluation, holdUp: Verdict | undefined): string {
  const { unreachable, writeBack } = evaluation.observation
  const states = isAwaitingCommit(evaluation) ? '' : evaluation.conditions.all.map(({ state }) => state).join()
  const outside = `${states} ${unreachable !== undefined} ${writeBack.kind === 'pending'}`
  if (holdUp === undefined) return outside
  const { kind, namespace, name, container } = holdUp.culprit ?? {}
  return [outside, holdUp.cause, kind, namespace, name, container].join('\n')
}

/** A change of what was found, or of its wording, is not a change of state. */
function foundOf(evaluation: Evaluation, holdUp: Verdict | undefined): string {
  const unmet = isAwaitingCommit(evaluation) ? [] : evaluation.conditions.unmet
  const texts = unmet.map(({ expected, found }) => `${expected}, ${found}`).join('\n')
  return `${texts}\n${holdUp?.culprit?.message}\n${evaluation.observation.unreachable?.why}`
}

function describe(application: ObservedApplication): Omit<ReportedState, 'waiting' | 'found' | 'progress'> {
  const { operation, revisions } = application
  const at = revisions.map(shortRevision).join(', ')
  return {
    uid: application.uid,
    sync: bounded(`${application.syncStatus ?? 'not compared yet'}${at === '' ? '' : ` at ${at}`}`),
    health: bounded(application.healthStatus ?? 'no health yet'),
    operation: describeOperation(application.isOperationRequested, operation?.phase, operation?.message),
    images: bounded(application.images.join(', ') || 'no Pods'),
  }
}

function describeOperation(isRequested: boolean, phase: string | undefined, message: string | undefined): string {
  if (phase === undefined) return isRequested ? 'requested' : ''
  return bounded(message === undefined ? phase : `${phase}: ${message}`)
}

const maxDetailLength = 1_000

const bounded = (text: string): string => shorten(text, maxDetailLength)
