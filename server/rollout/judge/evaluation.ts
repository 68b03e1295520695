import type { Conditions } from './conditions.ts'
import type { ForeignImageCheck } from './judge-foreign-image.ts'
import type { BadPod } from './judge-pods.ts'
import type { Stall } from './judge-stall.ts'
import type { ObservedCondition } from './observed-application.ts'
import type { NextAction } from './rollout-observation.ts'
import type { Snapshot } from './snapshot.ts'

/** What one snapshot means, found out once: memory, conclusion, next actions and diagnosis are functions of it. */
export type Evaluation = Snapshot & {
  readonly conditions: Conditions
  /** Argo CD's own error conditions of the application. */
  readonly appErrors: readonly ObservedCondition[]
  /** Pods of a requested image that do not get ready, the unrecoverable first; `undefined`: no Pods were read. */
  readonly badPods: readonly BadPod[] | undefined
  readonly foreignImage: ForeignImageCheck
  /** The ancestry of revisions that is still to be asked. */
  readonly missingAncestry: readonly NextAction[]
  readonly isSyncFailing: boolean
  readonly stall: Stall | undefined
}
