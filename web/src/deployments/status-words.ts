import type { TaskStatus } from '../../../contract/task-status.ts'
import type { IconName } from '../ui/icon.tsx'

/** The order of the chips: what runs, then the ends from the wanted one to the oddest. */
export const shownStatuses = [
  'in progress',
  'deployed',
  'failed',
  'aborted',
  'cancelled',
  'app not found',
] as const satisfies readonly TaskStatus[]

type StatusWords = { readonly word: string; readonly icon: IconName; readonly tone: string }

const statusWords: Readonly<Record<TaskStatus, StatusWords>> = {
  'in progress': { word: 'In progress', icon: 'i-progress', tone: 'progress' },
  deployed: { word: 'Deployed', icon: 'i-deployed', tone: 'deployed' },
  failed: { word: 'Failed', icon: 'i-failed', tone: 'failed' },
  aborted: { word: 'Aborted', icon: 'i-aborted', tone: 'aborted' },
  cancelled: { word: 'Cancelled', icon: 'i-cancelled', tone: 'cancelled' },
  'app not found': { word: 'App not found', icon: 'i-missing', tone: 'missing' },
}

/** A status on the page: its word, its shape, and the name of its colours. One of a newer service is its own word. */
export const wordsOf = (status: string): StatusWords =>
  Object.hasOwn(statusWords, status)
    ? statusWords[status as TaskStatus]
    : { word: status, icon: 'i-missing', tone: 'cancelled' }
