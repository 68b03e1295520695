import type { ObservedApplication } from './observed-application.ts'
import type {
  LivePod,
  ManagedResources,
  ResourceAddress,
  ResourceEvent,
  ResourceTree,
  SyncWindows,
} from './observed-resources.ts'

/** What a call came to. Only `read` says anything about an application. */
export type ReadOutcome<Value> =
  | { readonly kind: 'read'; readonly value: Value }
  | { readonly kind: 'not_found' }
  /** 403: no permission, not there, or Kubernetes does not answer; the delivery controller makes no difference. */
  | { readonly kind: 'forbidden' }
  /** 401: the token is missing, expired or revoked. */
  | { readonly kind: 'unauthorized'; readonly why: string }
  /** No answer, or none that can be read. `why` holds no secret. */
  | { readonly kind: 'unreachable'; readonly why: string }

/** What a call came to that threw. */
export const unreachableBy = (error: unknown) => ({
  kind: 'unreachable' as const,
  why: error instanceof Error ? error.name : 'unexpected failure',
})

export type ApplicationAddress = {
  readonly name: string
  readonly namespace: string | undefined
  /** Once known: with it, 404 means gone. */
  readonly project: string | undefined
}

export type ApplicationList = { readonly version: number; readonly applications: readonly ObservedApplication[] }

/** What the watcher needs of the delivery controller. It only reads, and asks for refreshes. */
export type DeliveryController = {
  readApplication(address: ApplicationAddress): Promise<ReadOutcome<ObservedApplication>>
  /** `asked`: the refresh goes on, its end will be seen elsewhere. */
  refreshApplication(
    address: ApplicationAddress,
  ): Promise<ReadOutcome<ObservedApplication> | { readonly kind: 'asked' }>
  /** With a name: the first application of that name in any namespace, or in `namespace`. */
  listApplications(only?: {
    readonly name: string
    readonly namespace: string | undefined
  }): Promise<ReadOutcome<ApplicationList>>
  readResourceTree(address: ApplicationAddress): Promise<ReadOutcome<ResourceTree>>
  readManagedResources(address: ApplicationAddress): Promise<ReadOutcome<ManagedResources>>
  readSyncWindows(address: ApplicationAddress): Promise<ReadOutcome<SyncWindows>>
  /** What Kubernetes says happened to one resource, oldest first. */
  readEvents(address: ApplicationAddress, resource: ResourceAddress): Promise<ReadOutcome<readonly ResourceEvent[]>>
  readLivePod(address: ApplicationAddress, pod: ResourceAddress): Promise<ReadOutcome<LivePod>>
  /** Whether it answers and knows our token. */
  probe(): Promise<ReadOutcome<unknown>>
}
