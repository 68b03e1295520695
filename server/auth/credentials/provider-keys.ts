import { createLocalJWKSet, errors, type FlattenedJWSInput, type JSONWebKeySet, type JWSHeaderParameters } from 'jose'
import { z } from 'zod'
import { IdentityProviderUnavailableError } from '../access/auth-errors.ts'

type Dependencies = {
  /** Address of the keys. Rejects if the provider does not answer. */
  readonly keysUrl: () => Promise<string>
  /** Else an address without https is rejected: a man in the middle could supply other keys. */
  readonly isHttpAllowed: boolean
  readonly nowMs: () => number
}

const betweenFetchesMs = 60_000
const afterFailureMs = 30_000
/** A key that the provider has withdrawn is believed no longer than this, while the provider answers. */
const believedMs = 10 * 60_000
const limitMs = 5_000
const KeySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) })

/**
 * The provider's signing keys. A key that is not known is looked for at the provider, once a minute for all of them, so that
 * invented key ids cost nothing; a failed fetch is repeated after half a minute and leaves the keys that are there.
 */
export function createProviderKeys({ keysUrl, isHttpAllowed, nowMs }: Dependencies) {
  let keys: ReturnType<typeof createLocalJWKSet> | undefined
  let nextFetchMs = Number.NEGATIVE_INFINITY
  let fetchedMs = Number.NEGATIVE_INFINITY
  let pending: Promise<void> | undefined

  async function fetchKeys(): Promise<void> {
    nextFetchMs = nowMs() + afterFailureMs
    const url = await keysUrl()
    if (!isHttpAllowed && !url.startsWith('https:')) throw new Error('jwks_uri of the identity provider is not https')
    const answer = await fetch(url, { signal: AbortSignal.timeout(limitMs), redirect: 'error' })
    if (!answer.ok) {
      await answer.body?.cancel()
      throw new Error(`JWKS request returned ${answer.status}`)
    }
    const set: JSONWebKeySet = KeySet.parse(await answer.json())
    keys = createLocalJWKSet(set)
    fetchedMs = nowMs()
    nextFetchMs = fetchedMs + betweenFetchesMs
  }

  async function refresh(): Promise<void> {
    if (!pending && nowMs() < nextFetchMs) return
    pending ??= fetchKeys().finally(() => {
      pending = undefined
    })
    await pending
  }

  /** For jose's verification. @throws {IdentityProviderUnavailableError} while no key at all is known */
  return async (header: JWSHeaderParameters, token: FlattenedJWSInput) => {
    const known = nowMs() < fetchedMs + believedMs ? await keyOf(header, token) : undefined
    if (known) return known
    const failure = await refresh().then(
      () => undefined,
      (error: unknown) => error,
    )
    if (!keys) throw new IdentityProviderUnavailableError({ cause: failure })
    const found = await keyOf(header, token)
    if (!found) throw new errors.JWKSNoMatchingKey()
    return found
  }

  async function keyOf(header: JWSHeaderParameters, token: FlattenedJWSInput) {
    try {
      return await keys?.(header, token)
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return undefined
      throw error
    }
  }
}
export type ProviderKeys = ReturnType<typeof createProviderKeys>
