import type { FastifyRequest } from 'fastify'
import type { RequestOrigin } from '../../http/limits/client-address.ts'
import type { RateLimit } from '../../http/limits/rate-limit.ts'
import { HttpError } from '../../http/request-errors.ts'

type Dependencies = {
  /** SUBMISSIONS_PER_MINUTE; undefined: no limit */
  readonly limit: RateLimit | undefined
  readonly originOf: (request: FastifyRequest) => RequestOrigin
  /** Whether a credential of the request is valid; asked only past the limit. */
  readonly hasValidCredential: (request: FastifyRequest) => Promise<boolean>
}

/**
 * Limits what is submitted without a valid credential. Each submission counts until it is exempted: whether its credential
 * is valid, and whether its Idempotency-Key is known, shows late.
 */
export function createSubmissionLimit({ limit, originOf, hasValidCredential }: Dependencies) {
  const refusals = new WeakMap<FastifyRequest, HttpError>()

  return {
    /**
     * Before the body is read: past the limit no body is received for a credential that is not valid.
     * @throws {HttpError} for one too many that nothing can exempt
     */
    async count(request: FastifyRequest): Promise<void> {
      const retryAfterSeconds = limit?.acquire(originOf(request))
      if (limit === undefined || retryAfterSeconds === undefined) return
      const refusal = new HttpError(
        429,
        `more than ${limit.maxPerMinute} submissions a minute without a valid credential from one address`,
        { 'Retry-After': String(retryAfterSeconds) },
      )
      const mayBeKnown = request.headers['idempotency-key'] !== undefined
      if (!mayBeKnown && !(await hasValidCredential(request))) throw refusal
      refusals.set(request, refusal)
    },
    exempt(request: FastifyRequest): void {
      if (!refusals.has(request)) limit?.release(originOf(request))
    },
    /** @throws {HttpError} for one too many */
    require(request: FastifyRequest): void {
      const refusal = refusals.get(request)
      if (refusal) throw refusal
    },
  }
}
export type SubmissionLimit = ReturnType<typeof createSubmissionLimit>
