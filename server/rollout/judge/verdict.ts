import { type Cause, causeOf } from '../../../contract/causes.ts'
import type { Culprit, Diagnosis, Evidence } from '../../../contract/diagnosis.ts'
import type { FinalStatus } from '../../../contract/task-status.ts'
import type { ObservedApplication } from './observed-application.ts'

/** A possible end of a task, still to be confirmed by a direct read. */
export type Verdict = {
  readonly status: FinalStatus
  readonly cause?: Cause
  readonly culprit?: Culprit | undefined
  readonly supersededBy?: Diagnosis['superseded_by']
  /** What only this verdict knows. */
  readonly evidence?: readonly Evidence[]
}

/** The verdict that a cause stands for. */
export const verdictOf = (cause: Cause, more: Omit<Verdict, 'status' | 'cause'> = {}): Verdict => ({
  status: causeOf(cause).status,
  cause,
  ...more,
})

export const applicationCulprit = (
  { namespace, name }: Pick<ObservedApplication, 'namespace' | 'name'>,
  message: string,
): Culprit => ({ kind: 'Application', namespace, name, message })
