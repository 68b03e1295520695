import type { TaskRecord } from '../../../contract/task.ts'
import { isFinal } from '../../../contract/task-status.ts'

export type KeptRows = {
  /** The rows on the page, in their old places, with what is newest of each. */
  readonly rows: readonly TaskRecord[]
  /** What came since and waits to be shown, newest first. */
  readonly waiting: readonly TaskRecord[]
  /** Unfinished rows that the newest answer no longer holds: to be read one by one. */
  readonly lost: readonly string[]
}

/** Keeps every row where it is while the answers move on: nothing jumps until the reader asks for it. */
export function keepRowOrder(shown: readonly TaskRecord[], latest: readonly TaskRecord[]): KeptRows {
  const newest = new Map(latest.map((task) => [task.id, task]))
  const known = new Set(shown.map(({ id }) => id))
  return {
    rows: shown.map((task) => newest.get(task.id) ?? task),
    waiting: latest.filter(({ id }) => !known.has(id)),
    lost: shown.filter(({ id, status }) => !newest.has(id) && !isFinal(status)).map(({ id }) => id),
  }
}
