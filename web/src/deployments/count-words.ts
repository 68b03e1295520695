import type { TaskCounts } from '../../../contract/task-counts.ts'
import { type TaskStatus, taskStatuses } from '../../../contract/task-status.ts'
import { figure } from '../ui/figure.ts'

/** `isCapped`: there are more. */
export type CappedCount = { readonly count: number; readonly isCapped: boolean }

/** "312", "more than 10,000". */
export const countWords = ({ count, isCapped }: CappedCount): string =>
  `${isCapped ? 'more than ' : ''}${figure(count)}`

/** "312", "10,000+": where there is no room for words. */
export const shortCount = ({ count, isCapped }: CappedCount): string => `${figure(count)}${isCapped ? '+' : ''}`

/** Tasks of these statuses together, or of all; undefined while it is not known. */
export function countOf(counts: TaskCounts | undefined, statuses: readonly TaskStatus[]): CappedCount | undefined {
  if (counts === undefined) return undefined
  const asked = statuses.length === 0 ? taskStatuses : statuses
  return {
    count: asked.reduce((sum, status) => sum + counts.counts[status], 0),
    isCapped: counts.capped.some((status) => asked.includes(status)),
  }
}
