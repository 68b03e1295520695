import { shorten } from '../../text/one-line.ts'
import type { NewTaskEvent } from '../../timeline/task-event.ts'
import { shortRevision } from './gate-revision.ts'
import type { ObservedApplication } from './observed-application.ts'
import type { ToldState } from './rollout-memory.ts'

/** What changed since the timeline last spoke, and what it now says. */
export function tellChanges(
  told: ToldState,
  application: ObservedApplication,
  waiting: string,
): { readonly told: ToldState; readonly events: readonly NewTaskEvent[] } {
  const now = describe(application, waiting)
  const events: NewTaskEvent[] = []
  if (told.uid === '')
    events.push({ kind: 'application_confirmed', detail: `application ${application.namespace}/${application.name}` })
  else if (told.uid !== now.uid) events.push({ kind: 'note', detail: 'the application was re-created' })
  if (told.sync !== now.sync) events.push({ kind: 'sync_changed', detail: now.sync })
  if (told.health !== now.health) events.push({ kind: 'health_changed', detail: now.health })
  if (told.operation !== now.operation && now.operation !== '')
    events.push({ kind: 'operation_changed', detail: now.operation })
  if (told.images !== now.images) events.push({ kind: 'images_changed', detail: now.images })
  if (told.waiting !== now.waiting && waiting !== '') events.push({ kind: 'waiting_for', detail: now.waiting })
  return { told: now, events }
}

function describe(application: ObservedApplication, waiting: string): ToldState {
  const { operation, revisions } = application
  const at = revisions.map(shortRevision).join(', ')
  return {
    uid: application.uid,
    sync: bounded(`${application.syncStatus ?? 'not compared yet'}${at === '' ? '' : ` at ${at}`}`),
    health: bounded(application.healthStatus ?? 'no health yet'),
    operation: describeOperation(application.isOperationRequested, operation?.phase, operation?.message),
    images: bounded(application.images.join(', ') || 'no Pods'),
    waiting: bounded(waiting),
  }
}

function describeOperation(isRequested: boolean, phase: string | undefined, message: string | undefined): string {
  if (phase === undefined) return isRequested ? 'requested' : ''
  return bounded(message === undefined ? phase : `${phase}: ${message}`)
}

const maxDetailLength = 1_000

export const bounded = (text: string): string => shorten(text, maxDetailLength)
