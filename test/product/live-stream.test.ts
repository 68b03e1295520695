import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EventReader, readEvents } from '../support/event-reader.ts'
import { type Replica, startWorld, type World } from '../support/world.ts'

const follow = (service: Pick<Replica, 'url'>) => readEvents(`${service.url}/api/v1/events`)
const closeAll = (readers: readonly EventReader[]) => {
  for (const reader of readers) reader.close()
}
const dayMs = 24 * 60 * 60 * 1000
const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const midnight = (later: number) => `${days[new Date(Date.now() + later * dayMs).getUTCDay()]} 00:00`

let world: World
let one: Replica
let other: Replica
beforeAll(async () => {
  world = await startWorld({
    parts: ['argo cd', 'lines', 'provider'],
    replicas: 2,
    settings: { LOCKDOWN_SCHEDULE: `${midnight(-1)} - ${midnight(2)}` },
  })
  ;[one, other] = world.running as [Replica, Replica]
})
afterAll(() => world[Symbol.asyncDispose]())

describe('the stream of all events, on two replicas', () => {
  test('tells the lock at its beginning and at every change, wherever it is changed, and when an override ends', async () => {
    const { service, database } = world
    const ada = await world.signedIn('ada')
    const path = '/api/v1/deploy-lock'
    const readers = await Promise.all([service, other].map(follow))
    const told = async (expected: object) => {
      const beganMs = performance.now()
      for (const { locks } of readers) {
        await expect.poll(() => locks.at(-1), { interval: 10 }).toMatchObject(expected)
      }
      return performance.now() - beganMs
    }
    await told({ active: true, source: 'schedule' })
    const details = (await other.request(`${path}/details`)).body
    expect(readers.map(({ locks }) => locks)).toEqual([[details], [details]])
    await ada.change(service.url, path, 'DELETE')
    expect(await told({ active: false, override_until: expect.any(Number) })).toBeLessThan(10_000)
    const headers = {
      'Oidc-Authorization': `Bearer ${await world.idp.issueOpaqueToken('ada')}`,
      'content-type': 'application/json',
    }
    const body = JSON.stringify({ reason: 'OPS-2214' })
    expect(await other.request(path, { method: 'POST', headers, body })).toMatchObject({ status: 200 })
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

  test('tells every event with its task as a list shows it, and when Argo CD goes and comes', async () => {
    await (await world.signedIn('ada')).change(one.url, '/api/v1/deploy-lock', 'DELETE') // for a quarter of an hour
    const readers = await Promise.all([one, other, one].map(follow))
    const ended = await other.waitForEnd(await world.deploy('shop', 'v2'))
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
})
