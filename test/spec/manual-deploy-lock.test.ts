import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AuditPage } from '../../contract/audit.ts'
import { DeployLockCalendar, DeployLockDetails } from '../../contract/deploy-lock.ts'
import type { HttpBrowser } from '../support/http-browser.ts'
import { aTask } from '../support/service.ts'
import { startWorld, type World, withToken } from '../support/world.ts'

let world: World
let ada: HttpBrowser
let bob: HttpBrowser
beforeAll(async () => {
  world = await startWorld({ parts: ['provider'] })
  ada = await world.signedIn('ada')
  bob = await world.signedIn('bob')
})
afterAll(() => world[Symbol.asyncDispose]())

const path = '/api/v1/deploy-lock'
const set = (browser: HttpBrowser, body?: unknown) => browser.change(world.service.url, path, 'POST', body)
const release = (browser: HttpBrowser) => browser.change(world.service.url, path, 'DELETE')
const detailsOf = async () => DeployLockDetails.parse((await world.service.request(`${path}/details`)).body)
const audit = async (browser = ada, query = '') =>
  AuditPage.parse(await (await browser.request(`${world.service.url}/api/v1/audit${query}`)).json())
const calendarOf = async (from: number, to: number) =>
  DeployLockCalendar.parse((await world.service.request(`${path}/calendar?from=${from}&to=${to}`)).body).intervals
const nowSeconds = () => Date.now() / 1000

describe('the deploy lock, set by hand (spec 2.4, 3, 4)', () => {
  test('any signed-in user sets it, tasks are refused, and another user releases it', async () => {
    const { service } = world
    const answer = await set(ada, { reason: 'database failover' })
    expect([answer.status, await answer.text()]).toEqual([200, '"deploy lock is set"'])
    expect((await service.request(path)).body).toBe(true)
    for (const headers of [{}, withToken]) {
      const { status, body, headers: answered } = await service.submitTask(aTask(), headers)
      expect([status, body]).toEqual([
        406,
        {
          status: 'rejected',
          error: 'lockdown is active, deployments are not accepted',
          code: 'locked',
          reason: 'database failover',
          set_by: 'ada',
        },
      ])
      expect(answered.get('retry-after')).toBeNull()
    }
    const details = await detailsOf()
    expect(details).toMatchObject({
      active: true,
      source: 'manual',
      until: null,
      reason: 'database failover',
      set_by: 'ada',
      next_window: null,
    })
    expect(Math.abs(Number(details.since) - nowSeconds())).toBeLessThan(30)
    const released = await release(bob)
    expect([released.status, await released.text()]).toEqual([200, '"deploy lock is released"'])
    expect((await service.submitTask()).status).toBe(202)
    expect(await detailsOf()).toMatchObject({ active: false, source: null, reason: null, set_by: null })
  })

  test('setting or releasing the lock twice is 200 and audited each time (B35)', async () => {
    const before = (await audit()).entries.length
    expect((await set(ada, { reason: 'first' })).status).toBe(200)
    const first = await detailsOf()
    const both = await Promise.all([set(ada, { reason: 'second' }), set(bob, { reason: 'second' })])
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    expect(await detailsOf()).toMatchObject({ since: first.since, reason: 'second' })
    const twice = await Promise.all([release(ada), release(bob)])
    expect(twice.map(({ status }) => status)).toEqual([200, 200])
    expect(await detailsOf()).toMatchObject({ active: false })
    const { entries } = await audit()
    expect(
      entries
        .slice(0, entries.length - before)
        .map(({ action, actor }) => `${action} ${actor}`)
        .sort(),
    ).toEqual(['lock_released ada', 'lock_released bob', 'lock_set ada', 'lock_set ada', 'lock_set bob'])
  })

  test('with an end it says when to try again, and is over then', async () => {
    const until = Math.ceil(nowSeconds()) + 600
    expect((await set(ada, { until })).status).toBe(200)
    expect(await detailsOf()).toMatchObject({ until, reason: null })
    const retryAfter = Number((await world.service.submitTask()).headers.get('retry-after'))
    expect(Math.abs(retryAfter - 600)).toBeLessThan(10)
    await world.database.query("UPDATE watcher.deploy_lock SET until = clock_timestamp() - interval '1 ms'")
    expect(await detailsOf()).toMatchObject({ active: false })
    expect((await world.service.submitTask()).status).toBe(202)
  })

  test('the calendar tells each lock with its reason, name and end, also after it is over', async () => {
    await release(ada)
    const from = nowSeconds()
    const until = Math.ceil(from) + 600
    await set(ada, { reason: 'failover', until })
    await set(bob, { reason: 'failover, longer' })
    const to = nowSeconds() + 60
    const calendar = () => calendarOf(from, to)
    const [first, second] = await calendar()
    expect(first).toMatchObject({ kind: 'manual', to: second?.from, reason: 'failover', set_by: 'ada' })
    expect(second).toMatchObject({ kind: 'manual', to: null, reason: 'failover, longer', set_by: 'bob' })
    await release(ada)
    const over = await calendar()
    expect(over).toEqual([first, { ...second, to: expect.any(Number) }])
    const end = Number(over[1]?.to)
    expect(Math.abs(end - nowSeconds())).toBeLessThan(30)
    expect(await calendarOf(end, to)).toEqual([])
    expect(await calendarOf(end - 0.001, to)).toEqual([over[1]])
    await set(ada, { until })
    expect(await calendarOf(until - 1, until)).toMatchObject([{ kind: 'manual', to: until, reason: null }])
    await release(ada)
  })

  test.for<[string, unknown, string]>([
    ['an end in the past', { until: 1 }, 'until: must be in the future'],
    ['an end that is no time', { until: 'tomorrow' }, 'until: must be a number'],
    ['an end beyond the calendar', { until: 1e300 }, 'until: must be epoch seconds'],
    ['a reason of two lines', { reason: 'a\nb' }, 'reason: must not contain control characters'],
    ['a reason too long', { reason: 'a'.repeat(501) }, 'reason: must be at most 500 characters long'],
    ['a list', [], 'body must be a JSON object'],
  ])('%s is refused and sets nothing', async ([, body, error]) => {
    const answer = await set(ada, body)
    expect([answer.status, await answer.json()]).toEqual([406, { status: 'invalid payload', error }])
    expect((await world.service.request(path)).body).toBe(false)
  })

  test.for<[string, RequestInit]>([
    ['neither body nor Content-Type', {}],
    ['a Content-Type and no body', { headers: { 'content-type': 'application/json' } }],
    ['an empty object', { headers: { 'content-type': 'application/json' }, body: '{}' }],
    ['null', { headers: { 'content-type': 'application/json' }, body: 'null' }],
    ['fields of others', { headers: { 'content-type': 'application/json' }, body: '{"set_by":"eve","since":1}' }],
  ])('%s is a good request', async ([, init]) => {
    const token = await world.idp.issueOpaqueToken('ada')
    const headers = { ...init.headers, 'Oidc-Authorization': `Bearer ${token}` }
    expect(await world.service.request(path, { ...init, method: 'POST', headers })).toMatchObject({ status: 200 })
    expect(await detailsOf()).toMatchObject({ active: true, set_by: 'ada' })
    expect(await world.service.request(path, { method: 'DELETE', headers })).toMatchObject({ status: 200 })
  })
})

test('a lock is checked after the body, the credential and the idempotency key', async () => {
  const { service } = world
  const keyed = (key: string, headers: Record<string, string> = {}) => ({ 'Idempotency-Key': key, ...headers })
  const submit = (task: unknown, headers: Record<string, string>) => service.submitTask(task, headers)
  const first = await submit(aTask(), keyed('first', withToken))
  const wrong = { 'Watcher-Deploy-Token': 'wrong' }
  await set(ada)
  expect((await submit({ ...aTask(), images: [] }, keyed('first'))).status).toBe(406)
  expect((await submit(aTask(), keyed('first', wrong))).status).toBe(401)
  expect(await submit(aTask(), keyed('first', withToken))).toMatchObject({ status: 202, body: first.body })
  expect((await submit(aTask({ author: 'bob' }), keyed('first', withToken))).status).toBe(409)
  const fresh = keyed('second', withToken)
  expect(await submit(aTask(), fresh)).toMatchObject({ status: 406, body: { status: 'rejected' } })
  expect((await submit(aTask(), wrong)).status).toBe(406)
  await release(ada)
  expect((await submit(aTask(), fresh)).status).toBe(202)
})

describe('the audit', () => {
  test('the audit names the actor of each change of the lock and each deployment (T46)', async () => {
    const [newest] = (await audit()).entries
    const from = newest?.id ?? 0
    const { service } = world
    const issue = { apps: ['shop*'], description: 'pipeline', expires: Math.ceil(nowSeconds()) + 600 }
    await set(ada, { reason: 'OPS-1' })
    await release(bob)
    const token = await (await ada.change(service.url, '/api/v1/deploy-tokens', 'POST', issue)).json()
    const { id: tokenId, token: secret } = token as { id: string; token: string }
    const idOf = (answer: { body: unknown }) => (answer.body as { id: string }).id
    const anonymous = idOf(await service.submitTask(aTask({ app: 'a' })))
    const withDeployToken = idOf(await service.submitTask(aTask({ app: 'b' }), withToken))
    const scoped = idOf(await service.submitTask(aTask(), { Authorization: `Bearer ${secret}` }))
    const accessToken = { 'Oidc-Authorization': await world.idp.issueOpaqueToken('bob') }
    const asBob = idOf(await service.submitTask(aTask({ app: 'c' }), accessToken))
    const byAda = await (await ada.change(service.url, '/api/v1/tasks', 'POST', aTask({ app: 'd' }))).json()
    const asAda = (byAda as { id: string }).id
    await bob.change(service.url, `/api/v1/tasks/${asAda}`, 'DELETE')
    await bob.change(service.url, `/api/v1/deploy-tokens/${tokenId}`, 'DELETE')

    const entries = (await audit()).entries.filter(({ id }) => id > from).toReversed()
    expect(
      entries.map((entry) => [entry.action, entry.actor_kind, entry.actor, entry.actor_name, entry.subject]),
    ).toEqual([
      ['lock_set', 'session', 'ada', 'ada', null],
      ['lock_released', 'session', 'bob', 'bob', null],
      ['token_issued', 'session', 'ada', 'ada', tokenId],
      ['task_submitted', 'anonymous', null, null, anonymous],
      ['task_submitted', 'deploy_token', null, null, withDeployToken],
      ['task_submitted', 'scoped_token', tokenId, 'pipeline', scoped],
      ['task_submitted', 'oidc', 'bob', 'bob', asBob],
      ['task_submitted', 'session', 'ada', 'ada', asAda],
      ['task_cancelled', 'session', 'bob', 'bob', asAda],
      ['token_revoked', 'session', 'bob', 'bob', tokenId],
    ])
    expect(entries[0]?.detail).toBe('OPS-1 (until released)')
    expect(JSON.stringify(entries)).not.toContain(secret)
    expect(entries.every(({ at }) => Math.abs(at - nowSeconds()) < 60)).toBe(true)
  })

  test('is read by pages, none twice and none left out', async () => {
    const whole = (await audit()).entries
    const pages: number[] = []
    for (let query = '?limit=3'; ; ) {
      const { entries, next } = await audit(ada, query)
      expect(entries.length).toBeLessThanOrEqual(3)
      pages.push(...entries.map(({ id }) => id))
      if (next === null) break
      query = `?limit=3&before=${next}`
    }
    expect(pages).toEqual(whole.map(({ id }) => id))
  })

  test('promises no page after one that is exactly full and the last', async () => {
    const { entries } = await audit()
    expect((await audit(ada, `?limit=${entries.length}`)).next).toBeNull()
    expect((await audit(ada, `?limit=${entries.length - 1}`)).next).toBe(entries.at(-2)?.id)
  })

  test('is read by action, one or several, and by pages', async () => {
    const whole = (await audit()).entries
    for (const actions of [['lock_set'], ['lock_set', 'lock_released'], ['token_revoked', 'task_submitted']]) {
      const expected = whole.filter(({ action }) => actions.includes(action))
      expect(expected.length).toBeGreaterThan(1)
      const query = `?action=${actions.join()}`
      expect((await audit(ada, query)).entries).toEqual(expected)
      const first = await audit(ada, `${query}&limit=1`)
      expect(first).toEqual({ entries: expected.slice(0, 1), next: expected[0]?.id })
      expect((await audit(ada, `${query}&before=${first.next}`)).entries).toEqual(expected.slice(1))
    }
  })

  test.for(['?action=', '?action=lock', '?action=lock_set,', '?action=lock_set,lock_sett'])(
    'an unknown action %s is refused with the words that there are',
    async (query) => {
      const answer = await ada.request(`${world.service.url}/api/v1/audit${query}`)
      expect(answer.status).toBe(400)
      expect(await answer.json()).toEqual({
        error: expect.stringMatching(/^action: must be one of lock_set, lock_released, .*, separated by commas$/),
      })
    },
  )

  test.for(['?limit=0', '?limit=1001', '?limit=x', '?before=-1'])('a page %s is refused', async (query) =>
    expect((await ada.request(`${world.service.url}/api/v1/audit${query}`)).status).toBe(400),
  )

  test('is not for everybody', async () =>
    expect(await world.service.request('/api/v1/audit')).toMatchObject({ status: 401 }))

  test.for(['UPDATE watcher.audit SET actor = NULL', 'DELETE FROM watcher.audit', 'TRUNCATE watcher.audit'])(
    'refuses %s',
    async (statement) => {
      await expect(world.database.query(statement)).rejects.toThrow('the audit is append-only')
      expect((await audit()).entries.length).toBeGreaterThan(9)
    },
  )

  test('lets retention delete in a transaction that says so, and nothing else', async () => {
    const { database } = world
    await database.query('BEGIN')
    try {
      await database.query("SET LOCAL watcher.retention = 'on'")
      const oldest = '(SELECT min(id) FROM watcher.audit)'
      expect((await database.query(`DELETE FROM watcher.audit WHERE id = ${oldest}`)).rowCount).toBe(1)
      await expect(database.query('UPDATE watcher.audit SET actor = NULL')).rejects.toThrow('append-only')
    } finally {
      await database.query('ROLLBACK')
    }
  })
})

test.for([
  [
    'its table is gone',
    'ALTER TABLE watcher.deploy_lock RENAME TO gone',
    'ALTER TABLE watcher.gone RENAME TO deploy_lock',
  ],
  ['its row is gone', 'DELETE FROM watcher.deploy_lock', 'INSERT INTO watcher.deploy_lock DEFAULT VALUES'],
] as const)(
  'while it cannot be read (%s) no task is accepted, and everything about it is 503 (decision 0003)',
  async (row) => {
    const [, spoil, mend] = row
    const { service, database } = world
    const submitWithKey = (key: string) =>
      service.submitTask(undefined, { 'Idempotency-Key': key.replaceAll(' ', '-') })
    await database.query(spoil)
    try {
      const error = { error: 'the deploy lock cannot be read, so no task is accepted' }
      for (const answer of [
        await service.submitTask(),
        // On new connections too, where the accepting function is not compiled yet.
        ...(await Promise.all(Array.from({ length: 16 }, (_, n) => submitWithKey(`${row[0]} ${n}`)))),
        await service.request(path),
        await service.request(`${path}/details`),
      ]) {
        expect(answer).toMatchObject({ status: 503, body: error })
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
      }
      for (const change of [await set(ada), await release(ada)])
        expect([change.status, await change.json()]).toEqual([503, error])
    } finally {
      await database.query(mend)
    }
    expect((await service.submitTask()).status).toBe(202)
  },
)
