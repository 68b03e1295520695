import { createHmac, timingSafeEqual } from 'node:crypto'
import { CredentialRefusedError } from './credential-refused-error.ts'
import { isInScope } from './judge-application.ts'

/** What a request may read where reading is closed. */
export type Reader =
  | { readonly kind: 'everything' }
  /** Tasks of applications that one of the globs matches. */
  | { readonly kind: 'applications'; readonly globs: readonly string[] }
  /** Tasks that one of these credentials submitted: it is not good any more, or was never. */
  | { readonly kind: 'own_tasks'; readonly credentials: readonly string[]; readonly refusal: string }

type ReadableTask = {
  readonly id: string
  readonly app: string
  readonly deadline: Date
  readonly readerDigest: Buffer | undefined
}

/** What is stored of the credential that submitted a task. The task's id makes equal credentials look different. */
export const readerDigest = (taskId: string, credential: string) =>
  createHmac('sha256', taskId).update(credential, 'utf8').digest()

/**
 * Whether a task may be shown. A pipeline whose token expires while it waits goes on reading its task until the task's time
 * is over.
 * @throws {CredentialRefusedError} where only the credential of another task was presented
 */
export function mayRead(reader: Reader, task: ReadableTask, nowMs: number): boolean {
  if (reader.kind === 'everything') return true
  if (reader.kind === 'applications') return isInScope(task.app, reader.globs)
  const { readerDigest: expected } = task
  const isOwn =
    expected !== undefined &&
    nowMs <= task.deadline.getTime() &&
    reader.credentials.some((credential) => timingSafeEqual(readerDigest(task.id, credential), expected))
  if (!isOwn) throw new CredentialRefusedError(reader.refusal)
  return true
}
