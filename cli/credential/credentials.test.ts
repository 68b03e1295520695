import { tmpdir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { createHttp } from '../http/http.ts'
import type { CredentialChoice } from './choose-credential.ts'
import { bearer } from './credential.ts'
import { createCredentials } from './credentials.ts'
import { answer, issueUntil, startEndpoint, tokenUntil } from './start-endpoint.ts'

const start = 1_800_000_000

/** The credentials of a run whose clock stands at `clock.now`. */
function begin(choice: CredentialChoice, { signal = new AbortController().signal } = {}) {
  const clock = { now: start }
  const [secrets, reasons]: [string[], string[]] = [[], []]
  const credentials = createCredentials(choice, {
    audience: 'https://watcher.example',
    open: (server) => createHttp({ server, variables: {} }),
    variables: { PATH: tmpdir() },
    signal,
    onSecret: (secret) => secrets.push(secret),
    onNone: (why) => reasons.push(why),
    now: () => clock.now,
  })
  return { ...credentials, clock, secrets, reasons }
}
const github = (requestUrl: string): CredentialChoice => ({ kind: 'github', requestUrl, requestToken: 'request' })

describe('an ID token that is requested', () => {
  const [first, second] = [start + 300, start + 600]

  test('is kept until less than a minute of it is left', async () => {
    await using endpoint = await startEndpoint(issueUntil(first), issueUntil(second))
    const { current, clock, secrets } = begin(github(endpoint.address))
    expect(await current()).toEqual(bearer(tokenUntil(first)))
    clock.now = first - 60
    expect(await current()).toEqual(bearer(tokenUntil(first)))
    clock.now = first - 59
    expect(await current()).toEqual(bearer(tokenUntil(second)))
    expect(endpoint.requests).toHaveLength(2)
    expect(secrets).toEqual([tokenUntil(first), tokenUntil(second)])
  })

  test('is requested once for all that ask at the same time', async () => {
    await using endpoint = await startEndpoint(issueUntil(first))
    const { current } = begin(github(endpoint.address))
    const credentials = await Promise.all([current(), current(), current()])
    expect(new Set(credentials.map((one) => one?.secret)).size).toBe(1)
    expect(endpoint.requests).toHaveLength(1)
  })

  test('is kept where its end cannot be read', async () => {
    await using endpoint = await startEndpoint(answer(200, '{"value":"a.b.c"}'))
    const { current, clock } = begin(github(endpoint.address))
    await current()
    clock.now = first
    expect(await current()).toEqual(bearer('a.b.c'))
    expect(endpoint.requests).toHaveLength(1)
  })

  test('is kept after an interruption, which has no time for another one', async () => {
    await using endpoint = await startEndpoint(issueUntil(first))
    const interruption = new AbortController()
    const { current, clock } = begin(github(endpoint.address), interruption)
    await current()
    clock.now = first
    interruption.abort()
    expect(await current()).toEqual(bearer(tokenUntil(first)))
  })

  test('is requested again by the next who asks, where there was no answer', async () => {
    await using endpoint = await startEndpoint(answer(403), issueUntil(first))
    const { current, isSent } = begin(github(endpoint.address))
    await expect(current()).rejects.toMatchObject({ code: 4 })
    expect(isSent()).toBe(false)
    expect(await current()).toEqual(bearer(tokenUntil(first)))
    expect(isSent()).toBe(true)
  })
})

test('Buildkite without its agent: none for the whole run, and why, once', async () => {
  const { current, isSent, reasons } = begin({ kind: 'buildkite' })
  expect([await current(), await current(), isSent()]).toEqual([undefined, undefined, false])
  expect(reasons).toEqual(['no ID token from Buildkite: buildkite-agent is not in PATH'])
})

test('a given ID token stays although it is over', async () => {
  const credential = bearer(tokenUntil(start - 1))
  const { current, secrets } = begin({ kind: 'given', name: 'WATCHER_ID_TOKEN', credential })
  expect([await current(), await current()]).toEqual([credential, credential])
  expect(secrets).toEqual([credential.secret])
})

test('none', async () => {
  const { current, secrets } = begin({ kind: 'none', why: 'not_set' })
  expect([await current(), secrets]).toEqual([undefined, []])
})
