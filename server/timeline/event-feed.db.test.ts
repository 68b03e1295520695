import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { Client } from 'pg'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { type TaskEvent, TaskEvent as TaskEventSchema } from '../../contract/task-event.ts'
import { createTestDatabase, openFileDatabase } from '../../test/support/database.ts'
import { createTaskStore } from '../../test/support/task-store.ts'
import { createReplica } from '../ownership/replica.ts'
import { createWakeUps, wakeUpChannel } from '../ownership/wake-ups.ts'
import { createEventFeed, type EventFeed } from './event-feed.ts'
import { createEventStore, type EventStore } from './event-store.ts'

let taskId: string
const failures: unknown[] = []
const onError = (message: string, error: unknown) => void failures.push(message, error)
const { testDatabase, database } = await openFileDatabase({ onError: (error) => failures.push(error) })

beforeEach(async () => {
  taskId = crypto.randomUUID()
  await sql`INSERT INTO watcher.tasks (id, deadline, app, author, project, images, timeout_seconds, refresh, may_write)
    VALUES (${taskId}, now(), 'shop', 'ada', 'demo', '[]', 1, true, true)`.execute(database.query)
})
afterAll(() => {
  expect(failures).toEqual([])
})

const { listed: readTasks } = createTaskStore(database)

/** A feed looks once a second, without a wake-up too; a busy machine may take longer. */
const atNextLook = { timeout: 20_000 }

/** One replica's feed, with the events it told a listener that follows from now on. */
async function aFollower(after?: number) {
  const stack = new AsyncDisposableStack()
  const wakeUps = stack.use(createWakeUps(database, onError))
  const replica = stack.use(createReplica(testDatabase.settings, wakeUpChannel('watcher')))
  replica.start({
    onRegistered: async () => undefined,
    onLost: () => undefined,
    onNotification: wakeUps.receive,
    onError: () => undefined,
  })
  await expect.poll(() => replica.id()).toBeDefined()
  const events = createEventStore(database)
  const feed = stack.use(createEventFeed({ events, readTasks, wakeUps, onError }))
  const told: TaskEvent[] = []
  stack.defer(listen(feed, after ?? (await events.newest()), (event) => told.push(event)))
  return {
    feed,
    told,
    events,
    details: () => told.map(({ detail }) => detail),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** Follows the task of the test; gives back how to stop. */
function listen(feed: EventFeed, after: number, listener: (event: TaskEvent) => void): () => void {
  const stopping = new AbortController()
  const read = async () => {
    for await (const page of feed.follow(after, taskId, stopping.signal))
      page.forEach(({ event }) => void listener(event))
  }
  void read().catch((error: unknown) => failures.push(error))
  return () => stopping.abort()
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
    await expect.poll(follower.details, atNextLook).toEqual(['fast 1', 'fast 2', 'slow'])
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
      const stop = listen(follower.feed, last, (event) => {
        if (seen.length - before >= 7) return // this reader breaks off after seven
        seen.push(event.detail)
        last = event.id
      })
      await expect.poll(() => seen.length).toBe(Math.min(before + 7, 50))
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
    await expect.poll(follower.details, atNextLook).toEqual(['after the death'])
  })

  test('events written by a replica that died before it gave positions are numbered by another', async () => {
    await using follower = await aFollower()
    await using writer = await connect()
    await insert(writer, 'orphan')
    await expect.poll(follower.details, atNextLook).toEqual(['orphan'])
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

/** A feed of its own in which nothing is numbered but by the test, on the store with what `changes` replaces. */
function aFeed(changes: (store: EventStore) => Partial<EventStore>) {
  const store = createEventStore(database)
  const wakeUps = createWakeUps(database, onError)
  const number = async () => ({ taskIds: new Set<string>(), isAll: true })
  let looks = 0
  const newest = async () => {
    const id = await store.newest()
    looks += 1
    return id
  }
  const feed = createEventFeed({ events: { ...store, number, newest, ...changes(store) }, readTasks, wakeUps, onError })
  return {
    feed,
    store,
    /** Resolves when it has looked so many times for events that it was not notified of. */
    async looked(times: number) {
      const before = looks
      await expect.poll(() => looks - before, { timeout: times * 2_000 }).toBeGreaterThanOrEqual(times)
    },
    async [Symbol.asyncDispose]() {
      await feed[Symbol.asyncDispose]()
      await wakeUps[Symbol.asyncDispose]()
    },
  }
}

const insertMany = (of: string, count: number) =>
  sql`INSERT INTO watcher.task_events (task_id, kind, detail)
    SELECT ${of}, 'note', n::text FROM generate_series(1, ${count}::integer) AS n`.execute(database.query)

async function numberAll(store: EventStore): Promise<void> {
  for (let isAll = false; !isAll; ) ({ isAll } = await store.number())
}

test('an event that is committed while a page is read is sent, although its id was seen before the page arrived', async () => {
  const [hasRead, mayAnswer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let newest = 0
  await using replica = aFeed((store) => ({
    newest: async () => {
      newest = await store.newest()
      return newest
    },
    async pagesOfTasks(starts, limit) {
      const pages = await store.pagesOfTasks(starts, limit)
      hasRead.resolve()
      await mayAnswer.promise
      return pages
    },
  }))
  const told: string[] = []
  const stop = listen(replica.feed, 0, ({ detail }) => told.push(detail))
  await hasRead.promise
  await insertMany(taskId, 1)
  await numberAll(replica.store)
  const last = await replica.store.newest()
  await expect.poll(() => newest, atNextLook).toBe(last)
  mayAnswer.resolve()
  await expect.poll(() => told, atNextLook).toEqual(['1'])
  stop()
})

test('behind 20,000 events of other tasks a stream of one task reads its own alone, and nothing while nothing happens', async () => {
  const read: number[] = []
  let ofAll = 0
  await using replica = aFeed((store) => ({
    async after(after, limit, id) {
      ofAll += 1
      return store.after(after, limit, id)
    },
    async pagesOfTasks(starts, limit) {
      const pages = await store.pagesOfTasks(starts, limit)
      read.push(pages.flat().length)
      return pages
    },
  }))
  await insertMany(taskId, 3)
  await insertMany(crypto.randomUUID(), 20_000)
  await insertMany(taskId, 2)
  await numberAll(replica.store)
  const told: string[] = []
  const stop = listen(replica.feed, 0, ({ detail }) => told.push(detail))
  await expect.poll(() => told).toEqual(['1', '2', '3', '1', '2'])
  await replica.looked(2) // once more is read where the newest id is not the task's
  const reads = read.length
  expect(reads).toBeLessThanOrEqual(3)
  await replica.looked(2)
  expect(read).toHaveLength(reads)
  expect({ rows: read.reduce((sum, rows) => sum + rows, 0), ofAll }).toEqual({ rows: 5, ofAll: 0 })
  stop()
})

test('a stream of all events comes through 2,500 of them, and follows what comes then', async () => {
  await using replica = aFeed(() => ({}))
  const start = await replica.store.newest()
  await insertMany(taskId, 2_500)
  await numberAll(replica.store)
  const stopping = new AbortController()
  const ids: number[] = []
  const read = async () => {
    for await (const page of replica.feed.follow(start, undefined, stopping.signal))
      ids.push(...page.map(({ event }) => event.id))
  }
  const reading = read()
  await expect.poll(() => ids.length).toBe(2_500)
  await insertMany(crypto.randomUUID(), 1)
  await numberAll(replica.store)
  await expect.poll(() => ids.length).toBe(2_501)
  expect(ids).toEqual(Array.from({ length: 2_501 }, (_, index) => start + 1 + index))
  stopping.abort()
  await reading
})

test('50 streams of all events share the read of a batch, its tasks and its bytes', async () => {
  let [emptyReads, eventReads, taskReads] = [0, 0, 0]
  const store = createEventStore(database)
  const wakeUps = createWakeUps(database, onError)
  const events: EventStore = {
    ...store,
    async after(...range) {
      const page = await store.after(...range)
      if (page.length > 0) eventReads += 1
      else emptyReads += 1
      return page
    },
  }
  const countingTasks: typeof readTasks = async (ids) => {
    taskReads += 1
    return readTasks(ids)
  }
  await using feed = createEventFeed({ events, readTasks: countingTasks, wakeUps, onError })
  const start = await store.newest()
  const stopping = new AbortController()
  const frames: Buffer[] = []
  const read = async () => {
    for await (const page of feed.follow(start, undefined, stopping.signal))
      frames.push(...page.map(({ frame }) => frame))
  }
  const reading = Array.from({ length: 50 }, read)
  await expect.poll(() => emptyReads).toBeGreaterThan(0) // all of them wait for news now
  await insertMany(taskId, 3)
  feed.written()
  await expect.poll(() => frames.length).toBe(150)
  expect([eventReads, taskReads]).toEqual([1, 1])
  expect(new Set(frames).size).toBe(3)
  const [, data = ''] = /^data: (.*)$/m.exec(String(frames[0])) ?? []
  expect(TaskEventSchema.parse(JSON.parse(data)).task).toMatchObject({ id: taskId, app: 'shop', status: 'in progress' })
  stopping.abort()
  await Promise.all(reading)
  await wakeUps[Symbol.asyncDispose]()
})

test('a page ends at 256 KiB, however large the tasks of its events are', async () => {
  await using replica = aFeed(() => ({}))
  const images = JSON.stringify([{ image: 'registry.example/shop', tag: 'v'.repeat(16_000) }])
  await sql`UPDATE watcher.tasks SET images = ${images}::jsonb WHERE id = ${taskId}`.execute(database.query)
  const start = await replica.store.newest()
  await insertMany(taskId, 100)
  await numberAll(replica.store)
  const stopping = new AbortController()
  const [sizes, ids]: [number[], number[]] = [[], []]
  for await (const page of replica.feed.follow(start, undefined, stopping.signal)) {
    sizes.push(page.reduce((sum, { frame }) => sum + frame.length, 0))
    ids.push(...page.map(({ event }) => event.id))
    if (ids.length === 100) stopping.abort()
  }
  expect(Math.max(...sizes)).toBeLessThanOrEqual(256 * 1024)
  expect(ids).toEqual(Array.from({ length: 100 }, (_, index) => start + 1 + index))
})

test('50 streams that have read equally far share a read, and a wake-up reads for its own task alone', async () => {
  const starts: (readonly string[])[] = []
  await using replica = aFeed((store) => ({
    async pagesOfTasks(some, limit) {
      starts.push(some.map(({ of }) => of))
      return store.pagesOfTasks(some, limit)
    },
  }))
  await insertMany(taskId, 1)
  await numberAll(replica.store)
  const other = crypto.randomUUID()
  const stopping = new AbortController()
  let told = 0
  const read = async (id: string) => {
    for await (const page of replica.feed.follow(0, id, stopping.signal)) told += page.length
  }
  const reading = [read(other), ...Array.from({ length: 50 }, () => read(taskId))]
  await expect.poll(() => told).toBe(50)
  expect(starts.flat().filter((id) => id === taskId).length).toBeLessThan(5)
  stopping.abort()
  await Promise.all(reading)
})

test('a follower that takes no page is read no further', async () => {
  let rows = 0
  await using replica = aFeed((store) => ({
    async pagesOfTasks(starts, limit) {
      const pages = await store.pagesOfTasks(starts, limit)
      rows += pages.flat().length
      return pages
    },
  }))
  await insertMany(taskId, 2_500)
  await numberAll(replica.store)
  const stopping = new AbortController()
  const following = replica.feed.follow(0, taskId, stopping.signal)
  await following.next()
  await replica.looked(2)
  expect(rows).toBeLessThanOrEqual(200)
  await following.return(undefined)
})
