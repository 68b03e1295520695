import { createHash } from 'node:crypto'
import type { ActorKind } from '../../contract/audit.ts'
import type { TaskSubmission } from '../../contract/task.ts'
import type { Caller } from '../auth/caller.ts'
import { IdempotencyKeyUsedError } from './task-errors.ts'

/** A submission that came with an Idempotency-Key. */
export type KeyUse = { readonly key: string; readonly callerKind: ActorKind; readonly bodyDigest: string }

/** What is stored of the use that came first. */
export type KnownKey = { readonly taskId: string; readonly callerKind: string; readonly bodyDigest: string }

/** Two bodies are the same if they say the same, in whatever order their fields come. */
export const keyUseOf = (key: string, submission: TaskSubmission, { kind }: Caller): KeyUse => ({
  key,
  callerKind: kind,
  // The schema has put the fields into its own order; null and no refresh mean the same.
  bodyDigest: createHash('sha256')
    .update(JSON.stringify({ ...submission, refresh: submission.refresh ?? undefined }))
    .digest('hex'),
})

/**
 * The task that a key stands for (decision 0154).
 * @throws {IdempotencyKeyUsedError} where this is not the use that came first, sent again
 */
export function taskOfKnownKey(known: KnownKey, use: KeyUse): string {
  if (known.callerKind !== use.callerKind) throw new IdempotencyKeyUsedError('with another kind of credential')
  if (known.bodyDigest !== use.bodyDigest) throw new IdempotencyKeyUsedError('with another body')
  return known.taskId
}
