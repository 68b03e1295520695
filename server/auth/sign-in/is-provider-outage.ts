import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client'

/** What the client library found in an answer that was sent whole and properly, and that does not vouch for anybody. */
const refusals = new Set([
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_INVALID_RESPONSE',
])
const passingErrors = new Set(['server_error', 'temporarily_unavailable'])

/** Whether a call failed because the provider does not work now, so that nothing is said about the user. */
export function isProviderOutage(error: unknown): boolean {
  if (error instanceof AuthorizationResponseError) return passingErrors.has(error.error)
  if (error instanceof ResponseBodyError) return !isRefusal(error.status) || passingErrors.has(error.error)
  if (error instanceof WWWAuthenticateChallengeError) return !isRefusal(error.status)
  if (!(error instanceof ClientError)) return true
  if (error.cause instanceof Response) return !isRefusal(error.cause.status)
  return !refusals.has(error.code ?? '')
}

/** 429 says nothing about the user either. */
const isRefusal = (status: number) => status >= 400 && status < 500 && status !== 408 && status !== 429
