import type { ObservedCondition } from '../../observed/observed-application.ts'
import type { JudgeInput } from '../input/judge-input.ts'
import type { NextAction } from '../input/rollout-observation.ts'
import {
  appErrorsOf,
  type Conditions,
  judgeAlive,
  judgeComparedAfterOperation,
  judgeHealthy,
  judgeNoErrors,
  judgeSynced,
} from './conditions.ts'
import { findImages, type ImageFinding, judgeImages } from './images-condition.ts'
import { checkForeignImage, type ForeignImageCheck } from './judge-foreign-image.ts'
import { type BadPod, findBadPods } from './judge-pods.ts'
import { judgeNoOldPods } from './old-pods-condition.ts'
import { isOperationOlder, judgeOperation, judgeRevision, missingAncestry } from './revision-condition.ts'
import { findSuspect, type Suspect } from './suspect.ts'

/** What one snapshot means, found out once: memory, conclusion, next actions and diagnosis are functions of it. */
export type Evaluation = JudgeInput & {
  readonly conditions: Conditions
  /** One for each requested image, in their order. */
  readonly images: readonly ImageFinding[]
  /** Argo CD's own error conditions of the application. */
  readonly appErrors: readonly ObservedCondition[]
  /** Pods of a requested image that do not get ready, the unrecoverable first; `undefined`: no Pods were read. */
  readonly badPods: readonly BadPod[] | undefined
  /** What is to be looked into, and blamed in the end. */
  readonly suspect: Suspect | undefined
  readonly foreignImage: ForeignImageCheck
  /** The ancestry of revisions that is still to be asked. */
  readonly missingAncestry: readonly NextAction[]
}

export function evaluate(snapshot: JudgeInput): Evaluation {
  const { application, observation, task } = snapshot
  const others = [
    judgeAlive(snapshot),
    judgeNoErrors(snapshot),
    judgeRevision(snapshot),
    judgeSynced(snapshot),
    judgeOperation(snapshot),
    judgeComparedAfterOperation(snapshot, isOperationOlder(snapshot)),
    judgeHealthy(snapshot),
  ]
  const othersAreMet = others.every(({ state }) => state === 'met')
  const images = findImages(snapshot, othersAreMet)
  const all = [...others, judgeImages(images), judgeNoOldPods(snapshot)]
  const unmet = all.filter(({ state }) => state !== 'met')
  const isMet: Conditions['isMet'] = (name) => !unmet.some((condition) => condition.name === name)
  const conditions = { all, unmet, areMet: unmet.length === 0, othersAreMet, isMet }
  const tree = observation.tree?.value
  const badPods = tree && findBadPods(tree, task.images, { ...snapshot, livePods: observation.livePods })
  return {
    ...snapshot,
    conditions,
    images,
    appErrors: appErrorsOf(application),
    badPods,
    suspect: findSuspect(snapshot, badPods ?? []),
    foreignImage: checkForeignImage(snapshot, conditions),
    missingAncestry: missingAncestry(snapshot),
  }
}
