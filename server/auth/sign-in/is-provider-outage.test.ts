import { ClientError, ResponseBodyError, WWWAuthenticateChallengeError } from 'openid-client'
import { expect, test } from 'vitest'
import { isProviderOutage } from './is-provider-outage.ts'

const body = (status: number, error: string) =>
  new ResponseBodyError('said no', { cause: { error }, response: new Response(null, { status }) })
const challenge = (status: number) =>
  new WWWAuthenticateChallengeError('challenge', { cause: [], response: new Response(null, { status }) })
const found = (code: string, cause?: unknown) => Object.assign(new ClientError('found', { cause }), { code })

test.for<[string, unknown, boolean]>([
  ['a grant that is none', body(400, 'invalid_grant'), false],
  ['a server error with 400', body(400, 'server_error'), true],
  ['an error with 500', body(500, 'invalid_grant'), true],
  ['too many requests', body(429, 'slow_down'), true],
  ['a challenge', challenge(401), false],
  ['a challenge with 503', challenge(503), true],
  ['401 without a challenge', found('OAUTH_RESPONSE_IS_NOT_CONFORM', new Response(null, { status: 401 })), false],
  ['502', found('OAUTH_RESPONSE_IS_NOT_CONFORM', new Response(null, { status: 502 })), true],
  ['a claim of somebody else', found('OAUTH_JWT_CLAIM_COMPARISON_FAILED'), false],
  ['a subject of somebody else', found('OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED'), false],
  ['no answer in time', found('OAUTH_TIMEOUT'), true],
  ['an answer that is no JSON', found('OAUTH_PARSE_ERROR'), true],
  ['nobody there', new TypeError('fetch failed'), true],
  ['something unheard of', new Error('?'), true],
])('%s is an outage: %s', ([, error, expected]) => expect(isProviderOutage(error)).toBe(expected))
