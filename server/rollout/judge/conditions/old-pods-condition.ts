import type { Image } from '../../../../contract/task.ts'
import { isPodEnding } from '../../observed/observed-resources.ts'
import { currentValue, type JudgeInput } from '../input/judge-input.ts'
import { type ConditionResult, met, notMet, unknown } from './conditions.ts'
import { imagesOf, isImageRunning } from './image-reference.ts'

/** Whether strict mode still has to read the Pods. */
export function arePodsUnread(snapshot: JudgeInput): boolean {
  return snapshot.settings.isStrict && currentValue(snapshot.observation.tree, snapshot) === undefined
}

/** Strict mode: every Pod of a requested repository that is neither ending nor completed runs the requested tag. */
export function judgeNoOldPods(snapshot: JudgeInput): ConditionResult {
  const { observation, settings, task } = snapshot
  if (!settings.isStrict) return met('no_old_pods')
  const expected = 'no Pod with another tag'
  const tree = currentValue(observation.tree, snapshot)
  if (tree === undefined) return unknown('no_old_pods', expected)
  const isOld = (image: Image) => (running: string) => !isImageRunning(image, [running], settings)
  const old = tree.pods.find(
    (pod) => !isPodEnding(pod) && task.images.some((image) => imagesOf(image, pod.images, settings).some(isOld(image))),
  )
  return old === undefined
    ? met('no_old_pods')
    : notMet('no_old_pods', expected, `Pod ${old.name} with ${old.images.join(', ')}`)
}
