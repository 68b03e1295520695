import type { Application } from './application.ts'
import { type Manifest, manifestKey, resourceLabels } from './manifest.ts'
import type { Workload } from './workload.ts'

/** Says that a person agrees to what the running operation deletes; its value is a time. */
export const deletionApprovedAnnotation = 'argocd.argoproj.io/deletion-approved'

/** What the operation would delete although its sync option is `Prune=confirm`. */
export function toConfirm(workloads: readonly Workload[], wanted: readonly Manifest[]): readonly Manifest[] {
  const keys = new Set(wanted.map(manifestKey))
  return workloads
    .map(({ manifest }) => manifest)
    .filter((manifest) => manifest.pruneNeedsConfirmation && !keys.has(manifestKey(manifest)))
}

export const confirmationMessage = (manifests: readonly Manifest[]) =>
  `waiting for pruning confirmation of ${resourceLabels(manifests, 'resources')}`

/** Only an approval that is younger than the operation is about it. */
export function isPruningApproved(application: Application | undefined, operationStartedAt: string): boolean {
  const approved = Date.parse(application?.metadata.annotations?.[deletionApprovedAnnotation] ?? '')
  return approved >= Date.parse(operationStartedAt)
}
