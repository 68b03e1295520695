import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { TaskSubmission } from '../../contract/task.ts'
import { isFinal } from '../../contract/task-status.ts'
import { startEmbeddedPostgres } from '../../launcher/embedded-postgres.mjs'
import { overrideFile } from '../../simulator/model/example-repository.ts'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { readEvents } from '../../test/support/event-reader.ts'
import { aTask, type Service } from '../../test/support/service.ts'
import { prepareDatabase } from '../../test/support/template-database.ts'
import { type Replica, startWorld, type World, withToken } from '../../test/support/world.ts'

let databases: TestDatabase[] = []
afterAll(async () => {
  for (const database of databases) await database[Symbol.asyncDispose]()
  databases = []
})

async function aDatabase(): Promise<string> {
  const database = await createTestDatabase()
  databases.push(database)
  return database.url
}

async function twoReplicas(options: Partial<Parameters<typeof startWorld>[0]> = {}) {
  const replicas = await startWorld({
    parts: ['argo cd', 'lines'],
    replicas: 2,
    databaseUrl: await aDatabase(),
    ...options,
  })
  await untilTheDatabaseIsOldEnough(replicas)
  return { replicas, a: at(replicas, 0), b: at(replicas, 1), [Symbol.asyncDispose]: replicas[Symbol.asyncDispose] }
}

function at({ running }: World, index: number): Replica {
  const replica = running[index]
  if (!replica) throw new Error(`no replica ${index}`)
  return replica
}

/** On a busy machine, too. */
const soon = { timeout: 60_000 }

/** For the first ten seconds after a start of PostgreSQL nobody takes a dead replica's tasks (decision 0013). */
async function untilTheDatabaseIsOldEnough({ rows }: World): Promise<void> {
  const isOld = async () =>
    (await rows<{ old: boolean }>("SELECT now() - pg_postmaster_start_time() > interval '10 s' AS old"))[0]?.old
  await vi.waitFor(async () => expect(await isOld()).toBe(true), { timeout: 12_000, interval: 200 })
}

async function submit(to: Service, task: Partial<TaskSubmission> & { app?: string }, tag: string): Promise<string> {
  const images = [{ image: `registry.example/${task.app ?? 'shop'}`, tag }]
  return to.acceptTask(aTask({ images, ...task }), withToken)
}

type Ownership = { owner: string | null; fence: string; status: string; isOwned: boolean }

async function ownershipOf({ rows }: World, id: string): Promise<Ownership | undefined> {
  const [row] = await rows<Ownership>(
    `SELECT owner, fence, status, EXISTS (SELECT FROM watcher.replicas WHERE id = owner) AS "isOwned"
     FROM watcher.tasks WHERE id = $1`,
    [id],
  )
  return row
}

/** The replica that watches the only unfinished task, and the other one. */
async function ownerAndOther(replicas: World) {
  const counts = () => Promise.all(replicas.running.map((replica) => replica.watchedCount()))
  await vi.waitFor(async () => expect((await counts()).reduce((sum, count) => sum + count, 0)).toBe(1), soon)
  const index = (await counts()).indexOf(1)
  return { owner: at(replicas, index), other: at(replicas, 1 - index) }
}

/** Milliseconds from `since` until a living replica other than `before` owns the task. */
async function handover(replicas: World, id: string, before: string | null | undefined, since: number, limit: number) {
  const isTaken = async () => {
    const now = await ownershipOf(replicas, id)
    return now?.isOwned === true && now.owner !== before
  }
  await vi.waitFor(async () => expect(await isTaken()).toBe(true), { timeout: limit, interval: 20 })
  return performance.now() - since
}

/** Two Pods come one after the other. */
const slowPods = { podReady: [2_500, 2_600] as const }

// They mostly wait.
describe.concurrent('a task whose owner goes away', () => {
  test('by SIGKILL is watched again within 10 s, other work on the machine included, and ends as it would have, with one commit', async () => {
    await using pair = await twoReplicas({ times: slowPods })
    const { replicas, a } = pair
    const id = await submit(a, {}, 'v1')
    const { commit } = await a.waitForTask(id, (task) => task.commit !== undefined)
    const { owner, other } = await ownerAndOther(replicas)
    const before = await ownershipOf(replicas, id)
    const killed = performance.now()
    await owner.kill('SIGKILL')
    expect(await handover(replicas, id, before?.owner, killed, 20_000)).toBeLessThan(10_000)
    expect(Number((await ownershipOf(replicas, id))?.fence)).toBeGreaterThan(Number(before?.fence))
    expect(await other.waitForEnd(id)).toMatchObject({ status: 'deployed', commit })
    expect(await replicas.commits()).toHaveLength(1)
  })

  test('by SIGKILL before its commit has the commit made by the other, once', async () => {
    await using pair = await twoReplicas()
    const { replicas, a } = pair
    replicas.gitLine.mood = 'refuse'
    const id = await submit(a, {}, 'v1')
    const events = async () => (await a.request(`/api/v1/tasks/${id}/events`)).body as { events: { kind: string }[] }
    await vi.waitFor(
      async () => expect((await events()).events.map(({ kind }) => kind)).toContain('write_back_retry'),
      soon,
    )
    const { owner, other } = await ownerAndOther(replicas)
    await owner.kill('SIGKILL')
    replicas.gitLine.mood = 'well'
    expect(await other.waitForEnd(id)).toMatchObject({ status: 'deployed' })
    expect(await replicas.commits()).toHaveLength(1)
  })

  test('frozen is watched again within 15 s, and the thawed owner writes nothing', async () => {
    await using pair = await twoReplicas({ times: { podReady: [8_000, 8_100] } })
    const { replicas, a } = pair
    const id = await submit(a, {}, 'v1')
    await a.waitForTask(id, (task) => task.commit !== undefined)
    const { owner, other } = await ownerAndOther(replicas)
    const before = await ownershipOf(replicas, id)
    const frozen = performance.now()
    await owner.kill('SIGSTOP')
    expect(await handover(replicas, id, before?.owner, frozen, 20_000)).toBeLessThan(15_000)
    const ended = await other.waitForEnd(id)
    expect(ended).toMatchObject({ status: 'deployed' })
    const told = () => replicas.rows('SELECT row_id, kind, detail FROM watcher.task_events ORDER BY row_id')
    const events = await told()
    await owner.kill('SIGCONT')
    // It has seen what became of it once it is registered again.
    const registered = () => replicas.rows('SELECT id FROM watcher.replicas WHERE id <> $1', [before?.owner])
    await vi.waitFor(async () => expect((await registered()).length).toBe(2), { timeout: 10_000 })
    await vi.waitFor(async () => expect(await owner.watchedCount()).toBe(0), soon)
    expect(await owner.getTask(id)).toEqual(ended)
    expect(await told()).toEqual(events)
    expect(await replicas.commits()).toHaveLength(1)
  })

  test('by SIGTERM is watched again within 2 s; the stopping one says so on /readyz first', async () => {
    await using pair = await twoReplicas({ times: slowPods, settings: { DRAIN_DELAY: '1s' } })
    const { replicas, a } = pair
    const id = await submit(a, {}, 'v1')
    await a.waitForTask(id, (task) => task.commit !== undefined)
    const { owner, other } = await ownerAndOther(replicas)
    const before = await ownershipOf(replicas, id)
    const told = performance.now()
    const stopped = owner.kill('SIGTERM')
    await vi.waitFor(async () => expect((await owner.request('/readyz')).status).toBe(503), { ...soon, interval: 20 })
    expect(await owner.getTask(id)).toMatchObject({ status: 'in progress' }) // still answers
    expect(await handover(replicas, id, before?.owner, told + 1_000, 5_000)).toBeLessThan(2_000)
    expect(await stopped).toBe(0)
    expect(await other.waitForEnd(id)).toMatchObject({ status: 'deployed' })
    expect(await replicas.commits()).toHaveLength(1)
  })

  test('by SIGTERM during a push that takes long is watched again within 2 s, and the commit is made once', async () => {
    await using pair = await twoReplicas({ applications: ['shop', 'other'] })
    const { replicas, a, b } = pair
    replicas.simulator.control.overridePods('other', { newPods: 'never-ready' })
    const slow = await submit(a, {}, 'v1')
    await a.waitForEnd(slow) // the repository is owned and its connection stands
    const [repository] = await replicas.rows<{ owner: string }>('SELECT owner FROM watcher.repositories')
    const pushing = repository?.owner === (await ownershipOf(replicas, slow))?.owner ? a : b
    replicas.simulator.git.host.setFault({ kind: 'delay', ms: 5_000 })
    const id = await submit(pushing, {}, 'v2')
    const isPushing = async () =>
      (await replicas.rows("SELECT FROM watcher.pending_writes WHERE state = 'pushing'")).length
    await vi.waitFor(async () => expect(await isPushing()).toBe(1), { ...soon, interval: 20 })
    const before = await ownershipOf(replicas, id)
    const { owner } = await ownerAndOther(replicas)
    const told = performance.now()
    const stopped = owner.kill('SIGTERM')
    expect(await handover(replicas, id, before?.owner, told, 8_000)).toBeLessThan(2_000)
    expect(repository?.owner).toBe(before?.owner)
    expect(await stopped).toBe(0)
    expect(performance.now() - told).toBeLessThan(25_000)
    replicas.simulator.git.host.setFault(undefined)
    const [survivor] = replicas.running.filter((replica) => replica !== owner)
    expect(await survivor?.waitForEnd(id)).toMatchObject({ status: 'deployed' })
    expect(await replicas.commits()).toHaveLength(2)
  })

  test('ends at its original deadline: a takeover restarts no time', async () => {
    await using pair = await twoReplicas()
    const { replicas, a } = pair
    replicas.simulator.control.overridePods('shop', { newPods: 'never-ready' })
    const id = await submit(a, { timeout: 20 }, 'v1')
    await a.waitForTask(id, (task) => task.commit !== undefined)
    const { owner, other } = await ownerAndOther(replicas)
    const isHalfOver = "SELECT FROM watcher.tasks WHERE now() - created > interval '10 s'"
    await vi.waitFor(async () => expect(await replicas.rows(isHalfOver)).toHaveLength(1), soon)
    await owner.kill('SIGKILL')
    const { status, created, updated } = await other.waitForEnd(id)
    expect(status).toBe('failed')
    expect(updated - created).toBeGreaterThanOrEqual(20)
    expect(updated - created).toBeLessThan(30) // which is when a restarted time would be over
  })
})

test('sixty tasks whose owner goes away by SIGKILL, and that all end meanwhile, cost about one call each', async () => {
  const applications = Array.from({ length: 60 }, (_, index) => `app-${index}`)
  await using pair = await twoReplicas({ applications })
  const { replicas, a, b } = pair
  const { control } = replicas.simulator
  for (const app of applications) control.overridePods(app, { newPods: 'held' })
  const ids = await Promise.all(applications.map((app) => submit(a, { app }, 'v1')))
  const awaitsPods = (app: string) => {
    const { summary, health } = control.application(app)?.status ?? {}
    return health?.status === 'Progressing' && summary?.images?.includes(`registry.example/${app}:v1`) === true
  }
  await vi.waitFor(() => expect(applications.filter((app) => !awaitsPods(app))).toEqual([]), { timeout: 60_000 })
  await a.kill('SIGSTOP') // sees no end, and is not yet taken for dead
  for (const app of applications) control.releasePods(app)
  const isHealthy = (app: string) => control.application(app)?.status.health.status === 'Healthy'
  await vi.waitFor(() => expect(applications.filter((app) => !isHealthy(app))).toEqual([]), { timeout: 60_000 })
  control.clearCallLog()
  await a.kill('SIGKILL')
  for (const id of ids) expect(await b.waitForEnd(id)).toMatchObject({ status: 'deployed' })
  const calls = control.callLog().filter(({ kind }) => kind !== 'stream')
  const [list] = calls.filter(({ kind }) => kind === 'list')
  if (list?.durationMs === undefined) throw new Error('no List was answered')
  const listedMs = list.atMs + list.durationMs // which takes long on a busy machine, and what is read meanwhile is read twice
  expect(calls.filter(({ atMs }) => atMs > listedMs).length).toBeLessThan(90) // one by one it takes 120
})

test('a restart of the database moves no task to another replica', async () => {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-restart-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  let postgres = await startEmbeddedPostgres({ directory, durable: false })
  stack.defer(() => postgres.stop())
  await prepareDatabase(postgres.url)
  const applications = ['one', 'two', 'three', 'four']
  const replicas = stack.use(
    await startWorld({
      parts: ['argo cd', 'lines'],
      replicas: 2,
      databaseUrl: postgres.url,
      applications,
      settings: { BAD_POD_GRACE: '0' },
    }),
  )
  for (const app of applications) replicas.simulator.control.overridePods(app, { newPods: 'never-ready' })
  const ids = await Promise.all(
    applications.map((app, index) => submit(at(replicas, index % 2), { app, timeout: 60 }, 'v1')),
  )
  const counts = () => Promise.all(replicas.running.map((replica) => replica.watchedCount()))
  const total = async () => (await counts()).reduce((sum, count) => sum + count, 0)
  await expect.poll(total).toBe(4)
  const shares = await sharesOf(replicas, ids)
  const before = await counts()
  await postgres.stop()
  postgres = await startEmbeddedPostgres({ directory, durable: false })
  replicas.databaseLine.port = Number(new URL(postgres.url).port)
  const old = () => replicas.rows('SELECT FROM watcher.tasks WHERE owner = ANY($1)', [shares.map(({ owner }) => owner)])
  await expect.poll(async () => (await old().catch(() => [1])).length, { timeout: 15_000 }).toBe(0)
  await expect.poll(total, { timeout: 10_000 }).toBe(4)
  const after = await sharesOf(replicas, ids)
  expect(after.map(({ tasks }) => tasks).toSorted()).toEqual(shares.map(({ tasks }) => tasks).toSorted())
  expect(await counts()).toEqual(before)
  const [{ created } = { created: 0 }] = await replicas.rows<{ created: number }>(
    `SELECT extract(epoch FROM now() - pg_postmaster_start_time())::float8 AS created`,
  )
  expect(created).toBeLessThan(10) // so nobody could have been thought dead yet
})

async function sharesOf({ rows }: World, ids: readonly string[]) {
  return rows<{ owner: string; tasks: string }>(
    `SELECT owner, string_agg(app, ',' ORDER BY app) AS tasks FROM watcher.tasks WHERE id = ANY($1) GROUP BY owner`,
    [ids],
  )
}

/** For tests that end none of them. */
let replicas: World
let a: Replica
let b: Replica
beforeAll(async () => {
  replicas = await startWorld({
    parts: ['argo cd', 'lines'],
    replicas: 2,
    databaseUrl: await aDatabase(),
    applications: ['shop', 'web', 'api'],
  })
  a = at(replicas, 0)
  b = at(replicas, 1)
})
afterAll(() => replicas[Symbol.asyncDispose]())

describe('two replicas that both take requests', () => {
  test('show a task on each other right after its acceptance, alone and in the list', async () => {
    for (let round = 0; round < 4; round += 1) {
      const [to, from] = round % 2 === 0 ? [a, b] : [b, a]
      const id = await submit(to, { app: 'nobody' }, `v${round}`)
      expect(await from.getTask(id)).toMatchObject({ id, status: expect.stringMatching(/in progress|app not found/) })
      const { body } = await from.request('/api/v1/tasks?app=nobody&limit=1')
      expect(body).toMatchObject({ tasks: [{ id }] })
    }
  })

  test('let one of two tasks survive that are submitted to both at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const ids = await Promise.all([submit(a, { app: 'api' }, `a${round}`), submit(b, { app: 'api' }, `b${round}`)])
      const ended = await Promise.all(ids.map((id) => a.waitForEnd(id)))
      expect(ended.map(({ status }) => status).toSorted()).toEqual(['cancelled', 'deployed'])
      const survivor = ended.find(({ status }) => status === 'deployed')
      expect(await replicas.simulator.git.readFile('gitops', 'apps/api/.argocd-source-api.yaml')).toBe(
        overrideFile(survivor?.images[0]?.tag ?? ''),
      )
    }
  })

  test('stop a superseded task within a second, wherever it is watched, and push nothing of it', async () => {
    replicas.gitLine.mood = 'refuse'
    replicas.gitLine.cut()
    const older = await submit(a, {}, 'old')
    const isQueued = async () =>
      (await replicas.rows('SELECT FROM watcher.pending_writes WHERE task_id = $1', [older])).length
    await expect.poll(isQueued, { interval: 20 }).toBe(1)
    const newer = await submit(b, {}, 'new')
    expect(await a.getTask(older)).toMatchObject({ status: 'cancelled', cause: 'superseded' })
    const counts = () => Promise.all([a, b].map((replica) => replica.watchedCount()))
    await expect.poll(async () => (await counts()).reduce((sum, count) => sum + count, 0), { timeout: 1_000 }).toBe(1)
    replicas.gitLine.mood = 'well'
    expect(await a.waitForEnd(newer)).toMatchObject({ status: 'deployed' })
    const isOpen = async () =>
      (await replicas.rows("SELECT FROM watcher.pending_writes WHERE state IN ('queued', 'pushing')")).length
    await expect.poll(isOpen, { timeout: 10_000 }).toBe(0)
    expect((await replicas.commits()).filter(({ message }) => message.includes(older))).toEqual([])
  })

  test('stop a task that is cancelled on the one that does not watch it', async () => {
    replicas.simulator.control.overridePods('web', { newPods: 'never-ready' })
    onTestFinished(() => replicas.simulator.control.overridePods('web', undefined))
    const id = await submit(a, { app: 'web' }, 'v1')
    const { other } = await ownerAndOther(replicas)
    const answer = await other.request(`/api/v1/tasks/${id}`, { method: 'DELETE', headers: withToken })
    expect(answer).toMatchObject({ status: 200, body: { id, status: 'cancelled' } })
    const counts = () => Promise.all([a, b].map((replica) => replica.watchedCount()))
    await expect.poll(counts, { timeout: 2_500 }).toEqual([0, 0]) // the sweep comes after 3 s
  })

  test('answer ?wait= as soon as the task has ended, also where it is not watched', async () => {
    const id = await submit(a, {}, 'waited')
    const { other } = await ownerAndOther(replicas)
    const answer = await other.request(`/api/v1/tasks/${id}?wait=30`)
    expect(answer.body).toMatchObject({ status: 'deployed' })
    const { updated } = await a.getTask(id)
    expect(Date.now() / 1000 - updated).toBeLessThan(5)
  })
})

/** The stream of all tasks carries each task as it is now; pages do not. */
const withoutTask = ({ task: _, ...event }: { readonly task?: unknown }) => event

describe('the stream of events', () => {
  test('of one task ends with its verdict, and is 204 for who has seen that', async () => {
    const id = await submit(a, {}, 'streamed')
    const reader = await readEvents(`${b.url}/api/v1/tasks/${id}/events`)
    await reader.ended
    expect(reader.events.at(0)).toMatchObject({ kind: 'accepted' })
    expect(reader.events.at(-1)).toMatchObject({ kind: 'verdict', detail: 'deployed' })
    const [, second] = reader.events
    const resumed = await readEvents(`${a.url}/api/v1/tasks/${id}/events`, { lastEventId: second?.id })
    await resumed.ended
    expect(resumed.events).toEqual(reader.events.slice(2))
    const over = await readEvents(`${a.url}/api/v1/tasks/${id}/events`, { lastEventId: reader.events.at(-1)?.id })
    expect(over.status).toBe(204)
  })

  test('resets a reader whose position is beyond the newest event, which then misses nothing', async () => {
    const reader = await readEvents(`${a.url}/api/v1/events`, { lastEventId: 1_000_000 })
    await expect.poll(() => reader.resets).toHaveLength(1)
    const id = await submit(b, { app: 'nobody' }, 'v1')
    await b.waitForEnd(id)
    await vi.waitFor(async () => {
      const { events } = (await b.request(`/api/v1/events?after=${reader.resets[0]}`)).body as {
        events: { task_id: string }[]
      }
      expect(events.map(({ task_id }) => task_id)).toContain(id)
      expect(reader.events.map(withoutTask)).toEqual(events)
    }, soon)
    reader.close()
  })

  test('resets a reader that is behind events which retention has deleted', async () => {
    const [newest] = await replicas.rows<{ last: string }>('SELECT last FROM watcher.event_counter')
    const last = Number(newest?.last)
    await replicas.rows('UPDATE watcher.event_counter SET deleted_to = last - 1')
    const [behind, level] = [last - 2, last - 1].map((lastEventId) =>
      readEvents(`${a.url}/api/v1/events`, { lastEventId }),
    )
    await expect.poll(async () => (await behind)?.resets).toHaveLength(1)
    await expect.poll(async () => (await level)?.events).not.toHaveLength(0)
    expect((await level)?.resets).toEqual([])
    for (const reader of [behind, level]) (await reader)?.close()
  })

  test('is the same on both replicas, and goes on at the other when one is killed, without gap or double', async () => {
    await using pair = await twoReplicas({ applications: ['shop', 'web', 'api'] })
    const { a, b } = pair
    const readers = await Promise.all([readEvents(`${a.url}/api/v1/events`), readEvents(`${b.url}/api/v1/events`)])
    const [onA, onB] = readers
    if (!onA || !onB) throw new Error('two readers were asked for')
    const first = await Promise.all(['shop', 'web', 'api'].map((app, at) => submit(at % 2 ? a : b, { app }, 'v1')))
    for (const id of first) await a.waitForEnd(id)
    await a.kill('SIGKILL')
    await onA.ended
    const second = await Promise.all(['shop', 'web', 'api'].map((app) => submit(b, { app }, 'v2')))
    for (const id of second) await b.waitForEnd(id)
    const resumed = await readEvents(`${b.url}/api/v1/events`, { lastEventId: onA.events.at(-1)?.id })
    // an event gets its place in the order a moment after the task it belongs to has ended
    await vi.waitFor(async () => {
      const { events } = (await b.request('/api/v1/events?after=0')).body as { events: { id: number; kind: string }[] }
      expect(events.filter(({ kind }) => kind === 'verdict')).toHaveLength(6)
      expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index + 1))
      expect(onB.events.map(withoutTask)).toEqual(events)
      expect([...onA.events, ...resumed.events].map(withoutTask)).toEqual(events)
    }, soon)
    onB.close()
    resumed.close()
  })
})

test('what is over stays over: no end is rewritten when all replicas are killed and started again', async () => {
  await using pair = await twoReplicas({ times: slowPods, applications: ['shop', 'web'] })
  const { replicas, a, b } = pair
  const ended = await submit(a, { app: 'nobody' }, 'v1')
  const before = await a.waitForEnd(ended)
  const ids = [await submit(a, { app: 'shop' }, 'v1'), await submit(b, { app: 'web' }, 'v1')]
  for (const id of ids) await a.waitForTask(id, (task) => task.commit !== undefined)
  await Promise.all([a.kill('SIGKILL'), b.kill('SIGKILL')])
  await Promise.all([a.restart(), b.restart()])
  const after = await Promise.all(ids.map((id) => b.waitForEnd(id, 20_000)))
  expect(after.every(({ status }) => isFinal(status) && status === 'deployed')).toBe(true)
  expect(await b.getTask(ended)).toEqual(before)
  expect(await replicas.commits()).toHaveLength(2)
})
