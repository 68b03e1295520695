import { awaitedOf } from '../../../contract/conditions.ts'
import type { TaskEvent, TaskEventData } from '../../../contract/task-event.ts'
import { capitalize } from '../ui/capitalize.ts'

/** What a step is called, before its detail. A detail that is a sentence by itself needs no name. */
const names: Readonly<Record<string, string>> = {
  accepted: 'Accepted',
  application_confirmed: 'Application found',
  write_back_skipped: 'Nothing committed',
  write_back_queued: 'Commit queued',
  write_back_retry: 'Commit delayed, trying again',
  sync_changed: 'Sync status',
  health_changed: 'Health status',
  operation_changed: 'Sync operation',
  images_changed: 'Images',
  taken_over: 'Taken over by another replica',
}

/** An event in words; `images` stand behind them. */
export type EventWords = { readonly what: string; readonly more: string; readonly images: readonly string[] }

/**
 * An event in words, by its values where it has them. One that an older or a newer service has made is told by its detail.
 */
export function eventWords({ kind, detail, data }: Pick<TaskEvent, 'kind' | 'detail' | 'data'>): EventWords {
  if (kind === 'waiting_for' && data !== undefined) return { ...waitingWords(data, detail), images: [] }
  const images = data?.images ?? []
  const what = Object.hasOwn(names, kind) ? names[kind] : undefined
  if (what === undefined || (kind === 'accepted' && images.length === 0))
    return { what: capitalize(detail) || kind, more: '', images: [] }
  const shown = data === undefined ? '' : shownWords(kind, data)
  const more = shown === '' && images.length === 0 ? detail : shown
  return { what: more === '' && images.length === 0 ? what : `${what}:`, more, images }
}

/** What holds a task up, which is a sentence, or the condition that is not met. */
function waitingWords({ cause, condition }: TaskEventData, detail: string): { what: string; more: string } {
  const isKnown = cause === undefined && condition !== undefined && Object.hasOwn(awaitedOf, condition)
  return { what: isKnown ? `Waiting for ${awaitedOf[condition]}` : capitalize(detail), more: '' }
}

/** What Argo CD showed at one time; what the name of the event says is not said again. */
function shownWords(kind: string, data: TaskEventData): string {
  const { application, sync, revisions = [], operation, health, images, refresh } = data
  const at = revisions.map((revision) => revision.slice(0, 7)).join(', ')
  const parts: readonly (readonly [kind: string, label: string, value: string | undefined])[] = [
    ['application_confirmed', '', application],
    ['sync_changed', '', sync && `${sync}${at === '' ? '' : ` at ${at}`}`],
    ['operation_changed', 'sync operation ', operation],
    ['health_changed', '', health],
    ['images_changed', '', images?.length === 0 ? 'no Pods' : undefined],
    ['', '', refresh ? 'refresh requested' : undefined],
  ]
  return parts
    .flatMap(([ofKind, label, value]) => (value === undefined ? [] : [`${ofKind === kind ? '' : label}${value}`]))
    .join(' · ')
}
