import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { IssuedDeployToken } from '../../contract/auth.ts'
import { TaskEvents } from '../../contract/task-event.ts'
import { createTestDatabase } from '../support/database.ts'
import { type EventReader, readEvents } from '../support/event-reader.ts'
import { startReplicas } from '../support/replicas.ts'
import { aTask, type Service } from '../support/service.ts'
import { startServiceWithSignIn } from '../support/signed-in-service.ts'
import { deployToken } from '../support/world.ts'

const follow = (service: Service, headers: Record<string, string> = {}) =>
  readEvents(`${service.url}/api/v1/events`, { headers })
const nowSeconds = () => Date.now() / 1000
const idOf = ({ body }: { body: unknown }) => (body as { id: string }).id
const closeAll = (readers: readonly EventReader[]) => {
  for (const reader of readers) reader.close()
}

describe('the stream of all events, on two replicas', () => {
  test('tells every event with its task as a list shows it, and when Argo CD goes and comes', async () => {
    await using database = await createTestDatabase()
    await using replicas = await startReplicas({ databaseUrl: database.url })
    const [one, other] = replicas.running
    if (!one || !other) throw new Error('there are two')
    const readers = await Promise.all([one, other, one].map((service) => follow(service)))
    const submitted = await one.submitTask(aTask({ images: [{ image: 'registry.example/shop', tag: 'v2' }] }), {
      'Watcher-Deploy-Token': deployToken,
    })
    const ended = await other.waitForEnd(idOf(submitted))
    expect(ended.status).toBe('deployed')
    for (const reader of readers) {
      await expect.poll(() => reader.events.at(-1)?.kind, { timeout: 50_000 }).toBe('verdict')
      const { task } = reader.events.at(-1) ?? {}
      const { app, images, status, commit } = ended
      expect(task).toMatchObject({ id: ended.id, app, images, status, commit, updated: ended.updated })
      expect(reader.events.every((event) => event.task?.id === ended.id)).toBe(true)
      expect(reader.events[0]).toMatchObject({ kind: 'accepted', task: { author: 'ada', project: 'shop' } })
      expect(reader.services).toEqual([])
    }
    const [first, second] = readers
    one.lines.controller.mood = 'refuse'
    one.lines.controller.cut()
    await expect.poll(() => first?.services).toMatchObject([{ argo_cd: { available: false } }])
    const late = await follow(one)
    await expect.poll(() => late.services).toEqual(first?.services)
    expect(await one.request('/api/v1/reachability')).toMatchObject({ body: { available: false, reason: 'argocd' } })
    expect(second?.services).toEqual([])
    one.lines.controller.mood = 'well'
    for (const reader of [first, late]) {
      await expect.poll(() => reader?.services.map(({ argo_cd }) => argo_cd.available)).toEqual([false, true])
    }
    closeAll([...readers, late])
  })

  test('tells the lock at its beginning and at every change, whoever changes it where, and when an override ends', async () => {
    const dayMs = 24 * 60 * 60 * 1000
    const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
    const midnight = (later: number) => `${days[new Date(Date.now() + later * dayMs).getUTCDay()]} 00:00`
    await using world = await startServiceWithSignIn({ LOCKDOWN_SCHEDULE: `${midnight(-1)} - ${midnight(2)}` })
    await using replica = await world.startReplica()
    const { service, database } = world
    const ada = await world.signedIn('ada')
    const path = '/api/v1/deploy-lock'
    const readers = await Promise.all([service, replica].map((one) => follow(one)))
    const told = async (expected: object) => {
      const beganMs = performance.now()
      for (const { locks } of readers) {
        await expect.poll(() => locks.at(-1), { interval: 10 }).toMatchObject(expected)
      }
      return performance.now() - beganMs
    }
    await told({ active: true, source: 'schedule' })
    const details = (await replica.request(`${path}/details`)).body
    expect(readers.map(({ locks }) => locks)).toEqual([[details], [details]])
    await ada.change(service.url, path, 'DELETE')
    expect(await told({ active: false, override_until: expect.any(Number) })).toBeLessThan(10_000)
    const headers = {
      'Oidc-Authorization': `Bearer ${await world.idp.issueOpaqueToken('ada')}`,
      'content-type': 'application/json',
    }
    const body = JSON.stringify({ reason: 'OPS-2214' })
    expect(await replica.request(path, { method: 'POST', headers, body })).toMatchObject({ status: 200 })
    expect(await told({ active: true, source: 'manual', reason: 'OPS-2214', set_by: 'ada' })).toBeLessThan(10_000)
    await ada.change(service.url, path, 'DELETE')
    await told({ active: false })
    // Unseen by any replica, as the clock is.
    await database.query("UPDATE watcher.deploy_lock SET override_until = clock_timestamp() + interval '1 s'")
    await told({ active: true, source: 'schedule', override_until: null })
    await database.query(
      "UPDATE watcher.deploy_lock SET is_set = true, since = now(), until = now() + interval '1 day'",
    )
    await told({ source: 'manual' })
    await database.query("UPDATE watcher.deploy_lock SET until = clock_timestamp() + interval '1 s'")
    await told({ source: 'schedule' })
    const counts = readers.map(({ locks }) => locks.length)
    await delay(2_500) // two looks more: what is as it was is not told
    expect(readers.map(({ locks }) => locks.length)).toEqual(counts)
    expect(readers.map(({ events }) => events)).toEqual([[], []])
    closeAll(readers)
  })
})

describe('where reading is closed', () => {
  let world: Awaited<ReturnType<typeof startServiceWithSignIn>>
  let scoped: Record<string, string>
  const all = { 'Watcher-Deploy-Token': 'token-of-this-test' }
  beforeAll(async () => {
    world = await startServiceWithSignIn({
      IDP_REQUIRE_READ_AUTH: 'true',
      WATCHER_DEPLOY_TOKEN: 'token-of-this-test',
    })
    const ada = await world.signedIn('ada')
    const request = { apps: ['team-?'], description: 'teams', expires: Math.ceil(nowSeconds()) + 600 }
    const issued = await ada.change(world.service.url, '/api/v1/deploy-tokens', 'POST', request)
    scoped = { Authorization: IssuedDeployToken.parse(await issued.json()).token }
  })
  afterAll(() => world[Symbol.asyncDispose]())

  test('a stream of a scoped token holds the events of its applications, the lock, and every position', async () => {
    await using replica = await world.startReplica()
    const [reader, everything] = [await follow(replica, scoped), await follow(replica, all)]
    const apps = ['shop', 'team-a', 'team-bb', 'team-b', 'other']
    const ids = new Map<string, string>()
    for (const app of apps) ids.set(idOf(await world.service.submitTask(aTask({ app }))), app)
    await expect.poll(() => new Set(everything.events.map(({ task_id }) => ids.get(task_id)))).toEqual(new Set(apps))
    await expect.poll(() => reader.position()).toBeGreaterThanOrEqual(everything.events.at(-1)?.id ?? 0)
    expect(new Set(reader.events.map((event) => event.task?.app))).toEqual(new Set(['team-a', 'team-b']))
    expect(reader.locks).toMatchObject([{ active: false }])
    closeAll([reader, everything])
    expect(await follow(replica)).toMatchObject({ status: 401, events: [], locks: [] })
  })

  test('its pages as JSON hold them too, and name the next one', async () => {
    const { service } = world
    const read = async (headers: Record<string, string>, after: number) =>
      TaskEvents.parse((await service.request(`/api/v1/events?after=${after}`, { headers })).body)
    const whole = (await read(all, 0)).events
    const mine = whole.filter(({ detail }) => detail.startsWith('accepted')).length
    const shown = (await read(scoped, 0)).events
    expect(shown.length).toBeGreaterThan(0)
    expect(shown.length).toBeLessThan(mine)
    await world.database.query(`WITH top AS (SELECT last FROM watcher.event_counter)
      INSERT INTO watcher.task_events (task_id, kind, detail, position)
      SELECT gen_random_uuid(), 'note', 'of a task that is gone', last + n FROM top, generate_series(1, 1500) AS n`)
    await world.database.query('UPDATE watcher.event_counter SET last = last + 1500')
    const first = await read(scoped, 0)
    expect([first.events, first.next_after]).toEqual([shown, expect.any(Number)])
    expect(await read(scoped, first.next_after ?? 0)).toEqual({ events: [] })
  })
})
