import { createHmac, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { UnauthorizedError } from './auth-errors.ts'
import type { Authorize } from './authorize.ts'
import { type Principal, readScopeOf } from './principal.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Needs no credential even where reading does. */
    isAlwaysReadable?: boolean
    /** Shows a scoped credential no more than its scope; other routes refuse one. */
    isReadableInScope?: boolean
    /** Shows one task, also to the credential that submitted it and has expired since. */
    isReadableByOwner?: boolean
  }
  interface FastifyRequest {
    /** Undefined where reading is open. */
    readAccess: ReadAccess | undefined
  }
}

/** What a request may read where reading is closed. */
export type ReadAccess =
  | { readonly kind: 'principal'; readonly principal: Principal }
  /** Tasks that one of these credentials submitted: its time is over. */
  | { readonly kind: 'own_tasks'; readonly credentials: readonly string[]; readonly refusal: string }

/** The applications whose tasks a request may list; undefined: all. */
export function globsOf({ readAccess }: FastifyRequest): readonly string[] | undefined {
  const scope = readAccess?.kind === 'principal' ? readScopeOf(readAccess.principal) : 'all'
  return scope === 'all' ? undefined : scope
}

export type ReadableTask = {
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
 * is over. The answer is the same for a missing task and for another caller's.
 * @throws {UnauthorizedError} where only the credential of another task was presented
 */
export function mayRead(
  access: ReadAccess,
  task: ReadableTask | undefined,
  nowMs: number,
  authorize: Authorize,
): boolean {
  if (access.kind === 'principal')
    return task !== undefined && authorize(access.principal, 'read', task.app).kind === 'allowed'
  if (task === undefined || !isOwnTask(access.credentials, task, nowMs)) throw new UnauthorizedError(access.refusal)
  return true
}

/** Whether one of these credentials submitted a task whose time is not over. */
export const isOwnTask = (credentials: readonly string[], task: ReadableTask, nowMs: number): boolean =>
  nowMs <= task.deadline.getTime() + clocksDifferMs && credentials.some((credential) => isSubmitter(credential, task))

const isSubmitter = (credential: string, { id, readerDigests }: ReadableTask) =>
  readerDigests.some((expected) => timingSafeEqual(readerDigest(id, credential), expected))
