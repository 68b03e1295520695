export type ObservedPod = {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly images: readonly string[]
  /** As `kubectl get pods` shows it: Running, Completed, ImagePullBackOff, … */
  readonly reason: string | undefined
  readonly health: string | undefined
  readonly message: string | undefined
  /** On the cluster's clock, in whole seconds. */
  readonly createdAtMs: number | undefined
  /** Argo CD leaves out a count of 0. */
  readonly restarts?: number | undefined
  /** Uids of the resources that own it. */
  readonly owners?: readonly string[]
}

/** A resource of the tree that is no Pod. */
export type TreeResource = {
  readonly group: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly owners: readonly string[]
  readonly health: string | undefined
  readonly message: string | undefined
  /** The number of `Rev:N`, which Argo CD shows of a Deployment, a Rollout and their ReplicaSets. */
  readonly revision: number | undefined
}

export type ResourceTree = { readonly pods: readonly ObservedPod[]; readonly resources: readonly TreeResource[] }

/** One event of a resource, or several alike that Kubernetes counts as one. */
export type ResourceEvent = {
  readonly reason: string
  readonly message: string
  readonly count: number
  /** When it was seen last, by the clock of the cluster. */
  readonly lastMs: number | undefined
  /** The container that its field path names. */
  readonly container: string | undefined
}

/** What the live object says of a container. Environment, arguments and annotations are never read. */
export type LiveContainer = {
  readonly name: string
  readonly image: string
  readonly isInit: boolean
  readonly restarts: number
  readonly lastTermination:
    | {
        readonly reason: string | undefined
        readonly exitCode: number | undefined
        readonly message: string | undefined
      }
    | undefined
  readonly memoryLimit: string | undefined
}

export type LivePod = { readonly containers: readonly LiveContainer[] }

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

export type ResourceAddress = { readonly namespace: string; readonly name: string; readonly uid: string }
