import { createHmac, timingSafeEqual } from 'node:crypto'
import { UnauthorizedError } from './auth-errors.ts'
import { isInScope } from './authorize.ts'

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
  readonly readerDigests: readonly Buffer[]
}

/** What is stored of the credential that submitted a task. The task's id makes equal credentials look different. */
export const readerDigest = (taskId: string, credential: string) =>
  createHmac('sha256', taskId).update(credential, 'utf8').digest()

/** The database set the deadline, and by the clocks of the replicas it is up to 90 s later or earlier. */
const clocksDifferMs = 120_000

/**
 * Whether a task may be shown. A pipeline whose token expires while it waits goes on reading its task until the task's time
 * is over. Of no task the answer is the same as of one that somebody else submitted.
 * @throws {UnauthorizedError} where only the credential of another task was presented
 */
export function mayRead(reader: Reader, task: ReadableTask | undefined, nowMs: number): boolean {
  if (reader.kind === 'everything') return task !== undefined
  if (reader.kind === 'applications') return task !== undefined && isInScope(task.app, reader.globs)
  const isOwn =
    task !== undefined &&
    nowMs <= task.deadline.getTime() + clocksDifferMs &&
    reader.credentials.some((credential) => isSubmitter(credential, task))
  if (!isOwn) throw new UnauthorizedError(reader.refusal)
  return true
}

const isSubmitter = (credential: string, { id, readerDigests }: ReadableTask) =>
  readerDigests.some((expected) => timingSafeEqual(readerDigest(id, credential), expected))
