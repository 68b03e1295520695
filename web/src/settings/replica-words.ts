import type { ServiceStatus } from '../../../contract/service-status.ts'
import { duration } from '../ui/duration.ts'

type Replicas = NonNullable<ServiceStatus['replicas']>

/** Heartbeats come every few seconds. */
const silentAfterSeconds = 30

/** "2, watching 3 and 1 deployments"; one that is silent is named with its silence. */
export function replicaWords(replicas: Replicas, now: number): string {
  const tasks = replicas.map((one) => one.tasks)
  const last = tasks.at(-1) ?? 0
  const watching = tasks.length < 2 ? String(last) : `${tasks.slice(0, -1).join(', ')} and ${last}`
  const silent = replicas.filter(({ heartbeat }) => now - heartbeat > silentAfterSeconds)
  const silence = silent.map(({ heartbeat }) => `one silent for ${duration(now - heartbeat)}`)
  const unit = tasks.length === 1 && last === 1 ? 'deployment' : 'deployments'
  return [String(replicas.length), `watching ${watching} ${unit}`, ...silence].join(', ')
}
