import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TaskAcceptance, TaskList } from '../../contract/task.ts'
import { TaskEvents } from '../../contract/task-event.ts'
import { rawExchange } from '../support/raw-exchange.ts'
import { aTask, startService } from '../support/service.ts'
import { startWorld, type World, withToken } from '../support/world.ts'

const answerBytes = 2 * 1024 * 1024

/** With low limits, which the tests reach one after another: those without a credential first. */
let world: World
let service: World['service']
let rows: World['database']
beforeAll(async () => {
  const settings = { SUBMISSIONS_PER_MINUTE: '3', MAX_UNFINISHED_PER_APP: '2', WAITS_PER_CLIENT: '1' }
  world = await startWorld({ parts: [], settings })
  ;({ service, database: rows } = world)
})
afterAll(() => world[Symbol.asyncDispose]())

const statusOf = ({ status }: { status: number }) => status

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

test('submissions without a valid credential are limited for an address, good and bad ones (spec 8.4)', async () => {
  const keyed = { 'Idempotency-Key': 'known' }
  const badToken = { 'Watcher-Deploy-Token': 'another' }
  expect(await service.submitTask(aTask(), keyed).then(statusOf)).toBe(202)
  expect(await service.submitTask({}).then(statusOf)).toBe(406)
  expect(await service.submitTask(aTask(), badToken).then(statusOf)).toBe(401)

  const rejected = await service.submitTask()
  expect(rejected).toMatchObject({
    status: 429,
    body: { error: 'more than 3 submissions a minute without a valid credential from one address' },
  })
  expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await service.submitTask(aTask(), badToken).then(statusOf)).toBe(429)
  expect(await service.submitTask({}, badToken).then(statusOf)).toBe(429)
  const beforeItsBody =
    'POST /api/v1/tasks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\nWatcher-Deploy-Token: another\r\n\r\n'
  const slow = connect(Number(new URL(service.url).port), '127.0.0.1')
  slow.write(beforeItsBody)
  expect(String((await once(slow, 'data'))[0])).toMatch(/^HTTP\/1\.1 429 /)
  slow.destroy()
  expect(await service.submitTask({}, { 'Idempotency-Key': 'new' }).then(statusOf)).toBe(429)
  expect(await service.submitTask({}, withToken).then(statusOf)).toBe(406)
  expect(await service.submitTask(aTask(), { 'Idempotency-Key': 'new' }).then(statusOf)).toBe(429)
  expect(await service.submitTask(aTask(), keyed).then(statusOf)).toBe(202)
  for (let task = 0; task < 5; task += 1) expect(await service.submitTask(aTask(), withToken).then(statusOf)).toBe(202)
})

test('unfinished tasks of one application are limited', async () => {
  const withImage = (name: string, app = 'bank') =>
    service.submitTask(aTask({ app, images: [{ image: `registry.example/${name}`, tag: 'v1' }] }), withToken)
  const [accepted] = [await withImage('a'), await withImage('b')]
  const rejected = await withImage('c')
  expect(rejected).toMatchObject({
    status: 429,
    body: { error: expect.stringContaining('2 tasks of this application') },
  })
  expect(rejected.headers.get('retry-after')).toBe('10')
  expect(await withImage('c', 'shop').then(statusOf)).toBe(202)
  const { id } = TaskAcceptance.parse(accepted?.body)
  expect(await service.request(`/api/v1/tasks/${id}`, { method: 'DELETE', headers: withToken }).then(statusOf)).toBe(
    200,
  )
  expect(await withImage('c').then(statusOf)).toBe(202)
})

test('a client waits for so many tasks at once, and is answered at once about one that has ended', async () => {
  const submit = async (app: string) =>
    TaskAcceptance.parse((await service.submitTask(aTask({ app }), withToken)).body).id
  const [id, ended] = [await submit('waited-for'), await submit('ended')]
  await service.request(`/api/v1/tasks/${ended}`, { method: 'DELETE', headers: withToken })
  const hangUp = new AbortController()
  const wait = (signal?: AbortSignal) => service.request(`/api/v1/tasks/${id}?wait=1`, signal ? { signal } : {})
  const hold = () => service.request(`/api/v1/tasks/${id}?wait=60`, { signal: hangUp.signal }).catch(() => undefined)
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
  expect(await service.request(`/api/v1/tasks/${ended}?wait=60`).then(statusOf)).toBe(200)
  hangUp.abort()
  await waiting
  await expect.poll(() => wait().then(statusOf)).toBe(200)
})

/** Each task takes a read-only transaction longer than a list may take. */
const slowReaders = `
  ALTER TABLE watcher.tasks ENABLE ROW LEVEL SECURITY;
  CREATE POLICY slow_readers ON watcher.tasks
    USING (CASE WHEN current_setting('transaction_read_only')::boolean THEN pg_sleep(10) IS NOT NULL ELSE true END)`

test('what readers ask PostgreSQL for keeps nothing else waiting', async () => {
  const { id } = TaskAcceptance.parse((await service.submitTask(aTask(), withToken)).body)
  let isOver = false
  try {
    await rows.query(slowReaders)
    const statuses = new Set<number>()
    const keepReading = async (path: string) => {
      while (!isOver) statuses.add(await service.request(`/api/v1/${path}?search=registry`).then(statusOf))
    }
    const reads = Promise.all(Array.from({ length: 40 }, (_, at) => keepReading(at % 2 ? 'tasks' : 'tasks/counts')))
    const waiting = async () => {
      await rows.query('SELECT pg_stat_clear_snapshot()')
      const { rowCount } = await rows.query(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'",
      )
      return rowCount
    }
    await expect.poll(waiting).toBe(4)
    for (let turn = 0; turn < 5; turn += 1) {
      expect(await service.request('/readyz').then(statusOf)).toBe(200)
      expect(await service.request(`/api/v1/tasks/${id}`).then(statusOf)).toBe(200)
      expect(await service.submitTask(aTask(), withToken).then(statusOf)).toBe(202)
    }
    isOver = true
    await reads
    expect(statuses).toEqual(new Set([503, 429])) // of one address eleven lists are under way
  } finally {
    isOver = true
    await rows.query('ALTER TABLE watcher.tasks DISABLE ROW LEVEL SECURITY')
  }
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

test('connections are limited, and one too many makes room by those on which nothing is asked', async () => {
  await using limited = await startService({ settings: { MAX_CONNECTIONS: '100' } })
  const port = Number(new URL(limited.url).port)
  const { body } = await limited.submitTask()
  const waiting = `GET /api/v1/tasks/${TaskAcceptance.parse(body).id}?wait=60 HTTP/1.1\r\nHost: x\r\n\r\n`
  const probe = 'GET /livez HTTP/1.1\r\nHost: x\r\n'
  const ask = () => rawExchange(port, `${probe}Connection: close\r\n\r\n`)
  const sockets: Socket[] = []
  const open = (request: string) => {
    // One address holds a tenth at most.
    const localAddress = `127.0.0.${2 + (sockets.length % 20)}`
    const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined)
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
