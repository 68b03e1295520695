import type { HistoryResult } from './run-history.ts'

/** Figures of many histories; plain data, so that a worker can send them. */
export type Tally = {
  histories: number
  steps: number
  recovered: number
  firstGreens: number
  wrongFirstGreens: number
  readonly verdicts: Record<string, number>
  readonly failures: { readonly seed: number; readonly violations: readonly string[] }[]
}

export const emptyTally = (): Tally => ({
  histories: 0,
  steps: 0,
  recovered: 0,
  firstGreens: 0,
  wrongFirstGreens: 0,
  verdicts: {},
  failures: [],
})

export function addHistory(
  tally: Tally,
  seed: number,
  { verdicts, violations, firstGreens, steps }: HistoryResult,
): void {
  tally.histories += 1
  tally.steps += steps
  tally.recovered += verdicts.some(({ finding }) => finding === 'recovered') ? 1 : 0
  tally.firstGreens += firstGreens.seen
  tally.wrongFirstGreens += firstGreens.wrong
  for (const { end, finding, isApart } of verdicts) {
    const name = [isApart ? 'apart:' : '', `${finding}:`, end.status, end.cause ?? '']
      .filter((part) => part !== '')
      .join(' ')
    tally.verdicts[name] = (tally.verdicts[name] ?? 0) + 1
  }
  if (violations.length > 0) tally.failures.push({ seed, violations })
}

export function mergeTally(sum: Tally, other: Tally): void {
  sum.histories += other.histories
  sum.steps += other.steps
  sum.recovered += other.recovered
  sum.firstGreens += other.firstGreens
  sum.wrongFirstGreens += other.wrongFirstGreens
  sum.failures.push(...other.failures)
  for (const [name, count] of Object.entries(other.verdicts)) sum.verdicts[name] = (sum.verdicts[name] ?? 0) + count
}

/** How often verdicts of these findings were given, those that are reported apart left out. */
export function countOf(tally: Tally, ...findings: readonly string[]): number {
  return Object.entries(tally.verdicts).reduce(
    (sum, [name, count]) => sum + (findings.some((finding) => name.startsWith(`${finding}:`)) ? count : 0),
    0,
  )
}

/** Lines for a person. */
export function renderTally(tally: Tally): readonly string[] {
  const percent = (part: number, whole: number) => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`
  const byCount = Object.entries(tally.verdicts).toSorted(([, a], [, b]) => b - a)
  return [
    `${tally.histories} histories, ${Math.round(tally.steps / Math.max(1, tally.histories))} steps each on average`,
    ...byCount.map(([name, count]) => `${String(count).padStart(8)}  ${name}`),
    `false deployed: ${countOf(tally, 'false deployed')}`,
    `false failed: ${countOf(tally, 'false failed')}, hasty: ${countOf(tally, 'hasty')}, missed: ${countOf(tally, 'missed')}`,
    `excused, an older state was taken for the wanted one: ${countOf(tally, 'excused: older state')}`,
    `excused, a complete state was not seen: ${countOf(tally, 'excused: unseen')}`,
    `a grace ran out and the rollout got well later: ${tally.recovered} histories (${percent(tally.recovered, tally.histories)})`,
    `the first green look is wrong: ${tally.wrongFirstGreens} of ${tally.firstGreens} (${percent(tally.wrongFirstGreens, tally.firstGreens)})`,
    `histories that show what none may show: ${tally.failures.length}`,
    ...tally.failures
      .slice(0, 30)
      .map(({ seed, violations }) => `  seed ${seed}: ${violations[0]?.split('\n')[0] ?? ''}`),
  ]
}
