import type { Cause } from '../../../contract/causes.ts'
import type { Culprit } from '../../../contract/diagnosis.ts'
import type { Image } from '../../../contract/task.ts'
import { isImageRunning } from './image-reference.ts'
import { isPodReady, type ObservedPod, type ResourceTree } from './observed-resources.ts'
import type { BadPodMemory } from './rollout-memory.ts'
import type { PodEvents, Reading } from './rollout-observation.ts'
import { type RolloutSettings, rolloutTimes } from './rollout-settings.ts'

type PodCause = Extract<Cause, 'image_pull' | 'image_name' | 'container_config' | 'crash_loop' | 'probe_failing'>

const causeOfReason: ReadonlyMap<string, PodCause> = new Map([
  ['ErrImagePull', 'image_pull'],
  ['ImagePullBackOff', 'image_pull'],
  ['InvalidImageName', 'image_name'],
  ['CreateContainerConfigError', 'container_config'],
  ['CrashLoopBackOff', 'crash_loop'],
])

export type BadPod = { readonly pod: ObservedPod; readonly cause: PodCause }

type ImageSettings = Pick<RolloutSettings, 'registryProxy'>

/** Pods of a requested image that do not get ready, the unrecoverable first, unless a newer Pod of the same images is ready. */
export function findBadPods(
  tree: ResourceTree,
  requested: readonly Image[],
  settings: ImageSettings,
): readonly BadPod[] {
  const ours = tree.pods.filter(({ images }) => requested.some((image) => isImageRunning(image, images, settings)))
  const bad = ours.flatMap((pod) => {
    const cause = causeOf(pod)
    return cause === undefined || ours.some((other) => isNewerAndReady(other, pod)) ? [] : [{ pod, cause }]
  })
  return bad.toSorted((a, b) => Number(isUnready(a)) - Number(isUnready(b)))
}

const isUnready = ({ cause }: BadPod) => cause === 'probe_failing'

/** A Pod that runs without being ready may only be slow, so that alone ends nothing early. */
function causeOf({ reason, health }: ObservedPod): PodCause | undefined {
  if (reason === 'Running' && health !== undefined && health !== 'Healthy') return 'probe_failing'
  return causeOfReason.get(reason?.replace(/^Init:/, '') ?? '')
}

/** The first Pod whose state more than one read in a row has shown. */
export function lastingBadPod(bad: readonly BadPod[], known: ReadonlyMap<string, BadPodMemory>): BadPod | undefined {
  return bad.find((pod) => (known.get(badPodKey(pod))?.reads ?? 0) >= 2)
}

/** The Pod and what is wrong with it. Why an image could not be pulled, its state says only between two tries; an event always does. */
export function culpritOfPod({ pod, cause }: BadPod, events: PodEvents | undefined): Culprit {
  const { namespace, name } = pod
  const container = failedContainerOf(pod)
  const message = messageOf({ pod, cause }, events)
  return { kind: 'Pod', namespace, name, ...(container === undefined ? {} : { container }), message }
}

function messageOf({ pod, cause }: BadPod, events: PodEvents | undefined): string {
  const last = (beginning: string) =>
    events?.uid === pod.uid ? events.lines.findLast((line) => line.startsWith(beginning)) : undefined
  if (cause === 'probe_failing') return last('Unhealthy') ?? pod.message ?? 'its readiness probe has not succeeded'
  const refusal = cause === 'image_pull' ? last(`${pullRefused}Failed to pull`)?.slice(pullRefused.length) : undefined
  return `${pod.reason ?? ''}: ${refusal ?? pod.message ?? ''}`
}

/** Kubernetes' words: "back-off 10s restarting failed container=app pod=…". */
export const failedContainerOf = ({ message }: Pick<ObservedPod, 'message'>) =>
  /\bcontainer=([a-z0-9-]+)/.exec(message ?? '')?.[1]

/** The reason of the event before its text. */
const pullRefused = 'Failed: '

function isNewerAndReady(other: ObservedPod, bad: ObservedPod): boolean {
  const isSameKind = other.images.some((image) => bad.images.includes(image))
  return isPodReady(other) && isSameKind && (other.createdAtMs ?? 0) > (bad.createdAtMs ?? 0)
}

const badPodKey = ({ pod, cause }: BadPod) => `${pod.uid} ${cause}`

/**
 * A Pod that one read does not show as bad starts anew; a read that failed proves nothing either way. What an answer shows may
 * be as young as the answer, `answeredAtMs`.
 */
export function rememberBadPods(
  known: ReadonlyMap<string, BadPodMemory>,
  bad: readonly BadPod[],
  answeredAtMs: number,
): ReadonlyMap<string, BadPodMemory> {
  return new Map(
    bad.map((pod) => {
      const earlier = known.get(badPodKey(pod))
      return [badPodKey(pod), { sinceMs: earlier?.sinceMs ?? answeredAtMs, reads: (earlier?.reads ?? 0) + 1 }]
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

/** When the Pods are to be looked at, given since when the application is Degraded or in progress at our revision. */
export function nextTreeAtMs(
  degradedSinceMs: number | undefined,
  progressingSinceMs: number | undefined,
  tree: Reading<ResourceTree> | undefined,
  graceMs: number,
): number | undefined {
  const progressing = progressingSinceMs === undefined ? undefined : progressingSinceMs + treeAfterMs(graceMs)
  const from = degradedSinceMs ?? progressing
  if (from === undefined) return undefined
  return tree === undefined ? from : Math.max(from, tree.askedAtMs + treeEveryMs(graceMs))
}
