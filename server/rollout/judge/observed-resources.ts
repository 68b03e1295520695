export type ObservedPod = {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly images: readonly string[]
  /** As `kubectl get pods` shows it: Running, Completed, ImagePullBackOff, … */
  readonly reason: string | undefined
  readonly health: string | undefined
  readonly message: string | undefined
  readonly createdAtMs: number | undefined
  /** Argo CD leaves out a count of 0. */
  readonly restarts?: number | undefined
}

/** A resource that is not well, for the reason of a failure. */
export type UnhealthyResource = {
  readonly kind: string
  readonly name: string
  readonly health: string
  readonly message: string
}

export type ResourceTree = { readonly pods: readonly ObservedPod[]; readonly unhealthy: readonly UnhealthyResource[] }

export type ManagedResources = {
  /** Every `image` text in the live manifests. */
  readonly liveImages: readonly string[]
  /** Every `image` text in the manifests that Git declares. */
  readonly declaredImages: readonly string[]
  /** Kinds outside Kubernetes' own groups may start Pods with images that no manifest names. */
  readonly hasForeignKinds: boolean
}

export type SyncWindows = {
  /** Which window keeps automated sync from starting; `undefined`: none does. */
  readonly blockedBy: string | undefined
}

export const isPodReady = ({ reason, health }: ObservedPod) => reason === 'Running' && health === 'Healthy'

export const isPodCompleted = ({ reason }: ObservedPod) => reason === 'Completed' || reason === 'Succeeded'

/** Completed or on its way out: it does not serve any more. */
export const isPodEnding = (pod: ObservedPod) => isPodCompleted(pod) || pod.reason === 'Terminating'
