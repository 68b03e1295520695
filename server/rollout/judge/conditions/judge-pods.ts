import type { Image } from '../../../../contract/task.ts'
import { isPodReady, type LivePod, type ObservedPod, type ResourceTree } from '../../observed/observed-resources.ts'
import { causeOfState, isPodWaiting, type PodCause } from '../../observed/pod-states.ts'
import { newestPods } from '../../observed/resource-owners.ts'
import { isRestarting, type PodRestarts, type RestartMemory } from '../input/pod-restarts.ts'
import type { BadPodMemory } from '../input/rollout-memory.ts'
import type { Reading, Readings } from '../input/rollout-observation.ts'
import { type RolloutSettings, rolloutTimes } from '../input/rollout-settings.ts'
import { isImageRunning } from './image-reference.ts'

/** `restarts`: where they make it a crash loop, whatever its state. */
export type BadPod = { readonly pod: ObservedPod; readonly cause: PodCause; readonly restarts?: PodRestarts }

type Known = {
  readonly settings: Pick<RolloutSettings, 'registryProxy'>
  readonly restarts: RestartMemory
  readonly livePods: Readings<LivePod>
}

/** Pods of a requested image that do not get ready, the unrecoverable first, unless a newer Pod of the same images is ready. */
export function findBadPods(tree: ResourceTree, requested: readonly Image[], known: Known): readonly BadPod[] {
  const ours = podsOfImages(tree, requested, known)
  const bad = ours.flatMap((pod) => {
    const found = badPodOf(pod, requested, known)
    return found === undefined || ours.some((other) => isNewerAndReady(other, pod)) ? [] : [found]
  })
  return bad.toSorted((a, b) => Number(isUnready(a)) - Number(isUnready(b)))
}

function badPodOf(pod: ObservedPod, requested: readonly Image[], known: Known): BadPod | undefined {
  const restarts = known.restarts.get(pod.uid)
  const state = causeOfState(pod)
  const isStarted = state !== 'container_config' && startErrorOf(known.livePods.get(pod.uid)?.value) === undefined
  const crash = isStarted ? 'crash_loop' : 'container_config'
  if (isRestarting(restarts) && restartsRequestedImage(pod, requested, known) === true)
    return { pod, cause: crash, restarts }
  return state && { pod, cause: state === 'crash_loop' ? crash : state }
}

/** How a container ended that the runtime could not even start: its Pod is then said to crash, too. */
export const startErrorOf = (live: LivePod | undefined) =>
  live?.containers.find(
    ({ lastTermination: last }) => last?.reason === 'StartError' || last?.reason === 'ContainerCannotRun',
  )

/**
 * Whether it is a requested image that restarts: Argo CD counts the restarts of all containers together. `undefined`: the live
 * Pod must be read first.
 */
function restartsRequestedImage(
  { images, uid }: ObservedPod,
  requested: readonly Image[],
  { livePods, settings }: Known,
): boolean | undefined {
  const isRequested = (image: string) => requested.some((one) => isImageRunning(one, [image], settings))
  if (images.every(isRequested)) return true
  const live = livePods.get(uid)?.value
  return live?.containers.some(({ image, restarts }) => restarts > 0 && isRequested(image))
}

/** Pods that restart again and again, of which only the live Pod can tell whether a requested image does. */
export function findUnattributedPods(tree: ResourceTree, requested: readonly Image[], known: Known) {
  return podsOfImages(tree, requested, known).filter(
    (pod) => isRestarting(known.restarts.get(pod.uid)) && restartsRequestedImage(pod, requested, known) === undefined,
  )
}

/** The Pod of a requested image that has waited longest to start, of the newest rollout. */
export function findWaitingPod(
  tree: ResourceTree,
  requested: readonly Image[],
  known: Pick<Known, 'settings'>,
): ObservedPod | undefined {
  return oldestWaiting(newestPods(tree, podsOfImages(tree, requested, known)))
}

export function oldestWaiting(pods: readonly ObservedPod[]): ObservedPod | undefined {
  return pods.filter(isPodWaiting).toSorted((a, b) => (a.createdAtMs ?? 0) - (b.createdAtMs ?? 0))[0]
}

const podsOfImages = ({ pods }: ResourceTree, requested: readonly Image[], { settings }: Pick<Known, 'settings'>) =>
  pods.filter(({ images }) => requested.some((image) => isImageRunning(image, images, settings)))

export const isUnready = ({ cause }: Pick<BadPod, 'cause'>) => cause === 'probe_failing'

/** The first Pod whose state more than one read in a row has shown. */
export function lastingBadPod(bad: readonly BadPod[], known: ReadonlyMap<string, BadPodMemory>): BadPod | undefined {
  return bad.find((pod) => (known.get(badPodKey(pod))?.reads ?? 0) >= 2)
}

function isNewerAndReady(other: ObservedPod, bad: ObservedPod): boolean {
  const isSameKind = other.images.some((image) => bad.images.includes(image))
  return isPodReady(other) && isSameKind && (other.createdAtMs ?? 0) > (bad.createdAtMs ?? 0)
}

const badPodKey = ({ pod, cause }: BadPod) => `${pod.uid} ${cause}`

/**
 * A Pod that one read does not show as bad starts again; a read that failed proves nothing either way. What an answer shows may
 * be as young as the answer, `answeredAtMs`. A crash loop lasts from its first restart on.
 */
export function rememberBadPods(
  known: ReadonlyMap<string, BadPodMemory>,
  bad: readonly BadPod[],
  answeredAtMs: number,
): ReadonlyMap<string, BadPodMemory> {
  return new Map(
    bad.map((pod) => {
      const earlier = known.get(badPodKey(pod))
      const sinceMs = Math.min(earlier?.sinceMs ?? answeredAtMs, pod.restarts?.firstMs ?? answeredAtMs)
      return [badPodKey(pod), { sinceMs, reads: (earlier?.reads ?? 0) + 1 }]
    }),
  )
}

/** The Pod that can no longer be waited for. An invalid image name stays invalid; the others get their grace. */
export function unrecoverablePod(
  bad: readonly BadPod[],
  known: ReadonlyMap<string, BadPodMemory>,
  readAtMs: number,
  graceMs: number,
): BadPod | undefined {
  if (graceMs === 0) return undefined
  return bad.find((pod) => {
    const memory = known.get(badPodKey(pod))
    if (pod.cause === 'image_name') return true
    if (isUnready(pod)) return false
    return memory !== undefined && memory.reads >= 2 && readAtMs - memory.sinceMs >= graceMs
  })
}

/** How long a rollout may be in progress before its Pods are looked at. */
function treeAfterMs(badPodGraceMs: number): number {
  return badPodGraceMs === 0 ? rolloutTimes.treeEveryMs : Math.min(rolloutTimes.treeEveryMs, badPodGraceMs)
}

function treeEveryMs(badPodGraceMs: number): number {
  return badPodGraceMs === 0 ? rolloutTimes.treeEveryMs : Math.min(rolloutTimes.treeEveryMs, badPodGraceMs / 2)
}

/** How old a Pod that waits to start is when its events are read. */
export const waitingAgeMs = (badPodGraceMs: number): number =>
  badPodGraceMs === 0 ? rolloutTimes.treeEveryMs : Math.min(rolloutTimes.waitingPodMs, badPodGraceMs)

/** Since when the application is Degraded or in progress at our revision, and since when an operation on it runs. */
type TreeStarts = {
  readonly degraded?: number | undefined
  readonly progressing?: number | undefined
  readonly operating?: number | undefined
}

/** When the Pods are to be looked at. */
export function nextTreeAtMs(
  { degraded, progressing, operating }: TreeStarts,
  tree: Reading<ResourceTree> | undefined,
  graceMs: number,
): number | undefined {
  const due = [
    dueAtMs(degraded, 0, treeEveryMs(graceMs), tree),
    dueAtMs(progressing, treeAfterMs(graceMs), treeEveryMs(graceMs), tree),
    dueAtMs(operating, rolloutTimes.operationWaitMs, rolloutTimes.eventsEveryMs, tree),
  ].filter((atMs) => atMs !== undefined)
  return due.length === 0 ? undefined : Math.min(...due)
}

function dueAtMs(
  sinceMs: number | undefined,
  afterMs: number,
  everyMs: number,
  tree: Reading<ResourceTree> | undefined,
): number | undefined {
  if (sinceMs === undefined) return undefined
  return tree === undefined ? sinceMs + afterMs : Math.max(sinceMs + afterMs, tree.askedAtMs + everyMs)
}
