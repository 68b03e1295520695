import type { FuzzReport } from './fuzz-service.ts'

/** What a run of the fuzzer found, for people. */
export function renderReport(report: FuzzReport, seconds: number, residentBytes: number): string {
  const { sent, kinds, seed, slowestMs, late, statuses } = report
  const counted = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
  return [
    `${sent} requests of ${kinds} kinds in ${seconds.toFixed(1)} s, seed ${seed}`,
    `slowest answer ${Math.round(slowestMs)} ms, ${late} above 2 s once, service's memory ${Math.round(residentBytes / 1_048_576)} MiB`,
    `statuses ${counted.join(', ')}`,
  ].join('; ')
}
