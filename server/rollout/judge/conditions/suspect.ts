import type { ObservedApplication, ObservedResource } from '../../observed/observed-application.ts'
import {
  isPodEnding,
  type ObservedPod,
  type ResourceTree,
  type TreeResource,
} from '../../observed/observed-resources.ts'
import { causeOfState, type PodCause } from '../../observed/pod-states.ts'
import { isSameResource, newestBelow } from '../../observed/resource-owners.ts'
import type { JudgeInput } from '../input/judge-input.ts'
import { type BadPod, findWaitingPod, isUnready, oldestWaiting } from './judge-pods.ts'
import { awaitedByOperation, isAwaited } from './operation-wait.ts'

/** What most likely keeps a rollout from completing, as far as the tree shows it. */
export type Suspect = {
  /** Where it was found: among the Pods of a requested image, or below something that Argo CD lists. */
  readonly below: 'requested_image' | 'degraded' | 'operation' | 'progressing'
  readonly found:
    | ({ readonly kind: 'pod' } & BadPod)
    | { readonly kind: 'waiting_pod'; readonly pod: ObservedPod }
    | { readonly kind: 'resource'; readonly resource: TreeResource }
}

/** Pods of a requested image come first. Those of other images explain what Argo CD calls Degraded, and end no task early. */
export function findSuspect(snapshot: JudgeInput, badPods: readonly BadPod[]): Suspect | undefined {
  const { application, observation, task, degradedBefore } = snapshot
  const tree = observation.tree?.value
  if (tree === undefined) return undefined
  const [bad] = badPods
  if (bad !== undefined) return { below: 'requested_image', found: { kind: 'pod', ...bad } }
  const waiting = findWaitingPod(tree, task.images, snapshot)
  if (waiting !== undefined) return { below: 'requested_image', found: { kind: 'waiting_pod', pod: waiting } }
  const degraded = degradedRoot(application, degradedBefore)
  const awaited = awaitedByOperation(application)
  const progressing = progressingRoot(application)
  return (
    suspectBelow(tree, 'degraded', degraded && ((one) => isSameResource(one, degraded))) ??
    suspectBelow(tree, 'operation', awaited && isAwaited(awaited)) ??
    suspectBelow(tree, 'progressing', progressing && ((one) => isSameResource(one, progressing)))
  )
}

/** What was Degraded before the task came is blamed last. */
export function degradedRoot(
  { resources }: Pick<ObservedApplication, 'resources'>,
  degradedBefore: readonly string[],
): ObservedResource | undefined {
  const degraded = resources.filter(({ health }) => health === 'Degraded')
  return degraded.find((one) => !degradedBefore.includes(degradedKey(one))) ?? degraded[0]
}

/** A resource and why it is Degraded: with another reason it is another failure. */
export const degradedKey = ({ group, kind, namespace, name, healthMessage = '' }: ObservedResource): string =>
  [group, kind, namespace, name, healthMessage].join('\n')

export const progressingRoot = ({ resources }: Pick<ObservedApplication, 'resources'>): ObservedResource | undefined =>
  resources.find(({ health, isHook }) => health === 'Progressing' && !isHook)

function suspectBelow(
  tree: ResourceTree,
  below: Suspect['below'],
  isRoot: ((resource: TreeResource) => boolean) | undefined,
): Suspect | undefined {
  const root = isRoot && tree.resources.find(isRoot)
  return root && { below, found: deepestFailure(tree, root) }
}

/** What lies deepest and says why: a Pod in a bad state, a resource with a message, a Pod that waits, or what has no Pods. */
function deepestFailure(tree: ResourceTree, root: TreeResource): Suspect['found'] {
  const { resources, pods: all } = newestBelow(tree, root)
  const pods = all.filter((pod) => !isPodEnding(pod))
  const bad = badPodsOf(pods)
  const [broken] = bad.filter((pod) => !isUnready(pod))
  if (broken !== undefined) return { kind: 'pod', ...broken }
  const withMessage = resources.findLast(({ health, message }) => health === 'Degraded' && message !== undefined)
  if (withMessage !== undefined && withMessage !== root) return { kind: 'resource', resource: withMessage }
  const waiting = oldestWaiting(pods)
  if (waiting !== undefined) return { kind: 'waiting_pod', pod: waiting }
  const [unready] = bad
  if (unready !== undefined) return { kind: 'pod', ...unready }
  const resource = pods.length > 0 ? root : (resources.findLast(({ health }) => health !== 'Healthy') ?? root)
  return { kind: 'resource', resource }
}

const badPodsOf = (pods: readonly ObservedPod[]): readonly BadPod[] =>
  pods.flatMap((pod) => {
    const cause: PodCause | undefined = causeOfState(pod)
    return cause === undefined ? [] : [{ pod, cause }]
  })
