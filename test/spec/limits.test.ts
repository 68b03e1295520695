import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TaskAcceptance, TaskList } from '../../contract/task.ts'
import { TaskEvents } from '../../contract/task-event.ts'
import { openStreams } from '../security/slow-clients.ts'
import { createTestDatabase, serviceUrlOf } from '../support/database.ts'
import { rawExchange } from '../support/raw-exchange.ts'
import { aTask, type Service, startService, withoutLimits } from '../support/service.ts'
import { startStatementLog } from '../support/statement-log.ts'

const answerBytes = 2 * 1024 * 1024

const withToken = { 'Watcher-Deploy-Token': 'token-of-the-limits' }
const settings = { WATCHER_DEPLOY_TOKEN: withToken['Watcher-Deploy-Token'] }

let service: Service
/** With low limits that do not touch each other. */
let strict: Service
let rows: Client
beforeAll(async () => {
  const limits = { MAX_UNFINISHED_PER_APP: '2', WAITS_PER_CLIENT: '1' }
  ;[service, strict] = await Promise.all([startService(), startService({ settings: { ...settings, ...limits } })])
  rows = new Client({ connectionString: service.databaseUrl })
  await rows.connect()
})
afterAll(async () => {
  await rows.end()
  await strict[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

describe('an answer ends at 2 MiB (spec 8)', () => {
  const count = 300
  beforeAll(async () => {
    await rows.query(
      `INSERT INTO watcher.tasks (id, created, updated, deadline, app, author, project, images, timeout_seconds, refresh,
         may_write, status)
       SELECT gen_random_uuid(), now(), now(), now(), 'large', 'ada', 'large',
         (SELECT jsonb_agg(jsonb_build_object('image', repeat('a', 250) || n, 'tag', repeat('b', 250))) FROM generate_series(1, 30) AS n),
         60, true, true, 'deployed'
       FROM generate_series(1, $1)`,
      [count],
    )
    await rows.query(
      `INSERT INTO watcher.task_events (task_id, kind, detail, position)
       SELECT id, 'note', repeat('c', 10000), 1000000 + n
       FROM (SELECT id FROM watcher.tasks LIMIT 1) AS task, generate_series(1, 1000) AS n`,
    )
  })

  const listPage = async (query: string) => {
    const answer = await fetch(`${service.url}/api/v1/tasks?project=large&${query}`)
    const text = await answer.text()
    expect(text.length).toBeLessThan(answerBytes + 1_000)
    return TaskList.parse(JSON.parse(text))
  }

  test('a page of tasks says where the next one begins, by cursor and by offset', async () => {
    const byCursor: string[] = []
    for (let page = await listPage(''); ; page = await listPage(`cursor=${page.next_cursor}`)) {
      byCursor.push(...page.tasks.map(({ id }) => id))
      if (page.next_cursor === undefined) break
    }
    const byOffset: string[] = []
    for (let page = await listPage('limit=250'); ; page = await listPage(`limit=250&offset=${page.next_offset}`)) {
      expect(page.total).toBe(count)
      byOffset.push(...page.tasks.map(({ id }) => id))
      if (page.next_offset === undefined) break
    }
    expect(new Set(byCursor).size).toBe(count)
    expect(byOffset).toEqual(byCursor)
  })

  test('a page that holds all that were asked for names no offset', async () => {
    const page = await listPage('limit=2')
    expect(page).toMatchObject({ tasks: [{ app: 'large' }, { app: 'large' }], next_cursor: expect.any(String) })
    expect(page.next_offset).toBeUndefined()
  })

  test.for(['all tasks', 'one task'])('a page of the events of %s says where the next one begins', async (of) => {
    const { rows: found } = await rows.query('SELECT task_id FROM watcher.task_events WHERE position = 1000001')
    const path = of === 'all tasks' ? '/events' : `/tasks/${found[0]?.task_id}/events`
    const ids: number[] = []
    for (let next: number | undefined = 1_000_000; next !== undefined; ) {
      const answer: Response = await fetch(`${service.url}/api/v1${path}?after=${next}`)
      const text = await answer.text()
      expect(text.length).toBeLessThan(answerBytes + 1_000)
      const page: TaskEvents = TaskEvents.parse(JSON.parse(text))
      ids.push(...page.events.map(({ id }) => id))
      next = page.next_after
    }
    expect(ids).toEqual(Array.from({ length: 1_000 }, (_, at) => 1_000_001 + at))
  })
})

const statusOf = ({ status }: { status: number }) => status

test.concurrent('submissions without a valid credential are limited for an address, good and bad ones (spec 8.4)', async ({
  expect,
}) => {
  await using limited = await startService({ settings: { ...settings, SUBMISSIONS_PER_MINUTE: '3' } })
  const keyed = { 'Idempotency-Key': 'known' }
  const badToken = { 'Watcher-Deploy-Token': 'another' }
  expect(await limited.submitTask(aTask(), keyed).then(statusOf)).toBe(202)
  expect(await limited.submitTask({}).then(statusOf)).toBe(406)
  expect(await limited.submitTask(aTask(), badToken).then(statusOf)).toBe(401)

  const rejected = await limited.submitTask()
  expect(rejected).toMatchObject({
    status: 429,
    body: { error: 'more than 3 submissions a minute without a valid credential from one address' },
  })
  expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await limited.submitTask(aTask(), badToken).then(statusOf)).toBe(429)
  expect(await limited.submitTask({}, badToken).then(statusOf)).toBe(429)
  const beforeItsBody =
    'POST /api/v1/tasks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\nWatcher-Deploy-Token: another\r\n\r\n'
  const slow = connect(Number(new URL(limited.url).port), '127.0.0.1')
  slow.write(beforeItsBody)
  expect(String((await once(slow, 'data'))[0])).toMatch(/^HTTP\/1\.1 429 /)
  slow.destroy()
  expect(await limited.submitTask({}, { 'Idempotency-Key': 'new' }).then(statusOf)).toBe(429)
  expect(await limited.submitTask({}, withToken).then(statusOf)).toBe(406)
  expect(await limited.submitTask(aTask(), { 'Idempotency-Key': 'new' }).then(statusOf)).toBe(429)
  expect(await limited.submitTask(aTask(), keyed).then(statusOf)).toBe(202)
  for (let task = 0; task < 5; task += 1) expect(await limited.submitTask(aTask(), withToken).then(statusOf)).toBe(202)
})

test.concurrent('a forwarding header lifts no limit: whoever may stand behind it shares ten times as much', async ({
  expect,
}) => {
  await using limited = await startService({ settings: { SUBMISSIONS_PER_MINUTE: '2', STREAMS_PER_CLIENT: '1' } })
  const statuses: number[] = []
  for (let client = 0; client < 21; client += 1)
    statuses.push(statusOf(await limited.submitTask(aTask(), { 'X-Forwarded-For': `192.0.2.${client}` })))
  expect(statuses).toEqual([...Array(20).fill(202), 429])
  const { statuses: streams, leave } = await openStreams(
    Number(new URL(limited.url).port),
    11,
    'X-Real-IP: 192.0.2.1\r\n',
  )
  expect(streams.sort()).toEqual([...Array(10).fill(200), 429])
  leave()
})

describe.concurrent('unfinished tasks', () => {
  const withImage = (name: string, app = 'shop') =>
    aTask({ app, images: [{ image: `registry.example/${name}`, tag: 'v1' }] })

  test('of one application are limited, and those without a credential take no room from the others', async ({
    expect,
  }) => {
    for (const name of ['a', 'b']) expect(await strict.submitTask(withImage(name)).then(statusOf)).toBe(202)
    const rejected = await strict.submitTask(withImage('c'))
    expect(rejected).toMatchObject({
      status: 429,
      body: { error: expect.stringContaining('2 tasks of this application') },
    })
    expect(rejected.headers.get('retry-after')).toBe('10')
    expect(await strict.submitTask(withImage('c', 'bank')).then(statusOf)).toBe(202)
    const accepted = await strict.submitTask(withImage('d'), withToken)
    expect(accepted.status).toBe(202)
    expect(await strict.submitTask(withImage('e'), withToken).then(statusOf)).toBe(202)
    expect(await strict.submitTask(withImage('f'), withToken).then(statusOf)).toBe(429)

    const { id } = TaskAcceptance.parse(accepted.body)
    expect(await strict.request(`/api/v1/tasks/${id}`, { method: 'DELETE', headers: withToken }).then(statusOf)).toBe(
      200,
    )
    expect(await strict.submitTask(withImage('f'), withToken).then(statusOf)).toBe(202)
  })

  test('of which 50 replace each other within a second are one', async ({ expect }) => {
    for (let task = 0; task < 60; task += 1) expect(await service.submitTask().then(statusOf)).toBe(202)
  })

  test('of all applications are limited', async ({ expect }) => {
    await using limited = await startService({ settings: { MAX_UNFINISHED_TASKS: '3' } })
    for (const app of ['a', 'b', 'c']) expect(await limited.submitTask(aTask({ app })).then(statusOf)).toBe(202)
    let more = 0
    const another = () => limited.submitTask(aTask({ app: `more-${++more}` }))
    // One that is accepted while the others are counted may be missed until the next count.
    await expect.poll(another).toMatchObject({
      status: 429,
      body: { error: '3 tasks are unfinished: try again when some have ended' },
    })
    expect(more).toBeLessThan(4)
  })
})

test.concurrent('a client waits for so many tasks at once, and is answered at once about one that has ended', async ({
  expect,
}) => {
  const submit = async (app: string) =>
    TaskAcceptance.parse((await strict.submitTask(aTask({ app }), withToken)).body).id
  const [id, ended] = [await submit('waited-for'), await submit('ended')]
  await strict.request(`/api/v1/tasks/${ended}`, { method: 'DELETE', headers: withToken })
  const hangUp = new AbortController()
  const wait = (signal?: AbortSignal) => strict.request(`/api/v1/tasks/${id}?wait=1`, signal ? { signal } : {})
  const hold = () => strict.request(`/api/v1/tasks/${id}?wait=60`, { signal: hangUp.signal }).catch(() => undefined)
  let waiting = hold()
  const statusOfAnother = async () => {
    const status = await wait().then(statusOf)
    if (status === 200) waiting = hold() // which came after this one, and was rejected
    return status
  }
  await expect.poll(statusOfAnother).toBe(429)
  const rejected = await wait()
  expect(rejected).toMatchObject({ body: { error: 'too many requests are waiting for tasks' } })
  expect(rejected.headers.get('retry-after')).toBe('10')
  expect(await strict.request(`/api/v1/tasks/${ended}?wait=60`).then(statusOf)).toBe(200)
  hangUp.abort()
  await waiting
  await expect.poll(() => wait().then(statusOf)).toBe(200)
})

test('100 clients that disconnect while they wait cost the database nothing more', async () => {
  await using testDatabase = await createTestDatabase()
  await using log = await startStatementLog({ port: Number(new URL(testDatabase.url).port) })
  const databaseUrl = Object.assign(new URL(serviceUrlOf(testDatabase.url)), { port: String(log.port) }).href
  await using logged = await startService({ databaseUrl, settings: withoutLimits })
  const path = `/api/v1/tasks/${TaskAcceptance.parse((await logged.submitTask(aTask())).body).id}`
  const taskReads = () =>
    log.statements.filter((text) => /^select \* from "watcher"."tasks" where "id" = \$1$/.test(text))
  const timers = async () => {
    const { body } = await logged.request('/metrics')
    return Number(/^nodejs_active_resources\{type="Timeout"\} (\d+)$/m.exec(String(body))?.[1])
  }
  const before = await timers()
  const hangUp = new AbortController()
  const waits: Promise<unknown>[] = []
  const wait = () => logged.request(`${path}?wait=60`, { signal: hangUp.signal }).catch(() => undefined)
  for (let count = 10; count <= 100; count += 10) {
    waits.push(...Array.from({ length: 10 }, wait)) // few at once, so that on a busy machine no read takes too long
    await expect.poll(() => taskReads().length).toBe(count)
  }
  hangUp.abort()
  await Promise.all(waits)
  await expect.poll(timers).toBeLessThan(before + 50)
  expect(await logged.request(path).then(statusOf)).toBe(200) // behind whatever they have left
  expect(taskReads()).toHaveLength(101)
})

test.concurrent('connections are limited, and one too many makes room by those on which nothing is asked', async ({
  expect,
}) => {
  await using limited = await startService({ settings: { MAX_CONNECTIONS: '100' } })
  const port = Number(new URL(limited.url).port)
  const { body } = await limited.submitTask()
  const waiting = `GET /api/v1/tasks/${TaskAcceptance.parse(body).id}?wait=60 HTTP/1.1\r\nHost: x\r\n\r\n`
  const probe = 'GET /livez HTTP/1.1\r\nHost: x\r\n'
  const ask = () => rawExchange(port, `${probe}Connection: close\r\n\r\n`)
  const sockets: Socket[] = []
  const open = (request: string) => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    socket.write(request)
    sockets.push(socket.resume())
  }
  for (let connection = 0; connection < 110; connection += 1) open(`${probe}\r\n`)
  await expect.poll(ask).toMatch(/^HTTP\/1\.1 200 /)
  // Those that come while others still hold the places are dropped for good.
  const askBesideMore = () => {
    for (let connection = 0; connection < 100; connection += 1) open(waiting)
    return ask()
  }
  await expect.poll(askBesideMore, { interval: 500 }).toBe('')
  for (const socket of sockets) socket.destroy()
  await expect.poll(ask).toMatch(/^HTTP\/1\.1 200 /)
})

test('1,000 connections that come at once while the service is busy are all established', async () => {
  const { port } = new URL(service.url)
  const sockets: Socket[] = []
  process.kill(Number(service.pid()), 'SIGSTOP')
  try {
    const established = Array.from({ length: 1_000 }, async () => {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined)
      sockets.push(socket)
      await once(socket, 'connect')
    })
    await Promise.all(established)
  } finally {
    process.kill(Number(service.pid()), 'SIGCONT')
    for (const socket of sockets) socket.destroy()
  }
})

/** Each task takes a read-only transaction longer than a list may take. */
const slowReaders = `
  ALTER TABLE watcher.tasks ENABLE ROW LEVEL SECURITY;
  CREATE POLICY slow_readers ON watcher.tasks
    USING (CASE WHEN current_setting('transaction_read_only')::boolean THEN pg_sleep(10) IS NOT NULL ELSE true END)`

test.concurrent('what readers ask PostgreSQL for keeps nothing else waiting', async ({ expect }) => {
  await using slow = await startService({ settings })
  const { id } = TaskAcceptance.parse((await slow.submitTask(aTask(), withToken)).body)
  const blocker = new Client({ connectionString: slow.databaseUrl })
  await blocker.connect()
  let isOver = false
  try {
    await blocker.query(slowReaders)
    const statuses = new Set<number>()
    const keepSearching = async () => {
      while (!isOver) statuses.add(await slow.request('/api/v1/tasks?search=registry').then(statusOf))
    }
    const searches = Promise.all(Array.from({ length: 40 }, keepSearching))
    const waiting = async () => {
      await blocker.query('SELECT pg_stat_clear_snapshot()')
      const { rowCount } = await blocker.query(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'",
      )
      return rowCount
    }
    await expect.poll(waiting).toBe(4)
    for (let turn = 0; turn < 5; turn += 1) {
      expect(await slow.request('/readyz').then(statusOf)).toBe(200)
      expect(await slow.request(`/api/v1/tasks/${id}`).then(statusOf)).toBe(200)
      expect(await slow.submitTask(aTask(), withToken).then(statusOf)).toBe(202)
    }
    isOver = true
    await searches
    expect(statuses).toEqual(new Set([503]))
  } finally {
    isOver = true
    await blocker.end()
  }
})
