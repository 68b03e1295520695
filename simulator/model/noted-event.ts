import type { Container } from './manifest.ts'

export type Reporter =
  | 'kubelet'
  | 'default-scheduler'
  | 'attachdetach-controller'
  | 'persistentvolume-controller'
  | 'replicaset-controller'
  | 'statefulset-controller'
  | 'daemonset-controller'
  | 'job-controller'

/** Something that a component of Kubernetes says about an object. */
export type EventWords = {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  readonly by: Reporter
  /** The scheduler's word for what it did; only its events have one. */
  readonly action?: 'Binding' | 'Scheduling'
  /** Such as `spec.containers{web}`. */
  readonly fieldPath?: string
}

/** An event as it is kept: the same words again only raise its count. */
export type NotedEvent = EventWords & { readonly firstAtMs: number; readonly lastAtMs: number; readonly count: number }

export function noteEvent(events: NotedEvent[], words: EventWords, atMs: number): void {
  const index = events.findIndex(({ reason, message }) => reason === words.reason && message === words.message)
  const known = events[index]
  if (known) events[index] = { ...known, lastAtMs: atMs, count: known.count + 1 }
  else events.push({ ...words, firstAtMs: atMs, lastAtMs: atMs, count: 1 })
}

type OfPod = { readonly container: Container; readonly isInitializing: boolean }

/** What the kubelet says about the Pod's container. */
export function kubeletEvent(
  { container, isInitializing }: OfPod,
  type: EventWords['type'],
  reason: string,
  message: string,
): EventWords {
  const fieldPath = `spec.${isInitializing ? 'initContainers' : 'containers'}{${container.name}}`
  return { type, reason, message, by: 'kubelet', fieldPath }
}
