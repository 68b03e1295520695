import { createLocalJWKSet, errors, type FlattenedJWSInput, type JSONWebKeySet, type JWSHeaderParameters } from 'jose'
import { z } from 'zod'
import { readWithin } from '../../http/read-within.ts'
import { HttpError } from '../../http/request-errors.ts'
import { isLoopback } from '../../settings/address-text.ts'

/** A key that an issuer has withdrawn is believed no longer than this, while the issuer answers. */
const freshMs = 10 * 60_000
/** While it does not answer. */
const keptMs = 24 * 60 * 60_000
const betweenFetchesMs = 60_000
const afterFailureMs = 10_000
const limitMs = 5_000
const maxBytes = 256 * 1024

const Discovery = z.object({ issuer: z.string(), jwks_uri: z.string() })
const KeySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) })

/**
 * The signing keys of the issuers of ID tokens (OpenID Connect Discovery 1.0, RFC 7517). A key that is not known is looked
 * for at its issuer, once a minute, so that invented key ids cost nothing.
 * @param nowMs never goes back
 */
export function createIssuerKeys(nowMs: () => number) {
  const stores = new Map<string, ReturnType<typeof createKeys>>()
  return (issuer: string) => {
    const known = stores.get(issuer) ?? createKeys(issuer, nowMs)
    stores.set(issuer, known)
    return known
  }
}
export type IssuerKeys = ReturnType<typeof createIssuerKeys>

function createKeys(issuer: string, nowMs: () => number) {
  let keys: ReturnType<typeof createLocalJWKSet> | undefined
  let address: string | undefined
  let fetchedMs = Number.NEGATIVE_INFINITY
  let nextFetchMs = Number.NEGATIVE_INFINITY
  let pending: Promise<void> | undefined

  async function fetchKeys(): Promise<void> {
    nextFetchMs = nowMs() + betweenFetchesMs
    try {
      address ??= await discover(issuer)
      const set: JSONWebKeySet = KeySet.parse(await getJson(address))
      keys = createLocalJWKSet(set)
      fetchedMs = nowMs()
    } catch (error) {
      address = undefined // it may have moved
      nextFetchMs = nowMs() + afterFailureMs
      throw error
    }
  }

  /** @returns why the keys are not those of now; undefined where they are */
  async function refresh(): Promise<unknown> {
    if (!pending && nowMs() < nextFetchMs) return new Error('they were looked for within the last minute')
    pending ??= fetchKeys().finally(() => {
      pending = undefined
    })
    return pending.then(
      () => undefined,
      (error: unknown) => error,
    )
  }

  async function find(header: JWSHeaderParameters, token: FlattenedJWSInput) {
    try {
      return await keys?.(header, token)
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return undefined
      throw error
    }
  }

  /**
   * For jose's verification.
   * @throws {HttpError} 503 while it cannot be known whether the issuer has this key
   * @throws {errors.JWKSNoMatchingKey} where the issuer has no such key
   */
  return async (header: JWSHeaderParameters, token: FlattenedJWSInput) => {
    if (nowMs() < fetchedMs + freshMs) {
      const known = await find(header, token)
      if (known) return known
    }
    const failure = await refresh()
    const found = nowMs() < fetchedMs + keptMs ? await find(header, token) : undefined
    if (found) return found
    if (failure === undefined) throw new errors.JWKSNoMatchingKey()
    const seconds = Math.max(1, Math.ceil((nextFetchMs - nowMs()) / 1_000))
    throw new HttpError(
      503,
      `the key of this ID token is not known now, try again in ${seconds} s (keys of ${issuer})`,
      { 'Retry-After': String(seconds) },
      { cause: failure },
    )
  }
}

async function discover(issuer: string): Promise<string> {
  const document = Discovery.parse(await getJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`))
  if (document.issuer !== issuer) throw new Error(`the discovery document of ${issuer} is of another issuer`)
  const address = URL.parse(document.jwks_uri)
  const isSafe = address?.protocol === 'https:' || (address?.protocol === 'http:' && isLoopback(address.hostname))
  if (!isSafe) throw new Error(`jwks_uri of ${issuer} is not https`)
  return document.jwks_uri
}

async function getJson(url: string): Promise<unknown> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(limitMs), redirect: 'error' })
  if (!answer.ok || !answer.body) {
    await answer.body?.cancel()
    throw new Error(`${url} answered ${answer.status}`)
  }
  const text = await readWithin(answer.body, maxBytes)
  if (text === undefined) throw new Error(`${url} answered more than ${maxBytes} bytes`)
  return JSON.parse(text)
}
