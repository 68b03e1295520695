import type { Service } from '../../test/support/service.ts'

/** The service's own monitor looks this often; what it tells includes the time between two looks. */
const resolutionMs = 10

export type LoopDelay = { readonly p99Ms: number; readonly maxMs: number }

/** How late the event loop of a replica was since this was last asked, in milliseconds. */
export async function readLoopDelay(service: Service): Promise<LoopDelay> {
  const { body } = await service.request('/metrics')
  const lateMs = (name: string) => Math.max(0, sampleIn(String(body), name) * 1_000 - resolutionMs)
  return { p99Ms: lateMs('nodejs_eventloop_lag_p99_seconds'), maxMs: lateMs('nodejs_eventloop_lag_max_seconds') }
}

/** Resident memory of a replica, in MiB. */
export async function readResidentMib(service: Service): Promise<number> {
  const { body } = await service.request('/metrics')
  return sampleIn(String(body), 'process_resident_memory_bytes') / 1024 ** 2
}

/** NaN where it is not there. */
function sampleIn(metrics: string, name: string): number {
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(metrics)?.[1] ?? Number.NaN)
}
