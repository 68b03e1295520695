import { sql } from 'kysely'
import { Client } from 'pg'
import { expect, test, vi } from 'vitest'
import { openFileDatabase } from '../../test/support/database.ts'
import { startFaultProxy } from '../../test/support/fault-proxy.ts'
import { removeDeadReplicas } from './remove-dead-replicas.ts'
import { createReplica, replicaTtlMs } from './replica.ts'
import { createWakeUps, wakeUpChannel } from './wake-ups.ts'

const { testDatabase, database } = await openFileDatabase({ onError: () => undefined })

const ids = async () => (await database.query.selectFrom('replicas').select('id').execute()).map(({ id }) => id)

function aReplica(
  onRegistered: (id: string, former: string | undefined) => void = () => undefined,
  settings = testDatabase.settings,
) {
  const lost = vi.fn<() => void>()
  const heard: string[] = []
  const replica = createReplica(settings, wakeUpChannel('watcher'))
  replica.start({
    onRegistered: async (id, former) => onRegistered(id, former),
    onLost: lost,
    onNotification: (payload) => heard.push(payload),
    onError: () => undefined,
  })
  return { replica, lost, heard }
}

/** Ends the server side of every replica session, as a database restart would. */
async function breakSessions(): Promise<void> {
  const admin = new Client({ connectionString: testDatabase.url })
  await admin.connect()
  await admin.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'deployment-watcher replica' AND datname = current_database()`,
  )
  await admin.end()
}

test('a replica registers under an id, and leaves no row when it stops', async () => {
  const { replica } = aReplica()
  await expect.poll(() => replica.id()).toBeDefined()
  expect(await ids()).toContain(replica.id())
  await replica[Symbol.asyncDispose]()
  expect(await ids()).toEqual([])
})

test('a replica knows how many are registered, itself included', async () => {
  const { replica: one } = aReplica()
  await expect.poll(() => one.id()).toBeDefined()
  const { replica: other } = aReplica()
  await expect.poll(() => other.id()).toBeDefined()
  expect(other.registered(), 'before its first beat').toBe(2)
  await expect.poll(() => one.registered()).toBe(2)
  await other[Symbol.asyncDispose]()
  await expect.poll(() => one.registered()).toBe(1)
  await one[Symbol.asyncDispose]()
})

test('a replica that removed a dead one counts it no longer, before the next beat', async () => {
  const { replica } = aReplica()
  await expect.poll(() => replica.id()).toBeDefined()
  const crashed = crypto.randomUUID()
  await database.query.insertInto('replicas').values({ id: crashed, lock_key: '12345678902' }).execute()
  await expect.poll(() => replica.registered(), { timeout: 50_000 }).toBe(2)
  await database.query.deleteFrom('replicas').where('id', '=', crashed).execute()
  await replica.recount()
  expect(replica.registered()).toBe(1)
  await replica[Symbol.asyncDispose]()
})

test('a replica whose session breaks owns nothing until it has registered again under a new id', async () => {
  const registrations: (string | undefined)[][] = []
  const { replica, lost } = aReplica((id, former) => registrations.push([id, former]))
  await expect.poll(() => replica.id()).toBeDefined()
  const former = replica.id()
  await breakSessions()
  await expect.poll(() => lost.mock.calls.length).toBe(1)
  await expect.poll(() => replica.id()).toBeDefined()
  expect(replica.id()).not.toBe(former)
  expect(registrations).toEqual([
    [former, undefined],
    [replica.id(), former],
  ])
  expect(replica.brokenSinceMs()).toBeLessThan(10_000)
  await replica[Symbol.asyncDispose]()
  await database.query.deleteFrom('replicas').execute()
})

test('a replica whose row was taken away owns nothing and registers again', async () => {
  const { replica, lost } = aReplica()
  await expect.poll(() => replica.id()).toBeDefined()
  await database.query.deleteFrom('replicas').execute()
  await expect.poll(() => lost.mock.calls.length).toBe(1)
  await expect.poll(() => replica.id()).toBeDefined()
  await replica[Symbol.asyncDispose]()
})

test('a replica that no answer reaches gives up by itself, before others may think it dead', async () => {
  await using line = await startFaultProxy({ port: Number(new URL(testDatabase.url).port) })
  const connectionString = Object.assign(new URL(testDatabase.url), { port: String(line.port) }).href
  const replica = createReplica({ ...testDatabase.settings, connection: { connectionString } }, 'nobody_notifies')
  const lost = vi.fn<() => void>()
  const nothing = () => undefined
  replica.start({ onRegistered: async () => nothing(), onLost: lost, onNotification: nothing, onError: nothing })
  await expect.poll(() => replica.id()).toBeDefined()
  const beats = async () => (await database.query.selectFrom('replicas').select('heartbeat_at').execute()).at(0)
  const atStart = await beats()
  await expect.poll(beats, { interval: 20 }).not.toEqual(atStart)
  const lastBeat = performance.now()
  line.mood = 'swallow'
  await expect.poll(() => replica.id(), { interval: 20 }).toBeUndefined()
  expect(performance.now() - lastBeat).toBeLessThan(replicaTtlMs)
  line.cut()
  line.mood = 'well'
  await expect.poll(() => lost.mock.calls.length).toBe(1)
  await expect.poll(() => replica.id()).toBeDefined()
  await replica[Symbol.asyncDispose]()
  await database.query.deleteFrom('replicas').execute()
})

test('a replica whose heartbeats are answered with errors gives up by itself too', async () => {
  const { replica, lost } = aReplica()
  await expect.poll(() => replica.id()).toBeDefined()
  await sql`ALTER TABLE watcher.replicas ADD CONSTRAINT no_beats CHECK (false) NOT VALID`.execute(database.query)
  const refusedMs = performance.now()
  await expect.poll(() => replica.id(), { interval: 20 }).toBeUndefined()
  expect(performance.now() - refusedMs).toBeLessThan(replicaTtlMs)
  await expect.poll(() => lost.mock.calls.length).toBe(1)
  await sql`ALTER TABLE watcher.replicas DROP CONSTRAINT no_beats`.execute(database.query)
  await expect.poll(() => replica.id()).toBeDefined()
  await replica[Symbol.asyncDispose]()
  await database.query.deleteFrom('replicas').execute()
})

test('a replica whose session goes silent registers and listens again within 8 s (F4)', async () => {
  await using line = await startFaultProxy({ port: Number(new URL(testDatabase.url).port) })
  const connectionString = Object.assign(new URL(testDatabase.url), { port: String(line.port) }).href
  const { replica, heard } = aReplica(undefined, { ...testDatabase.settings, connection: { connectionString } })
  await expect.poll(() => replica.id()).toBeDefined()
  const former = replica.id()
  line.strand()
  const strandedMs = performance.now()
  await expect.poll(() => replica.id() ?? former, { interval: 20 }).not.toBe(former)
  expect(performance.now() - strandedMs).toBeLessThan(8_000)
  await sql`SELECT pg_notify(${wakeUpChannel('watcher')}, 'task:a')`.execute(database.query)
  await expect.poll(() => heard).toEqual(['task:a'])
  await replica[Symbol.asyncDispose]()
  await database.query.deleteFrom('replicas').execute()
})

test('a row without its lock is buried, a living replica is not', async () => {
  const living = aReplica().replica
  await expect.poll(() => living.id()).toBeDefined()
  const crashed = crypto.randomUUID()
  await database.query.insertInto('replicas').values({ id: crashed, lock_key: '12345678901' }).execute()
  const observer = { id: () => undefined, brokenSinceMs: () => Number.POSITIVE_INFINITY }
  // Nobody is buried while the database itself is younger than the TTL.
  await expect.poll(() => removeDeadReplicas(database, observer)).toBe(1)
  expect(await ids()).toEqual([living.id()])
  await living[Symbol.asyncDispose]()
})

test('nobody is buried within a TTL of a break of our own session', async () => {
  await database.query.insertInto('replicas').values({ id: crypto.randomUUID(), lock_key: '99' }).execute()
  expect(await removeDeadReplicas(database, { id: () => undefined, brokenSinceMs: () => 9_000 })).toBe(0)
  await database.query.deleteFrom('replicas').execute()
})

test('a wake-up reaches local listeners at once and other replicas by NOTIFY, once each', async () => {
  const other = createWakeUps(database, () => undefined)
  const own = createWakeUps(database, () => undefined)
  const replica = createReplica(testDatabase.settings, wakeUpChannel('watcher'))
  replica.start({
    onRegistered: async () => undefined,
    onLost: () => undefined,
    onNotification: (payload) => {
      own.receive(payload)
      other.receive(payload)
    },
    onError: () => undefined,
  })
  await expect.poll(() => replica.id()).toBeDefined()
  const heardHere = vi.fn<(ids: readonly string[] | 'all') => void>()
  const heardThere = vi.fn<(ids: readonly string[] | 'all') => void>()
  own.on('task', heardHere)
  other.on('task', heardThere)
  own.send('task', 'a')
  own.send('task', 'b')
  await expect.poll(() => heardThere.mock.calls).toEqual([[['a', 'b']]])
  expect(heardHere.mock.calls).toEqual([[['a']], [['b']]])
  for (let index = 0; index < 300; index++) own.send('task', crypto.randomUUID())
  await expect.poll(() => heardThere.mock.lastCall).toEqual(['all'])
  await replica[Symbol.asyncDispose]()
  await own[Symbol.asyncDispose]()
  await other[Symbol.asyncDispose]()
})
