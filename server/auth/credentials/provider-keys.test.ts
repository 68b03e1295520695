import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { generateKeyPair, type JWK, jwtVerify, SignJWT } from 'jose'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeKey, type SigningKey } from '../../../test/support/signing-key.ts'
import { IdentityProviderUnavailableError } from '../access/auth-errors.ts'
import { createProviderKeys } from './provider-keys.ts'

let server: Server
let published: { status: number; body: string }
let fetches: number
let nowMs: number
let keys: ReturnType<typeof createProviderKeys>
let keysUrl: () => Promise<string>
let first: SigningKey

const publish = (...some: SigningKey[]) => {
  published = { status: 200, body: JSON.stringify({ keys: some.map(({ jwk }) => publicPart(jwk)) }) }
}
const publicPart = ({ kty, n, e, kid, alg }: JWK) => ({ kty, n, e, kid, alg })

beforeEach(async () => {
  first = await makeKey('first')
  publish(first)
  fetches = 0
  nowMs = 0
  server = createServer((_request, response) => {
    fetches++
    response.writeHead(published.status, { 'content-type': 'application/json' }).end(published.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // listening on TCP, so not a pipe's path
  keysUrl = async () => `http://127.0.0.1:${port}/`
  keys = createProviderKeys({ keysUrl, isHttpAllowed: true, nowMs: () => nowMs })
})
afterEach(() => new Promise((resolve) => server.close(resolve)))

const tokenOf = ({ jwk, privateKey }: SigningKey, kid = jwk.kid ?? '') =>
  new SignJWT({ sub: 'ada' }).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey)
const isGood = async (token: string) => {
  try {
    await jwtVerify(token, keys)
    return true
  } catch (error) {
    if (error instanceof IdentityProviderUnavailableError) throw error
    return false
  }
}

describe("the provider's keys", () => {
  test('are not fetched over http, unless that is allowed', async () => {
    keys = createProviderKeys({ keysUrl, isHttpAllowed: false, nowMs: () => nowMs })
    const failure = await isGood(await tokenOf(first)).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(IdentityProviderUnavailableError)
    expect(failure).toMatchObject({ cause: { message: 'jwks_uri of the identity provider is not https' } })
    expect(fetches).toBe(0)
  })

  test('are fetched once, for requests that come together too', async () => {
    const token = await tokenOf(first)
    expect(await Promise.all([isGood(token), isGood(token), isGood(token)])).toEqual([true, true, true])
    expect(await isGood(token)).toBe(true)
    expect(fetches).toBe(1)
  })

  test('a rotated key is found a minute after the last look; the old one no longer counts then', async () => {
    const second = await makeKey('second')
    const [old, rotated] = [await tokenOf(first), await tokenOf(second)]
    expect(await isGood(old)).toBe(true)
    publish(second)
    nowMs = 60_000
    expect(await isGood(rotated)).toBe(true)
    expect(await isGood(old)).toBe(false)
    expect(fetches).toBe(2)
  })

  test('a thousand invented key ids cost one look a minute', async () => {
    const { privateKey } = await generateKeyPair('RS256')
    const invented = await tokenOf({ jwk: first.jwk, privateKey }, 'invented')
    expect(await isGood(await tokenOf(first))).toBe(true)
    for (let at = 0; at < 1000; at++) {
      nowMs += 60
      expect(await isGood(at % 2 ? invented : invented.replace(/^[^.]+/, header(`kid-${at}`)))).toBe(false)
    }
    expect(await isGood(await tokenOf(first))).toBe(true)
    expect(fetches).toBe(2)
  })

  test.for<[string, number, string]>([
    ['an error', 500, '{}'],
    ['no JSON', 200, '<html>'],
    ['no keys', 200, '{"keys":"none"}'],
    ['keys that are none', 200, '{"keys":[null,5]}'],
  ])('%s instead of keys leaves those that are there, and is looked at twice a minute', async ([, status, body]) => {
    const token = await tokenOf(first)
    expect(await isGood(token)).toBe(true)
    published = { status, body }
    for (nowMs = 11 * 60_000; nowMs < 12 * 60_000; nowMs += 1_000) expect(await isGood(token)).toBe(true)
    expect(fetches).toBe(3)
  })

  test('while none is known nothing is said about the caller, and they are asked for again after half a minute', async () => {
    published = { status: 200, body: 'garbage' }
    const token = await tokenOf(first)
    for (const at of [0, 10_000, 29_999]) {
      nowMs = at
      await expect(isGood(token)).rejects.toThrow(IdentityProviderUnavailableError)
    }
    expect(fetches).toBe(1)
    publish(first)
    nowMs = 30_000
    expect(await isGood(token)).toBe(true)
  })

  test('a key that was withdrawn is believed for ten minutes at most', async () => {
    const token = await tokenOf(first)
    expect(await isGood(token)).toBe(true)
    publish(await makeKey('second'))
    nowMs = 10 * 60_000 - 1
    expect(await isGood(token)).toBe(true)
    nowMs += 1
    expect(await isGood(token)).toBe(false)
  })
})

const header = (kid: string) => Buffer.from(JSON.stringify({ alg: 'RS256', kid })).toString('base64url')
