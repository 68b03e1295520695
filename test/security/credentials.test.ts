import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mintJwt } from '../support/mint-jwt.ts'
import { presentCredentials } from '../support/present-credentials.ts'
import { aTask, startService } from '../support/service.ts'
import { startWorld, type World, withToken } from '../support/world.ts'
import { errorOf, idOf, textOf } from './answers.ts'

const jwtSecret = 'a secret of these tests, longer than 32 bytes'
const nowSeconds = () => Math.floor(Date.now() / 1000)
const goodClaims = () => ({ sub: 'ci', exp: nowSeconds() + 600 })
const goodJwt = mintJwt({ sub: 'ci', exp: 4_000_000_000 }, jwtSecret)
const goodToken: [string, string] = ['Watcher-Deploy-Token', withToken['Watcher-Deploy-Token']]

let world: World
let present: Awaited<ReturnType<typeof presentCredentials>>
beforeAll(async () => {
  world = await startWorld({ settings: { JWT_SECRET: jwtSecret } })
  present = await presentCredentials(world.service)
})
afterAll(() => world[Symbol.asyncDispose]())

const withJwt = (token: string) => present([['Authorization', `Bearer ${token}`]])

test('a forged JWT is rejected (T1)', async () => {
  const claims = { sub: 'ci', exp: 4_000_000_000 }
  const good = goodJwt.split('.')
  const tokens = [
    mintJwt(claims, jwtSecret, { alg: 'none' }),
    mintJwt(claims, jwtSecret, { alg: 'RS256' }),
    mintJwt(claims, withToken['Watcher-Deploy-Token']),
    `${good[0]}.${good[1]}.`,
    JSON.stringify({ protected: good[0], payload: good[1], signature: good[2] }),
  ]
  for (const answer of await Promise.all(tokens.map(withJwt)))
    expect([answer.status, errorOf(answer)]).toEqual([401, expect.stringMatching(/^credential rejected:/)])
  const odd = mintJwt(claims, jwtSecret, { alg: 'HS256', kid: "' OR 1=1" })
  expect((await withJwt(odd)).status).toBe(409) // a key id is never looked up
})

test('a weak or empty secret gives a warning or exit code 78 (T3; a metric tells of a weak one, too)', async () => {
  await using weak = await startService({ settings: { JWT_SECRET: 'changeme' } })
  expect(textOf(await weak.request('/metrics'))).toMatch(/^watcher_weak_jwt_secret 1$/m)
  expect(weak.logs().match(/JWT_SECRET is weak/g)).toHaveLength(1)
  expect(textOf(await world.service.request('/metrics'))).toMatch(/^watcher_weak_jwt_secret 0$/m)
})

test('secrets are never compared with == (T4)', () => {
  const folder = path.join(import.meta.dirname, '../../server/auth')
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?<!\.test)\.ts$/.test(name),
  )
  const secretName = /(?:token|secret|digest|password|presented)\w*(?:\(\))?/i
  const compared = new RegExp(
    `\\b${secretName.source} [!=]==? (?!undefined|''|null)|[!=]==? ${secretName.source}\\b`,
    'i',
  )
  const found = sources.flatMap((name) =>
    readFileSync(path.join(folder, name), 'utf8')
      .split('\n')
      .filter((line) => compared.test(line))
      .map((line) => `${name}: ${line.trim()}`),
  )
  expect(compared.test('if (token === expected) return')).toBe(true)
  expect(found).toEqual([])
})

test.for<[string, [string, string][], number]>([
  ['a good credential is taken', [['Authorization', `Bearer ${goodJwt}`]], 409],
  ['two good ones are taken', [['Authorization', goodJwt], goodToken], 409],
  ['no credential is rejected', [], 401],
  ['a bad one beside a good one is rejected', [['Authorization', `${goodJwt}x`], goodToken], 401],
  [
    'a good JWT sent twice is rejected',
    [
      ['Authorization', goodJwt],
      ['Authorization', goodJwt],
    ],
    401,
  ],
])('where a credential is needed, %s (spec 5.2)', async ([, headers, status]) => {
  const answer = await present(headers)
  expect(answer.status).toBe(status)
  expect(textOf(answer)).not.toContain(goodJwt)
})

test('extra fields and tasks without a credential change nothing of a task with one (T7)', async () => {
  const wanted = aTask({ app: 'mass-assignment', timeout: 77 })
  const names =
    'id status validated may_write mayWrite created updated commit owner fence cause progress status_reason diagnosis'
  const more = 'repository branch app_url is_rollback audit actor'
  const extra = Object.fromEntries(`${names} ${more}`.split(' ').map((name) => [name, 'forged']))
  const id = idOf(await world.service.submitTask({ ...extra, ...wanted }))
  const ended = await world.service.waitForEnd(id)
  expect(JSON.stringify(ended)).not.toContain('forged')
  expect(ended).toMatchObject({ ...wanted, id, status: 'app not found' })

  const protectedTask = idOf(await world.service.submitTask(aTask({ app: 'no-such-app-yet', timeout: 60 }), withToken))
  const rival = { ...extra, ...aTask({ app: 'no-such-app-yet', author: 'eve' }) }
  expect((await world.service.submitTask(rival)).status).toBe(202)
  const { status } = await world.service.waitForEnd(protectedTask)
  expect(status).toBe('app not found') // by its own verdict, not `cancelled` by one without a credential
})

describe('allowed_apps binds only where it is enforced (T8)', () => {
  const token = () => mintJwt({ ...goodClaims(), allowed_apps: ['app1'] }, jwtSecret)
  const headers = () => ({ Authorization: `Bearer ${token()}` })

  test('is told in the log and refuses nothing by default', async () => {
    expect((await world.service.submitTask(aTask({ app: 'app2' }), headers())).status).toBe(202)
    expect(world.service.logs()).toMatch(/allowed_apps/)
  })

  test('refuses another application, by its name, with JWT_ENFORCE_ALLOWED_APPS', async () => {
    await using strict = await startService({ settings: { JWT_SECRET: jwtSecret, JWT_ENFORCE_ALLOWED_APPS: 'true' } })
    const refused = await strict.submitTask(aTask({ app: 'app2' }), headers())
    expect([refused.status, errorOf(refused)]).toEqual([401, expect.stringContaining('app2')])
    expect((await strict.submitTask(aTask({ app: 'app1' }), headers())).status).toBe(202)
  })
})
