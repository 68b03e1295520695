import type { Diagnosis } from '../../../contract/diagnosis.ts'
import { shorten } from '../../../contract/one-line.ts'
import type { NewTaskEvent } from '../../timeline/task-event.ts'
import { renderProgress } from './diagnose.ts'
import type { ObservedApplication } from './observed-application.ts'
import { shortRevision } from './revision-condition.ts'
import type { ReportedState } from './rollout-memory.ts'

/** What changed since the timeline was last written, and what it now says. */
export function reportChanges(
  reported: ReportedState,
  application: ObservedApplication,
  diagnosis: Diagnosis,
): { readonly reported: ReportedState; readonly events: readonly NewTaskEvent[] } {
  const now = describe(application, diagnosis)
  const events: NewTaskEvent[] = []
  if (reported.uid === '')
    events.push({ kind: 'application_confirmed', detail: `application ${application.namespace}/${application.name}` })
  else if (reported.uid !== now.uid) events.push({ kind: 'note', detail: 'the application was re-created' })
  if (reported.sync !== now.sync) events.push({ kind: 'sync_changed', detail: now.sync })
  if (reported.health !== now.health) events.push({ kind: 'health_changed', detail: now.health })
  if (reported.operation !== now.operation && now.operation !== '')
    events.push({ kind: 'operation_changed', detail: now.operation })
  if (reported.images !== now.images) events.push({ kind: 'images_changed', detail: now.images })
  if (reported.waiting !== now.waiting) events.push({ kind: 'waiting_for', detail: bounded(now.progress) })
  return { reported: now, events }
}

/** A condition that changed, another cause or another culprit is news; what was found is not. */
function waitingOf({ conditions, cause, culprit, evidence }: Diagnosis): string {
  const states = conditions.map(({ state }) => state)
  const outside = evidence.filter(({ kind }) => kind === 'unreachable' || kind === 'commit_pending')
  const who = culprit && [culprit.kind, culprit.namespace, culprit.name, culprit.container]
  return JSON.stringify([states, cause, who, outside.map(({ kind }) => kind)])
}

function describe(application: ObservedApplication, diagnosis: Diagnosis): ReportedState {
  const { operation, revisions } = application
  const at = revisions.map(shortRevision).join(', ')
  return {
    uid: application.uid,
    sync: bounded(`${application.syncStatus ?? 'not compared yet'}${at === '' ? '' : ` at ${at}`}`),
    health: bounded(application.healthStatus ?? 'no health yet'),
    operation: describeOperation(application.isOperationRequested, operation?.phase, operation?.message),
    images: bounded(application.images.join(', ') || 'no Pods'),
    waiting: waitingOf(diagnosis),
    progress: renderProgress(diagnosis),
  }
}

function describeOperation(isRequested: boolean, phase: string | undefined, message: string | undefined): string {
  if (phase === undefined) return isRequested ? 'requested' : ''
  return bounded(message === undefined ? phase : `${phase}: ${message}`)
}

const maxDetailLength = 1_000

const bounded = (text: string): string => shorten(text, maxDetailLength)
