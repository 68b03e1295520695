import type { Conditions } from './conditions.ts'
import {
  appErrorsOf,
  judgeAlive,
  judgeComparedAfterOperation,
  judgeHealthy,
  judgeNoErrors,
  judgeSynced,
} from './conditions.ts'
import type { Evaluation } from './evaluation.ts'
import { judgeImages, judgeNoOldPods } from './images-condition.ts'
import { checkForeignImage } from './judge-foreign-image.ts'
import { findBadPods } from './judge-pods.ts'
import { judgeStall } from './judge-stall.ts'
import { isOperationOlder, judgeOperation, judgeRevision, missingAncestry } from './revision-condition.ts'
import type { Snapshot } from './snapshot.ts'
import { isSyncFailing } from './sync-failure.ts'

/** Finds out once what a snapshot means. */
export function evaluate(snapshot: Snapshot): Evaluation {
  const { application, observation, settings, task } = snapshot
  const conditions = judgeConditions(snapshot)
  const tree = observation.tree?.value
  return {
    ...snapshot,
    conditions,
    appErrors: appErrorsOf(application),
    badPods: tree === undefined ? undefined : findBadPods(tree, task.images, settings),
    foreignImage: checkForeignImage(snapshot, conditions),
    missingAncestry: missingAncestry(snapshot),
    isSyncFailing: isSyncFailing(snapshot, conditions),
    stall: judgeStall(snapshot, conditions),
  }
}

/** Judges every condition on the same snapshot. */
function judgeConditions(snapshot: Snapshot): Conditions {
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
  const all = [...others, judgeImages(snapshot, othersAreMet), judgeNoOldPods(snapshot)]
  const unmet = all.filter(({ state }) => state !== 'met')
  return {
    all,
    unmet,
    areMet: unmet.length === 0,
    othersAreMet,
    isMet: (name) => all.some((condition) => condition.name === name && condition.state === 'met'),
  }
}
