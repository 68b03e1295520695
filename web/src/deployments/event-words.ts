import type { TaskEvent } from '../../../contract/task-event.ts'
import { capitalize } from '../ui/capitalize.ts'

/** What a step is called, before its detail. A detail that is a sentence by itself needs no name. */
const names: Readonly<Record<string, string>> = {
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

/** An event in words. One that a newer service has made is told by its detail. */
export function eventWords({ kind, detail }: Pick<TaskEvent, 'kind' | 'detail'>): { what: string; more: string } {
  const what = Object.hasOwn(names, kind) ? names[kind] : undefined
  if (what === undefined) return { what: capitalize(detail) || kind, more: '' }
  return { what: detail === '' ? what : `${what}:`, more: detail }
}
