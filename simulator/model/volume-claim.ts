import type { Health } from './application.ts'
import type { NotedEvent } from './noted-event.ts'
import type { Workload } from './workload.ts'

type Claim = { readonly name: string; readonly uid: string; readonly createdAt: number; readonly health: Health }

/**
 * The claim of a workload whose Pods wait for a volume, where no manifest of the application has one: as a StatefulSet
 * makes it of its template.
 */
export function templateClaim({ manifest, uid, pods }: Workload): Claim | undefined {
  const waiting = pods.find(({ behaviour }) => behaviour === 'claim-pending')
  if (!waiting) return undefined
  return {
    name: `${manifest.name}-data`,
    uid: `${uid.slice(0, -4)}c1a1`,
    createdAt: waiting.createdAt,
    health: { status: 'Progressing' },
  }
}

export const hasOwnClaim = (workloads: readonly Workload[]) =>
  workloads.some(({ manifest }) => manifest.kind === 'PersistentVolumeClaim')

/** What is noted at a claim that no volume can be made for. */
export function claimEvents(createdAt: number): readonly NotedEvent[] {
  return [
    {
      type: 'Warning',
      reason: 'ProvisioningFailed',
      message: 'storageclass.storage.k8s.io "fast" not found',
      by: 'persistentvolume-controller',
      firstAtMs: createdAt,
      lastAtMs: createdAt,
      count: 1,
    },
  ]
}
