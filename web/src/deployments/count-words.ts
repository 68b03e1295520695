import type { TaskCounts } from '../../../contract/task-counts.ts'
import { taskStatuses } from '../../../contract/task-status.ts'
import { figure } from '../ui/figure.ts'

/** `isCapped`: there are more. */
export type CappedCount = { readonly count: number; readonly isCapped: boolean }

/** "312", "more than 10,000". */
export const countWords = ({ count, isCapped }: CappedCount): string =>
  `${isCapped ? 'more than ' : ''}${figure(count)}`

/** "312", "10,000+": where there is no room for words. */
export const shortCount = ({ count, isCapped }: CappedCount): string => `${figure(count)}${isCapped ? '+' : ''}`

/** Tasks of one status, or of all; undefined while it is not known. */
export function countOf(counts: TaskCounts | undefined, status: string | undefined): CappedCount | undefined {
  if (counts === undefined) return undefined
  const one = taskStatuses.find((known) => known === status)
  if (one !== undefined) return { count: counts.counts[one], isCapped: counts.capped.includes(one) }
  const count = Object.values(counts.counts).reduce((sum, one) => sum + one, 0)
  return { count, isCapped: counts.capped.length > 0 }
}
