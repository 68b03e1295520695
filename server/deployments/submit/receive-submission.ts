import type { FastifyRequest } from 'fastify'
import type { TaskSubmission } from '../../../contract/task.ts'
import { anonymous, type Principal } from '../../auth/access/principal.ts'
import { DeploymentsLockedError } from '../task-errors.ts'
import type { SubmissionLimit } from './submission-limit.ts'
import type { FindSubmitted, SubmitTask } from './submit-task.ts'

type Dependencies = {
  readonly limit: SubmissionLimit
  readonly normalize: (submission: TaskSubmission) => TaskSubmission
  readonly submitTask: SubmitTask
  readonly findSubmitted: FindSubmitted
  /** For those whose credential is refused; for others the accepting transaction looks. */
  readonly lockStatus: () => Promise<{ readonly active: boolean } & DeploymentsLockedError['lock']>
  /** Whether everybody may read why deployments are locked; else those with a good credential. */
  readonly isReadingOpen: boolean
  /** Rejects for a bad credential, one that is needed and absent, or one not good for `app`. */
  readonly requireAccess: (request: FastifyRequest, action: 'submit', app?: string) => Promise<Principal>
  /** What is stored of the request's credential with the task that it submits. */
  readonly readerDigestOf: (request: FastifyRequest) => (taskId: string) => Buffer | undefined
}

type SubmissionRequest = FastifyRequest & {
  body: TaskSubmission
  headers: { 'idempotency-key'?: string | undefined; traceparent?: string | undefined }
}

/** Owns the order in which a submission is checked: its rate, its form, its credential, its key, the lock, the room for it. */
export function createReceiveSubmission(dependencies: Dependencies) {
  const { limit, normalize, submitTask, findSubmitted, lockStatus, isReadingOpen, requireAccess, readerDigestOf } =
    dependencies

  const refuseIfLocked = async (): Promise<void> => {
    const lock = await lockStatus()
    if (lock.active) throw lockedFor(anonymous, new DeploymentsLockedError(lock))
  }
  const lockedFor = ({ kind }: Principal, error: unknown): unknown =>
    error instanceof DeploymentsLockedError && kind === 'anonymous' && !isReadingOpen ? error.withoutDetails() : error

  return {
    /** Before the body is read. */
    count: (request: FastifyRequest): Promise<void> => limit.count(request),

    /** An invalid submission was rejected before its credential was verified: past the limit only a valid one learns why. */
    async limitInvalid(request: FastifyRequest): Promise<void> {
      const { kind } = await requireAccess(request, 'submit').catch(() => anonymous)
      if (kind === 'anonymous') limit.require(request)
      else limit.exempt(request)
    },

    /** @returns the id of the task, which an earlier submission with the same Idempotency-Key may have stored */
    async submit(request: SubmissionRequest): Promise<string> {
      const body = normalize(request.body)
      const key = request.headers['idempotency-key']
      const principal = await requireAccess(request, 'submit', body.app).catch(async (refusal: unknown) => {
        limit.require(request)
        // A caller who shows a key may learn of its task, locked or not; others are told of the lock first.
        if (key === undefined) await refuseIfLocked()
        throw refusal
      })
      if (principal.kind !== 'anonymous') limit.exempt(request)
      const readerDigestFor = readerDigestOf(request)
      const earlier = key === undefined ? undefined : await findSubmitted(body, principal, key, readerDigestFor)
      if (earlier !== undefined) {
        if (principal.kind === 'anonymous') limit.exempt(request)
        return earlier
      }
      if (principal.kind === 'anonymous') limit.require(request)
      const { traceparent } = request.headers
      const { id } = await submitTask(body, principal, { key, traceparent, readerDigestFor }).catch(
        (error: unknown) => {
          throw lockedFor(principal, error)
        },
      )
      return id
    },
  }
}
export type ReceiveSubmission = ReturnType<typeof createReceiveSubmission>
