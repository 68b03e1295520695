import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { Client } from 'pg'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { TaskEvent } from '../../contract/task-event.ts'
import { createTestDatabase, openFileDatabase } from '../../test/support/database.ts'
import { createReplica } from '../ownership/replica.ts'
import { createWakeUps, wakeUpChannel } from '../ownership/wake-ups.ts'
import { createEventFeed } from './event-feed.ts'
import { createEventStore } from './event-store.ts'

let taskId: string
const failures: unknown[] = []
const onTrouble = (error: unknown) => void failures.push(error)
const { testDatabase, database } = await openFileDatabase({ onTrouble })

beforeEach(async () => {
  taskId = crypto.randomUUID()
  await sql`INSERT INTO watcher.tasks (id, deadline, app, author, project, images, timeout_seconds, refresh, may_write)
    VALUES (${taskId}, now(), 'shop', 'ada', 'demo', '[]', 1, true, true)`.execute(database.query)
})
afterAll(() => {
  expect(failures).toEqual([])
})

/** One replica's feed, with the events it told a listener that follows from now on. */
async function aFollower(after?: number) {
  const stack = new AsyncDisposableStack()
  const wakeUps = stack.use(createWakeUps(database, onTrouble))
  const replica = stack.use(createReplica(testDatabase.settings, wakeUpChannel('watcher')))
  replica.start({
    onRegistered: async () => undefined,
    onLost: () => undefined,
    onNotification: wakeUps.receive,
    onTrouble: () => undefined,
  })
  await expect.poll(() => replica.id()).toBeDefined()
  const events = createEventStore(database)
  const feed = stack.use(createEventFeed({ events, wakeUps, onTrouble }))
  const told: TaskEvent[] = []
  stack.defer(await feed.follow(after ?? (await events.newest()), taskId, (event) => told.push(event)))
  return {
    feed,
    told,
    events,
    details: () => told.map(({ detail }) => detail),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

async function connect(database = testDatabase.url): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: database })
  client.on('error', () => undefined)
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

const insert = (client: Pick<Client, 'query'>, detail: string) =>
  client.query(`INSERT INTO watcher.task_events (task_id, kind, detail) VALUES ($1, 'note', $2)`, [taskId, detail])

describe('the order of events is the order of their commits', () => {
  test('a slow transaction between two fast ones is told after them, missing nobody', async () => {
    await using follower = await aFollower()
    await using slow = await connect()
    await using fast = await connect()
    await slow.query('BEGIN')
    await insert(slow, 'slow')
    await insert(fast, 'fast 1')
    follower.feed.written()
    await expect.poll(follower.details).toEqual(['fast 1'])
    await insert(fast, 'fast 2')
    follower.feed.written()
    await expect.poll(follower.details).toEqual(['fast 1', 'fast 2'])
    await slow.query('COMMIT')
    await expect.poll(follower.details, { timeout: 3_000 }).toEqual(['fast 1', 'fast 2', 'slow'])
    expect(follower.told.map(({ id }) => id)).toEqual(follower.told.map(({ id }) => id).sort((a, b) => a - b))
  })

  test('two replicas that both write and number tell the same order, 0 missing, 0 twice', async () => {
    await using one = await aFollower()
    await using other = await aFollower()
    await using first = await connect()
    await using second = await connect()
    for (let index = 0; index < 100; index++) {
      await Promise.all([insert(first, `first ${index}`), insert(second, `second ${index}`)])
      one.feed.written()
      other.feed.written()
    }
    await expect.poll(() => one.told.length).toBe(200)
    await expect.poll(() => other.told.length).toBe(200)
    expect(other.told).toEqual(one.told)
    expect(new Set(one.details()).size).toBe(200)
  })

  test('a reader that comes back with the last id it saw gets the rest, once each', async () => {
    await using writer = await connect()
    await using follower = await aFollower()
    const start = await follower.events.newest()
    for (let index = 0; index < 50; index++) {
      await insert(writer, `${index}`)
      follower.feed.written()
    }
    await expect.poll(() => follower.told.length).toBe(50)
    const seen: string[] = []
    let last = start
    while (seen.length < 50) {
      const before = seen.length
      const stop = await follower.feed.follow(last, taskId, (event) => {
        if (seen.length - before >= 7) return // this reader breaks off after seven
        seen.push(event.detail)
        last = event.id
      })
      stop()
    }
    expect(seen).toEqual(Array.from({ length: 50 }, (_, index) => `${index}`))
  })

  test('a transaction that stays open in another database of the server delays nothing', async () => {
    await using elsewhere = await createTestDatabase()
    await using foreign = await connect(elsewhere.url)
    await foreign.query('BEGIN; CREATE TABLE open_for_long (id int); SELECT txid_current()')
    await using follower = await aFollower()
    await using writer = await connect()
    await insert(writer, 'told at once')
    follower.feed.written()
    await expect.poll(follower.details).toEqual(['told at once'])
    await foreign.query('ROLLBACK')
  })

  test('a replica that dies while it gives positions holds nobody up', async () => {
    await using follower = await aFollower()
    const dying = await connect()
    await using writer = await connect()
    await dying.query('BEGIN')
    await dying.query('SELECT last FROM watcher.event_counter FOR UPDATE')
    const { rows } = await dying.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    await insert(writer, 'after the death')
    follower.feed.written()
    await delay(100) // the numbering waits for the dying one's lock
    expect(follower.told).toEqual([])
    await using admin = await connect()
    await admin.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid])
    await expect.poll(follower.details, { timeout: 5_000 }).toEqual(['after the death'])
  })

  test('events written by a replica that died before it gave positions are numbered by another', async () => {
    await using follower = await aFollower()
    await using writer = await connect()
    await insert(writer, 'orphan')
    await expect.poll(follower.details, { timeout: 3_000 }).toEqual(['orphan'])
  })
})

test('a connection that breaks in the middle of a transaction fails that transaction and nothing else', async () => {
  await using admin = await connect()
  const broken = database.query.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(transaction)
    await admin.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid])
    await sql`SELECT pg_sleep(1)`.execute(transaction)
  })
  await expect(broken).rejects.toThrow()
  expect(await createEventStore(database).newest()).toBeGreaterThan(0)
})

test('a reader who comes while the feed takes its own first look misses nothing', async () => {
  await using stack = new AsyncDisposableStack()
  await using writer = await connect()
  const store = createEventStore(database)
  const start = await store.newest()
  const [ofReader, ofFeed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let looks = 0
  const newest = async () => {
    await (looks++ === 0 ? ofReader : ofFeed).promise
    return store.newest()
  }
  const wakeUps = stack.use(createWakeUps(database, onTrouble))
  const feed = stack.use(createEventFeed({ events: { ...store, newest }, wakeUps, onTrouble }))
  const told: string[] = []
  const following = feed.follow(start, taskId, ({ detail }) => told.push(detail))
  wakeUps.send('event', taskId)
  await expect.poll(() => looks, { timeout: 3_000 }).toBe(2)
  ofReader.resolve()
  stack.defer(await following)
  await insert(writer, 'after the reader had caught up, before the feed looked')
  await store.number()
  ofFeed.resolve()
  await expect.poll(() => told, { timeout: 3_000 }).toHaveLength(1)
})

test('who has gone while the past is read is read no further', async () => {
  await using follower = await aFollower()
  await using client = await connect()
  await client.query(
    `INSERT INTO watcher.task_events (task_id, kind, detail) SELECT $1, 'note', n::text FROM generate_series(1, 2500) AS n`,
    [taskId],
  )
  follower.feed.written()
  await expect.poll(() => follower.told.length, { timeout: 10_000 }).toBe(2_500)
  const told: TaskEvent[] = []
  const unfollow = await follower.feed.follow(
    0,
    taskId,
    (event) => told.push(event),
    () => told.length > 0,
  )
  unfollow()
  expect(told.length).toBeLessThanOrEqual(1_000)
})
