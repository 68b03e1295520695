import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { TaskList } from '../../contract/task.ts'
import { TaskEvents } from '../../contract/task-event.ts'
import { createTestDatabase } from '../support/database.ts'
import { readEvents } from '../support/event-reader.ts'
import { mintJwt } from '../support/mint-jwt.ts'
import { type Answer, aTask, withoutLimits } from '../support/service.ts'
import { startStatementLog } from '../support/statement-log.ts'
import { startWorld, type World, withToken } from '../support/world.ts'

const jwtSecret = 'the-jwt-secret-of-this-test-has-32-bytes'

let world: World
let service: World['service']
let rows: World['database']
/** What the service says to the database. */
let log: Awaited<ReturnType<typeof startStatementLog>>
const stack = new AsyncDisposableStack()
beforeAll(async () => {
  const { url } = stack.use(await createTestDatabase())
  log = stack.use(await startStatementLog({ port: Number(new URL(url).port) }))
  const databaseUrl = Object.assign(new URL(url), { port: String(log.port) }).href
  const settings = { ...withoutLimits, JWT_SECRET: jwtSecret }
  world = stack.use(await startWorld({ parts: [], databaseUrl, settings }))
  ;({ service, database: rows } = world)
})
afterAll(() => stack.disposeAsync())

const idOf = ({ body }: { body: unknown }) => String((body as { id: string }).id)
const anApp = () => `app-${randomUUID()}`
const keyed = (key: string, headers: Record<string, string> = {}) => ({ 'Idempotency-Key': key, ...headers })
const tasksOf = async (app: string) => (await rows.query('SELECT id FROM watcher.tasks WHERE app = $1', [app])).rowCount

describe('Idempotency-Key', () => {
  test('gives the same task to the same body, in whatever order its fields come', async () => {
    const [app, key] = [anApp(), randomUUID()]
    const first = await service.submitTask(aTask({ app }), keyed(key))
    const { images, ...rest } = aTask({ app })
    const again = await service.submitTask({ images, ...rest, unknown: 1 }, keyed(key))
    expect([first.status, again.status]).toEqual([202, 202])
    expect(again.body).toEqual(first.body)
    expect(await tasksOf(app)).toBe(1)
  })

  test('belongs to the kind and subject of the credential and to the application', async () => {
    const [app, otherApp, key] = [anApp(), anApp(), randomUUID()]
    const jwtOf = (sub: string) => ({
      Authorization: mintJwt({ sub, exp: Math.ceil(Date.now() / 1000) + 600 }, jwtSecret),
    })
    const uses: [string, Record<string, string>][] = [
      [app, {}],
      [app, withToken],
      [app, jwtOf('team-a')],
      [app, jwtOf('team-b')],
      [otherApp, jwtOf('team-b')],
    ]
    const submitAll = async () => {
      const answers: Answer[] = []
      for (const [name, headers] of uses) {
        const task = aTask({ app: name, author: `author-${answers.length}` })
        answers.push(await service.submitTask(task, keyed(key, headers)))
      }
      return answers
    }
    const first = await submitAll()
    expect(first.map(({ status }) => status)).toEqual(uses.map(() => 202))
    expect(new Set(first.map(idOf)).size).toBe(uses.length)
    expect((await submitAll()).map(idOf)).toEqual(first.map(idOf))
  })

  test('compares which task a submission goes back to', async () => {
    const [app, key] = [anApp(), randomUUID()]
    const target = idOf(await service.submitTask(aTask({ app })))
    await rows.query("UPDATE watcher.tasks SET status = 'deployed' WHERE id = $1", [target])
    const back = await service.submitTask({ ...aTask({ app }), rollback_target_id: target }, keyed(key))
    expect(await service.request(`/api/v1/tasks/${idOf(back)}`)).toMatchObject({
      body: { is_rollback: true, rollback_target_id: target },
    })
    const submit = (task: unknown) => service.submitTask(task, keyed(key))
    expect(await submit({ ...aTask({ app }), rollback_target_id: target })).toMatchObject({
      status: 202,
      body: back.body,
    })
    expect((await submit(aTask({ app }))).status).toBe(409)
    const unknown = { ...aTask({ app }), rollback_target_id: randomUUID() }
    expect(await service.submitTask(unknown)).toMatchObject({
      status: 406,
      body: {
        status: 'invalid payload',
        error: expect.stringContaining('rollback_target_id: must be a deployed task'),
      },
    })
  })

  test.for([
    ['empty', ''],
    ['with a blank', 'a b'],
    ['too long', 'x'.repeat(256)],
    ['not ASCII', 'schl\u00fcssel'],
  ])('that is %s is 406 and says what one must be', async ([, key = '']) => {
    const answer = await service.submitTask(aTask(), keyed(key))
    expect(answer).toMatchObject({
      status: 406,
      body: { status: 'invalid payload', error: expect.stringContaining('idempotency-key: must be one value') },
    })
  })
})

describe('paging by cursor', () => {
  test('shows every task once while tasks arrive (spec 4)', async () => {
    const project = `project-${randomUUID()}`
    const submit = () => service.submitTask(aTask({ app: anApp(), project }))
    const before = (await Promise.all(Array.from({ length: 25 }, submit))).map(idOf)
    const seen: string[] = []
    const page = async (cursor: string) =>
      TaskList.parse((await service.request(`/api/v1/tasks?project=${project}&limit=4${cursor}`)).body)
    let { tasks, total, next_cursor: next } = await page('')
    expect(total).toBe(25)
    for (;;) {
      seen.push(...tasks.map(({ id }) => id))
      if (next === undefined) break
      const [answer] = await Promise.all([page(`&cursor=${next}`), submit()])
      expect(answer).not.toHaveProperty('total')
      ;({ tasks, next_cursor: next } = answer)
    }
    expect(seen.toSorted()).toEqual(before.toSorted())
  })
})

describe('GET /api/v1/apps/summary', () => {
  test('tells of the applications that Argo CD has shown, and when that was so, for a window of 1 to 90 days', async () => {
    const app = anApp()
    const id = idOf(await service.submitTask(aTask({ app })))
    await rows.query('INSERT INTO watcher.confirmed_applications (app) VALUES ($1)', [app])
    await service.submitTask(aTask({ app: `not-${app}` }))
    const { status, body } = await service.request('/api/v1/apps/summary?days=7')
    expect(status).toBe(200)
    expect(body).toMatchObject({ days: 7, as_of: expect.any(Number), apps: expect.any(Array) })
    expect((body as { apps: { app: string }[] }).apps).toEqual([
      expect.objectContaining({ app, counts: { 'in progress': 1 }, recent: [{ id, status: 'in progress' }] }),
    ])
    expect(await service.request('/api/v1/apps/summary')).toMatchObject({ body: { days: 30 } })
    for (const days of ['0', '91', '1.5', 'x', '']) {
      expect(await service.request(`/api/v1/apps/summary?days=${days}`)).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining('days') },
      })
    }
  })
})

test('100 clients that disconnect while they wait are waited for no longer, and cost the database nothing more', async () => {
  const path = `/api/v1/tasks/${idOf(await service.submitTask(aTask({ app: anApp() })))}`
  const taskReads = () =>
    log.statements.filter((text) => /^select \* from "watcher"."tasks" where "id" = \$1$/.test(text)).length
  const timers = async () => {
    const { body } = await service.request('/metrics')
    return Number(/^nodejs_active_resources\{type="Timeout"\} (\d+)$/m.exec(String(body))?.[1])
  }
  const [before, readsBefore] = [await timers(), taskReads()]
  const hangUp = new AbortController()
  const waits: Promise<unknown>[] = []
  const wait = () => service.request(`${path}?wait=60`, { signal: hangUp.signal }).catch(() => undefined)
  for (let count = 10; count <= 100; count += 10) {
    waits.push(...Array.from({ length: 10 }, wait)) // few at once, so that on a busy machine no read takes too long
    await expect.poll(() => taskReads() - readsBefore).toBe(count)
  }
  hangUp.abort()
  await Promise.all(waits)
  await expect.poll(timers).toBeLessThan(before + 50)
  expect((await service.request(path)).status).toBe(200) // behind whatever they have left
  expect(taskReads() - readsBefore).toBe(101)
})

describe('a task whose id is asked for in capital letters', () => {
  test('is waited for, and tells its events, as by the id that it has', async () => {
    const { body } = await service.submitTask(aTask({ app: anApp() }), withToken)
    const { id } = z.object({ id: z.string() }).parse(body)
    const path = `/api/v1/tasks/${id.toUpperCase()}`
    const began = performance.now()
    const waited = service.request(`${path}?wait=30`)
    const told = readEvents(`${service.url}${path}/events`)
    expect((await service.request(path, { method: 'DELETE', headers: withToken })).status).toBe(200)
    expect(await waited).toMatchObject({ status: 200, body: { id, status: 'cancelled' } })
    const { events, ended } = await told
    await ended
    expect([events.at(0)?.kind, events.at(-1)?.kind]).toEqual(['accepted', 'verdict'])
    expect(performance.now() - began).toBeLessThan(20_000)
  })
})

describe('a long timeline', () => {
  test('is read in pages of a thousand events, and each says where the next one begins', async () => {
    const { body } = await service.submitTask(aTask({ app: anApp() }), withToken)
    const { id } = z.object({ id: z.string() }).parse(body)
    await rows.query(
      `INSERT INTO watcher.task_events (task_id, kind, detail) SELECT $1, 'note', n::text FROM generate_series(1, 1500) AS n`,
      [id],
    )
    await service.request(`/api/v1/tasks/${id}`, { method: 'DELETE', headers: withToken })
    const page = async (after = '') =>
      TaskEvents.parse((await service.request(`/api/v1/tasks/${id}/events${after}`)).body)
    await expect.poll(async () => (await page()).events.length).toBe(1000)
    const first = await page()
    expect(first.next_after).toBe(first.events.at(-1)?.id)
    const second = await page(`?after=${first.next_after}`)
    expect([second.events.at(-1)?.kind, second.next_after]).toEqual(['verdict', undefined])
  })

  test('is no stream for HEAD, which is answered at once', async () => {
    const headers = { accept: 'text/event-stream' }
    const answer = await service.request('/api/v1/events', { method: 'HEAD', headers })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
  })
})

test('the environment of a task is shown, found by, and part of what an Idempotency-Key stands for', async () => {
  const [app, key] = [anApp(), randomUUID()]
  const submit = (environment: string) => service.submitTask(aTask({ app, environment }), keyed(key))
  const id = idOf(await submit('production'))
  expect(await submit('staging')).toMatchObject({ status: 409 })
  await service.submitTask(aTask({ app: anApp() }))
  expect((await service.getTask(id)).environment).toBe('production')
  const { body } = await service.request(`/api/v1/tasks?environment=production&app=${app}`)
  expect(TaskList.parse(body)).toMatchObject({ total: 1, tasks: [{ id, environment: 'production' }] })
  expect((await service.request('/api/v1/tasks?environment=other')).body).toMatchObject({ total: 0 })
  expect(await service.submitTask(aTask({ environment: '' }))).toMatchObject({
    status: 406,
    body: { error: 'environment: must not be empty' },
  })
})
