import { createHash } from 'node:crypto'
import type { TaskSubmission } from '../../contract/task.ts'
import { actorOf, type Principal } from '../auth/access/principal.ts'
import { IdempotencyKeyUsedError } from './task-errors.ts'

/** A submission that came with an Idempotency-Key; both digests are SHA-256 in hexadecimal digits. */
export type KeyUse = {
  /** Of whose key it is: kind and subject of the credential, and application, with the key itself. */
  readonly keyDigest: string
  readonly bodyDigest: string
}

/** What is stored of the use that came first. */
export type KnownKey = { readonly taskId: string; readonly bodyDigest: string }

/** A key is unknown to another credential and to another application. Bodies are equal if their fields are, in any order. */
export function keyUseOf(key: string, submission: TaskSubmission, caller: Principal): KeyUse {
  const { kind, id } = actorOf(caller)
  return {
    keyDigest: digestOf([kind, id, submission.app, key]),
    // The schema has put the fields into its own order; null and no refresh mean the same.
    bodyDigest: digestOf({ ...submission, refresh: submission.refresh ?? undefined }),
  }
}

const digestOf = (value: object) => createHash('sha256').update(JSON.stringify(value)).digest('hex')

/**
 * The task that a key stands for (decision 0002).
 * @throws {IdempotencyKeyUsedError} where this is not the use that came first, sent again
 */
export function taskOfKnownKey(known: KnownKey, use: KeyUse): string {
  if (known.bodyDigest !== use.bodyDigest) throw new IdempotencyKeyUsedError()
  return known.taskId
}
