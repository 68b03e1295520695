import { type Cause, causeOf } from '../../../../contract/causes.ts'
import type { Culprit, Diagnosis, Evidence } from '../../../../contract/diagnosis.ts'
import type { FinalStatus } from '../../../../contract/task-status.ts'
import { boundedLine } from '../../../../contract/text/render-diagnosis.ts'
import type { TaskResult } from '../../../deployments/task.ts'
import type { NewTaskEvent } from '../../../timeline/task-event.ts'
import type { ObservedApplication, ObservedCondition } from '../../observed/observed-application.ts'
import type { RolloutMemory } from './rollout-memory.ts'
import type { NextAction } from './rollout-observation.ts'

/** A possible end of a task, still to be confirmed by a direct read. */
export type Verdict = {
  readonly status: FinalStatus
  readonly cause?: Cause
  readonly culprit?: Culprit | undefined
  readonly supersededBy?: Diagnosis['superseded_by']
  /** What only this verdict knows. */
  readonly evidence?: readonly Evidence[]
}

/** What one evaluation means for a task. */
export type Judgement = {
  /** Set once the task is over. */
  readonly end: TaskResult | undefined
  /** What a task that goes on waits for, in a sentence. */
  readonly progress: string
  /** Where something of it is new: all that the sentence is made of. */
  readonly diagnosis: Diagnosis | undefined
  readonly actions: readonly NextAction[]
  readonly memory: RolloutMemory
  readonly events: readonly NewTaskEvent[]
  /** The Pods that stand in the way of this very task. */
  readonly badPodUids: readonly string[]
  /** When to judge again although nothing changed. An action wakes the task by itself once it is done. */
  readonly againAtMs: number
}

/** The verdict that a cause stands for. */
export const verdictOf = (cause: Cause, more: Omit<Verdict, 'status' | 'cause'> = {}): Verdict => ({
  status: causeOf(cause).status,
  cause,
  ...more,
})

/** A verdict whose message Argo CD says of the application as a whole. */
export const applicationVerdict = (cause: Cause, { namespace, name }: ObservedApplication, message: string): Verdict =>
  verdictOf(cause, { culprit: { kind: 'Application', namespace, name, message } })

type WithErrors = { readonly application: ObservedApplication; readonly appErrors: readonly ObservedCondition[] }

export function comparisonErrorVerdict({ application, appErrors: [error] }: WithErrors): Verdict | undefined {
  return error && applicationVerdict('comparison_error', application, `${error.type}: ${error.message}`)
}

export const note = (text: string): Evidence => ({ kind: 'note', text: boundedLine(text) })
