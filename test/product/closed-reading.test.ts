import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { IssuedDeployToken } from '../../contract/auth.ts'
import { TaskList } from '../../contract/task.ts'
import { TaskEvents } from '../../contract/task-event.ts'
import { readEvents } from '../support/event-reader.ts'
import type { HttpBrowser } from '../support/http-browser.ts'
import { mintJwt } from '../support/mint-jwt.ts'
import { aTask } from '../support/service.ts'
import { startWorld, type World, withToken } from '../support/world.ts'

const jwtSecret = 'a secret of these tests, long enough to be good'
const nowSeconds = () => Math.floor(Date.now() / 1000)
const jwt = mintJwt({ exp: nowSeconds() + 3600 }, jwtSecret)

let world: World
let scoped: { Authorization: string }
const ids: Record<string, string> = {}
beforeAll(async () => {
  world = await startWorld({
    parts: ['provider'],
    settings: {
      IDP_REQUIRE_READ_AUTH: 'true',
      PUBLIC_BADGES: 'true',
      IDP_PRIVILEGED_GROUPS: 'platform',
      JWT_SECRET: jwtSecret,
    },
  })
  for (const app of ['shop', 'team-a', 'team-b'])
    ids[app] = ((await world.service.submitTask(aTask({ app }))).body as { id: string }).id
  const ada = await world.signedIn('ada', ['platform'])
  const request = { apps: ['team-?'], description: 'teams', expires: nowSeconds() + 600 }
  const issued = await ada.change(world.service.url, '/api/v1/deploy-tokens', 'POST', request)
  scoped = { Authorization: IssuedDeployToken.parse(await issued.json()).token }
})
afterAll(() => world[Symbol.asyncDispose]())

const read = (path: string, headers: Record<string, string> = {}) => world.service.request(path, { headers })
const closed = () => [
  '/api/v1/tasks',
  '/api/v1/tasks/',
  `/api/v1/tasks/${ids.shop}`,
  `/api/v1/tasks/${ids.shop}/events`,
  '/api/v1/tasks/00000000-0000-0000-0000-000000000000',
  '/api/v1/tasks?status=wrong',
  '/api/v1/events',
  '/api/v1/tasks/counts',
  '/api/v1/tasks/names?field=app',
  '/api/v1/apps/summary',
  '/api/v1/versions',
  '/api/v1/history',
  '/api/v1/settings',
  '/api/v1/status',
  '/api/v1/deploy-lock/details',
  '/api/v1/deploy-lock/calendar?from=1&to=2',
  '/api/v1/version',
  '/api/v1/reachability',
]

describe('IDP_REQUIRE_READ_AUTH=true', () => {
  test('closes reading to callers without a credential, before anything is told', async () => {
    for (const path of closed()) {
      expect(await read(path), path).toMatchObject({
        status: 401,
        body: { error: expect.stringContaining('no credential was given') },
      })
    }
    const stream = await read('/api/v1/events', { accept: 'text/event-stream' })
    expect(stream.status).toBe(401)
  })

  test('closes HEAD as it closes GET, which would else tell by its status and length', async () => {
    for (const path of closed()) expect((await world.service.request(path, { method: 'HEAD' })).status, path).toBe(401)
  })

  test('tells why deployments are locked to callers with a credential alone', async () => {
    const { service } = world
    const ada = await world.signedIn('ada', ['platform'])
    await ada.change(service.url, '/api/v1/deploy-lock', 'POST', { reason: 'OPS-2214' })
    try {
      const locked = { status: 'rejected', error: 'lockdown is active, deployments are not accepted', code: 'locked' }
      const known = { ...locked, reason: 'OPS-2214', set_by: 'ada' }
      expect(await service.submitTask(aTask(), withToken)).toMatchObject({ status: 406, body: known })
      for (const headers of [{}, { 'Watcher-Deploy-Token': 'wrong' }])
        expect((await service.submitTask(aTask(), headers)).body).toEqual(locked)
    } finally {
      await ada.change(service.url, '/api/v1/deploy-lock', 'DELETE')
    }
  })

  test.for([
    '/api/v1/deploy-lock',
    '/api/v1/config',
    '/api/v1/session',
    '/api/v1/openapi.json',
    '/healthz',
    '/livez',
    '/readyz',
    '/metrics',
  ])('leaves %s open', async (path) => expect(await read(path)).toMatchObject({ status: 200 }))

  test('any good credential opens it: deploy token, JWT, access token, session', async () => {
    const accessToken = await world.idp.issueOpaqueToken('ada')
    const bob = await world.signedIn('bob', ['developers'])
    const cookie = [...bob.cookies(world.service.url)].map(([name, value]) => `${name}=${value}`).join()
    for (const headers of [
      withToken,
      { Authorization: `Bearer ${jwt}` },
      { 'Oidc-Authorization': `Bearer ${accessToken}` },
      { cookie },
    ]) {
      expect(await read('/api/v1/tasks', headers)).toMatchObject({ status: 200, body: { total: 3 } })
      expect(await read(`/api/v1/tasks/${ids.shop}`, headers)).toMatchObject({ status: 200 })
    }
  })

  test('a stream ends soon after its reader has signed out, or its credential has expired or was revoked', async () => {
    const { service } = world
    const ada = await world.signedIn('ada', ['platform'])
    const request = { description: 'all', expires: nowSeconds() + 600 }
    const issued = await ada.change(service.url, '/api/v1/deploy-tokens', 'POST', request)
    const { id, token } = IssuedDeployToken.parse(await issued.json())
    const [bob, carol] = [await world.signedIn('bob'), await world.signedIn('carol')]
    const cookieOf = (browser: HttpBrowser) =>
      [...browser.cookies(service.url)].map(([name, value]) => `${name}=${value}`).join()
    const follow = (headers: Record<string, string>) => readEvents(`${service.url}/api/v1/events`, { headers })
    const ending = [
      await follow({ cookie: cookieOf(bob) }),
      await follow({ Authorization: token }),
      await follow({ Authorization: mintJwt({ exp: nowSeconds() + 2 }, jwtSecret) }),
    ]
    const staying = await follow({ cookie: cookieOf(carol) })
    const unusedFor = "clock_timestamp() - last_used > interval '2 min'"
    await world.database.query("UPDATE watcher.sessions SET last_used = last_used - interval '2 min'")
    expect((await bob.change(service.url, '/auth/logout', 'POST')).status).toBe(200)
    expect((await ada.change(service.url, `/api/v1/deploy-tokens/${id}`, 'DELETE')).status).toBe(200)
    await Promise.all(ending.map(({ ended }) => ended))
    const { id: task } = (await service.submitTask(aTask({ app: 'later' }))).body as { id: string }
    await expect.poll(() => staying.events.some((event) => event.task_id === task)).toBe(true)
    staying.close()
    // A stream that stays open is no use of the session, which would never end otherwise.
    const { rows } = await world.database.query(
      `SELECT ${unusedFor} AS is_unused FROM watcher.sessions WHERE name = 'carol'`,
    )
    expect(rows).toEqual([{ is_unused: true }])
  })

  test('a bad credential does not learn which tasks exist', async () => {
    const bad = { Authorization: mintJwt({ exp: nowSeconds() - 60 }, jwtSecret) }
    const unknown = '00000000-0000-7000-8000-000000000000'
    for (const suffix of ['', '/events']) {
      const [known, missing] = [
        await read(`/api/v1/tasks/${ids.shop}${suffix}`, bad),
        await read(`/api/v1/tasks/${unknown}${suffix}`, bad),
      ]
      expect([known.status, missing.status, missing.body]).toEqual([401, 401, known.body])
    }
    for (const id of [unknown, 'nope']) {
      expect(await read(`/api/v1/tasks/${id}`, bad)).toMatchObject({ status: 401 })
      expect(await read(`/api/v1/tasks/${id}`, { Authorization: jwt })).toMatchObject({ status: 404, body: { id } })
    }
  })

  test('who may not cancel does not learn which tasks exist', async () => {
    const cancel = (id: string | undefined, headers: Record<string, string> = {}) =>
      world.service.request(`/api/v1/tasks/${id}`, { method: 'DELETE', headers })
    const unknown = '00000000-0000-7000-8000-000000000000'
    const bad = { Authorization: mintJwt({ exp: nowSeconds() - 60 }, jwtSecret) }
    for (const headers of [{}, bad]) {
      const refusals = [await cancel(ids.shop, headers), await cancel(unknown, headers), await cancel('nope', headers)]
      expect(refusals.map(({ status }) => status)).toEqual([401, 401, 401])
      expect(new Set(refusals.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    }
    for (const id of [ids.shop, unknown]) {
      expect(await cancel(id, scoped)).toMatchObject({ status: 404, body: { id, error: 'task not found' } })
    }
  })

  test('a retry with a newer token may go on reading its task when that token has expired', async () => {
    const fresh = (jti: string) => ({
      Authorization: mintJwt({ exp: nowSeconds() + 2, sub: 'pipeline', jti }, jwtSecret),
    })
    const [first, second] = [fresh('first'), fresh('second')]
    const submit = async (headers: Record<string, string>) =>
      (await world.service.submitTask(aTask({ app: 'retried' }), { ...headers, 'Idempotency-Key': 'retried' }))
        .body as { id: string }
    const { id } = await submit(first)
    expect(await submit(second)).toMatchObject({ id })
    expect(await submit(second)).toMatchObject({ id })
    await expect.poll(async () => (await read('/api/v1/tasks', second)).status).toBe(401)
    for (const token of [first, second]) {
      expect(await read(`/api/v1/tasks/${id}`, token)).toMatchObject({ status: 200, body: { app: 'retried' } })
    }
    expect(await read(`/api/v1/tasks/${ids.shop}`, second)).toMatchObject({ status: 401 })
  })

  test('a scoped token reads tasks of its applications only', async () => {
    const { tasks, total } = TaskList.parse((await read('/api/v1/tasks', scoped)).body)
    expect([tasks.map(({ app }) => app).sort(), total]).toEqual([['team-a', 'team-b'], 2])
    expect(await read('/api/v1/tasks?app=shop', scoped)).toMatchObject({ body: { total: 0 } })
    for (const suffix of ['', '/events']) {
      expect(await read(`/api/v1/tasks/${ids['team-a']}${suffix}`, scoped)).toMatchObject({ status: 200 })
      expect(await read(`/api/v1/tasks/${ids.shop}${suffix}`, scoped)).toMatchObject({
        status: 404,
        body: { error: 'task not found' },
      })
    }
  })

  test('a scoped token is told of its applications only, where many are counted', async () => {
    await world.database.query('INSERT INTO watcher.confirmed_applications (app) VALUES ($1), ($2)', ['team-a', 'shop'])
    expect(await read('/api/v1/apps/summary', scoped)).toMatchObject({ body: { apps: [{ app: 'team-a' }] } })
    expect(await read('/api/v1/tasks/counts', scoped)).toMatchObject({ body: { counts: { 'in progress': 2 } } })
    expect(await read('/api/v1/tasks/names?field=app', scoped)).toMatchObject({ body: { names: ['team-a', 'team-b'] } })
    await world.database.query("UPDATE watcher.tasks SET status = 'failed' WHERE app IN ('team-a', 'shop')")
    expect(await read('/api/v1/history', scoped)).toMatchObject({
      body: { total: { counts: { failed: 1 } }, most_failing: [{ app: 'team-a' }] },
    })
  })

  test('a badge needs no credential, and all that it does not show is the same grey', async () => {
    const badge = async (app: string) => {
      const { status, headers, body } = await read(`/api/v1/apps/${app}/badge.svg`)
      return { status, headers: [...headers].filter(([name]) => name !== 'date'), body }
    }
    const store = (app: string, status: string, tag: string, minutesAgo: number) =>
      world.database.query(
        `INSERT INTO watcher.tasks (id, created, deadline, app, author, project, images, timeout_seconds, refresh, may_write, status)
         VALUES (gen_random_uuid(), now() - make_interval(mins => $4), now(), $1, 'ada', 'p', jsonb_build_array(jsonb_build_object('image', 'r/x', 'tag', $3::text)), 60, true, true, $2)`,
        [app, status, tag, minutesAgo],
      )
    await world.database.query("INSERT INTO watcher.confirmed_applications VALUES ('badge/shop'), ('badge-new')")
    await store('badge/shop', 'failed', 'v1', 3)
    await store('badge/shop', 'deployed', '<v2>', 2)
    await store('badge/shop', 'cancelled', 'v3', 1)
    await store('badge-invented', 'deployed', 'v9', 1)
    const shown = await badge('badge%2Fshop')
    expect(shown).toMatchObject({ status: 200, body: expect.stringContaining('>deployed &#60;v2&#62;</text>') })
    expect(Object.fromEntries(shown.headers)).toMatchObject({
      'cache-control': 'max-age=60',
      'content-type': 'image/svg+xml; charset=utf-8',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
    })
    expect(await badge('badge%2fshop')).toEqual(shown)
    const grey = await badge('nothing-of-the-kind')
    expect(grey).toMatchObject({ status: 200, body: expect.stringContaining('>unknown</text>') })
    for (const hidden of [
      'badge-new',
      'badge-invented',
      'badge%2Fother',
      'badge%252Fshop',
      encodeURIComponent('<svg>'),
    ])
      expect(await badge(hidden), hidden).toEqual(grey)
    expect(await badge('badge/shop')).toMatchObject({ status: 404 })
    expect(await badge('%00')).toMatchObject({ status: 404 })
  })

  test('the settings and the whole status are read with a credential for all applications, and by privileged users', async () => {
    const cookieOf = async (name: string, groups: string[]) => ({
      cookie: [...(await world.signedIn(name, groups)).cookies(world.service.url)].map((pair) => pair.join('=')).join(),
    })
    const whole = { argo_cd: { status: 'down', unreachable_since: expect.any(Number) }, replicas: [{}] }
    for (const credential of [{ Authorization: jwt }, withToken, await cookieOf('ada', ['platform'])]) {
      expect(await read('/api/v1/settings', credential)).toMatchObject({ status: 200 })
      await expect.poll(async () => (await read('/api/v1/status', credential)).body).toMatchObject(whole)
    }
    for (const [credential, status] of [
      [scoped, 401],
      [await cookieOf('bob', ['developers']), 403],
    ] as const) {
      expect(await read('/api/v1/settings', credential)).toMatchObject({ status })
      const { body } = await read('/api/v1/status', credential)
      expect(body).toMatchObject({ version: expect.any(String) })
      expect(body).not.toHaveProperty('replicas')
    }
  })

  test('a request that waits for a task is not answered with it once its credential was revoked', async () => {
    const ada = await world.signedIn('ada', ['platform'])
    const request = { description: 'waits', expires: nowSeconds() + 600 }
    const issued = await ada.change(world.service.url, '/api/v1/deploy-tokens', 'POST', request)
    const { id, token } = IssuedDeployToken.parse(await issued.json())
    const waiting = read(`/api/v1/tasks/${ids['team-b']}?wait=2`, { Authorization: token })
    await ada.change(world.service.url, `/api/v1/deploy-tokens/${id}`, 'DELETE')
    expect(await waiting).toMatchObject({ status: 401, body: { error: expect.stringContaining('revoked') } })
  })

  test('a credential that has expired cancels the task it submitted, and no other', async () => {
    const short = { Authorization: mintJwt({ exp: nowSeconds() + 2, sub: 'pipeline' }, jwtSecret) }
    const { id } = (await world.service.submitTask(aTask({ app: 'own' }), short)).body as { id: string }
    const cancel = (task: string) =>
      world.service.request(`/api/v1/tasks/${task}`, { method: 'DELETE', headers: short })
    await expect.poll(async () => (await read('/api/v1/tasks', short)).status).toBe(401)
    expect(await cancel(ids.shop ?? '')).toMatchObject({ status: 401 })
    expect(await cancel(id)).toMatchObject({ status: 200, body: { status: 'cancelled' } })
    const { rows } = await world.database.query(
      "SELECT actor_kind, actor FROM watcher.audit WHERE action = 'task_cancelled' AND subject = $1",
      [id],
    )
    expect(rows).toEqual([{ actor_kind: 'jwt', actor: 'pipeline' }])
  })

  test('a credential that was revoked does not even read the task it submitted', async () => {
    const ada = await world.signedIn('ada', ['platform'])
    const request = { description: 'submits', expires: nowSeconds() + 600 }
    const issued = await ada.change(world.service.url, '/api/v1/deploy-tokens', 'POST', request)
    const { id, token } = IssuedDeployToken.parse(await issued.json())
    const credential = { Authorization: `Bearer ${token}` }
    const submitted = await world.service.submitTask(aTask({ app: 'own' }), credential)
    const task = (submitted.body as { id: string }).id
    expect(await read(`/api/v1/tasks/${task}`, credential)).toMatchObject({ status: 200 })
    await ada.change(world.service.url, `/api/v1/deploy-tokens/${id}`, 'DELETE')
    expect(await read(`/api/v1/tasks/${task}`, credential)).toMatchObject({
      status: 401,
      body: { error: expect.stringContaining('was revoked') },
    })
  })

  test('a credential that expires goes on reading the task it submitted, until its time is over, and no other', async () => {
    const short = { Authorization: mintJwt({ exp: nowSeconds() + 2, sub: 'pipeline' }, jwtSecret) }
    const { id } = (await world.service.submitTask(aTask({ app: 'own' }), short)).body as { id: string }
    await expect.poll(async () => (await read('/api/v1/tasks', short)).status).toBe(401)
    expect(await read(`/api/v1/tasks/${id}`, short)).toMatchObject({ status: 200, body: { app: 'own' } })
    expect(await read(`/api/v1/tasks/${id}/events`, short)).toMatchObject({ status: 200 })
    expect(await read(`/api/v1/tasks/${ids.shop}`, short)).toMatchObject({
      status: 401,
      body: { error: expect.stringContaining('exp is in the past') },
    })
    const other = { Authorization: mintJwt({ exp: nowSeconds() - 1 }, jwtSecret) }
    expect(await read(`/api/v1/tasks/${id}`, other)).toMatchObject({ status: 401 })
    await world.database.query(
      "UPDATE watcher.tasks SET deadline = clock_timestamp() - interval '3 minutes' WHERE id = $1",
      [id],
    )
    expect(await read(`/api/v1/tasks/${id}`, short)).toMatchObject({ status: 401 })
  })

  test('a stream of a scoped token holds the events of its applications, the lock, and every position', async () => {
    const follow = (headers: Record<string, string>) => readEvents(`${world.service.url}/api/v1/events`, { headers })
    const [reader, everything] = [await follow(scoped), await follow(withToken)]
    const apps = ['shop', 'team-a', 'team-bb', 'team-b', 'other']
    const ids = new Map<string, string>()
    for (const app of apps) ids.set(await world.service.acceptTask(aTask({ app })), app)
    const told = () => new Set(everything.events.map(({ task_id }) => ids.get(task_id)))
    await expect.poll(() => apps.every((app) => told().has(app))).toBe(true)
    await expect.poll(() => reader.position()).toBeGreaterThanOrEqual(everything.events.at(-1)?.id ?? 0)
    expect(new Set(reader.events.map((event) => event.task?.app))).toEqual(new Set(['team-a', 'team-b']))
    expect(reader.locks).toMatchObject([{ active: false }])
    for (const one of [reader, everything]) one.close()
    expect(await follow({})).toMatchObject({ status: 401, events: [], locks: [] })
  })

  test('its pages as JSON hold them too, and name the next one', async () => {
    const page = async (headers: Record<string, string>, after: number) =>
      TaskEvents.parse((await world.service.request(`/api/v1/events?after=${after}`, { headers })).body)
    const whole = (await page(withToken, 0)).events
    const mine = whole.filter(({ detail }) => detail.startsWith('accepted')).length
    const shown = (await page(scoped, 0)).events
    expect(shown.length).toBeGreaterThan(0)
    expect(shown.length).toBeLessThan(mine)
    await world.database.query(`WITH top AS (SELECT last FROM watcher.event_counter)
      INSERT INTO watcher.task_events (task_id, kind, detail, position)
      SELECT gen_random_uuid(), 'note', 'of a task that is gone', last + n FROM top, generate_series(1, 1500) AS n`)
    await world.database.query('UPDATE watcher.event_counter SET last = last + 1500')
    const first = await page(scoped, 0)
    expect([first.events, first.next_after]).toEqual([shown, expect.any(Number)])
    expect(await page(scoped, first.next_after ?? 0)).toEqual({ events: [] })
  })
})
