import { ForbiddenError, IdentityProviderUnavailableError, UnauthorizedError } from '../auth/access/auth-errors.ts'
import {
  DeploymentsLockedError,
  IdempotencyKeyUsedError,
  InvalidSubmissionError,
  ReadTimedOutError,
  TaskNotFoundError,
  TaskOverError,
  TooManyUnfinishedError,
} from '../deployments/task-errors.ts'
import { HttpError, InvalidRequestError } from '../http/request-errors.ts'
import { echo, joinIssues } from '../http/server/error-text.ts'
import type { ErrorAnswer } from '../http/server/http-server.ts'
import { InvalidJsonError } from '../http/server/json-body.ts'
import { DeployLockUnknownError, DeployLockUnreadableError } from '../locks/deploy-lock-errors.ts'
import type { RejectionReason } from '../metrics/metrics.ts'
import { isDatabaseUnreachable } from '../storage/database-unreachable.ts'

/** Seconds after which a client may try again when the database was away: it is usually back by then. */
const databaseRetrySeconds = 5
const providerRetrySeconds = 10
const unfinishedRetrySeconds = 10

/**
 * The one place that turns an error into an answer (spec 7, decision 0009). A text of ours is shown; that of an
 * unexpected error is not, since it may name hosts, queries or files: the request id connects it with the log.
 */
export function answerTo(error: unknown, requestId: string): ErrorAnswer {
  if (error instanceof InvalidRequestError) return invalidRequest(error)
  if (error instanceof InvalidJsonError) return invalidPayload([error.message])
  if (error instanceof HttpError) return refused(error)
  if (error instanceof TaskNotFoundError) return { status: 404, body: { id: echo(error.id), error: error.message } }
  if (error instanceof InvalidSubmissionError) return invalidPayload([error.message])
  if (error instanceof TaskOverError) return { status: 409, body: { error: error.message, status: error.status } }
  if (error instanceof IdempotencyKeyUsedError) return { status: 409, body: { error: error.message } }
  if (error instanceof DeploymentsLockedError) return locked(error)
  if (error instanceof TooManyUnfinishedError)
    return { status: 429, headers: { 'Retry-After': String(unfinishedRetrySeconds) }, body: { error: error.message } }
  if (error instanceof ReadTimedOutError) return { status: 503, body: { error: error.message } }
  if (error instanceof DeployLockUnknownError) return { status: 503, body: { error: joinIssues([error.message]) } }
  if (error instanceof DeployLockUnreadableError)
    return { status: 503, headers: { 'Retry-After': String(databaseRetrySeconds) }, body: { error: error.message } }
  if (error instanceof UnauthorizedError) return unauthorized(error)
  if (error instanceof ForbiddenError) return { status: 403, body: { error: joinIssues([error.message]) } }
  if (error instanceof IdentityProviderUnavailableError) return providerUnavailable(error)
  // First the framework's own: a client that breaks off looks like a broken database connection, but has a status.
  const ofTheFramework = ofFastify(error)
  if (ofTheFramework) return ofTheFramework
  if (isDatabaseUnreachable(error)) return databaseUnreachable
  return { status: 500, body: { error: `internal error, request ${requestId}` } }
}

/** Why a submission with this answer was not accepted; undefined where the service could not accept it. */
export function rejectionReason(error: unknown, status: number): RejectionReason | undefined {
  if (error instanceof DeploymentsLockedError) return 'lock'
  if (status === 401 || status === 403) return 'credential'
  if (status === 429) return 'limit'
  return status < 500 ? 'validation' : undefined
}

function refused({ status, headers, message }: HttpError): ErrorAnswer {
  return { status, headers, body: { error: joinIssues([message]) } }
}

function invalidRequest({ part, issues }: InvalidRequestError): ErrorAnswer {
  if (part === 'body' || part === 'headers') return invalidPayload(issues)
  return { status: part === 'params' ? 404 : 400, body: { error: joinIssues(issues) } }
}

function invalidPayload(issues: readonly string[]): ErrorAnswer {
  return { status: 406, body: { status: 'invalid payload', error: joinIssues(issues) } }
}

function locked({ message, lock }: DeploymentsLockedError): ErrorAnswer {
  const { retryAfterSeconds, until, reason, setBy } = lock
  const body = {
    status: 'rejected',
    error: message,
    code: 'locked',
    ...(until === null ? {} : { until: until.getTime() / 1_000 }),
    ...(reason === null ? {} : { reason }),
    ...(setBy === null ? {} : { set_by: setBy }),
  }
  return { status: 406, body, ...(retryAfterSeconds ? { headers: { 'Retry-After': String(retryAfterSeconds) } } : {}) }
}

function unauthorized({ message }: UnauthorizedError): ErrorAnswer {
  return {
    status: 401,
    headers: { 'WWW-Authenticate': 'Bearer' },
    body: { status: 'You are not authorized to perform this action', error: joinIssues([message]) },
  }
}

const providerUnavailable = ({ message }: IdentityProviderUnavailableError): ErrorAnswer => ({
  status: 503,
  headers: { 'Retry-After': String(providerRetrySeconds) },
  body: { error: message },
})

const databaseUnreachable: ErrorAnswer = {
  status: 503,
  headers: { 'Retry-After': String(databaseRetrySeconds) },
  body: { error: 'the database does not answer, try again later' },
}

/** What the framework itself refuses; its own texts are replaced. */
function ofFastify(error: unknown): ErrorAnswer | undefined {
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined
  switch (error.statusCode) {
    case 400:
      return { status: 400, body: { error: 'malformed request' } }
    case 403: // a path below the static files that is not spelled plainly
    case 404:
      return { status: 404, body: { error: 'not found' } }
    case 413:
      return { status: 413, headers: { Connection: 'close' }, body: { error: 'body: must be at most 1 MiB' } }
    case 415:
      return { status: 415, body: { error: 'Content-Type is not supported: send application/json' } }
    default:
      return undefined
  }
}
