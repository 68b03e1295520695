import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { TaskList } from '../../contract/task.ts'
import { TaskEvents } from '../../contract/task-event.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { readEvents } from '../support/event-reader.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { mintJwt } from '../support/mint-jwt.ts'
import { type Answer, aTask, type Service, startService } from '../support/service.ts'

const deployToken = 'deploy-token-of-this-test'
const withToken = { 'Watcher-Deploy-Token': deployToken }
const jwtSecret = 'the-jwt-secret-of-this-test-has-32-bytes'
const settings = { WATCHER_DEPLOY_TOKEN: deployToken, JWT_SECRET: jwtSecret }

let database: TestDatabase
let rows: Client
let replicas: readonly Service[]
beforeAll(async () => {
  database = await createTestDatabase()
  rows = new Client({ connectionString: database.url })
  await rows.connect()
  const first = await startService({ databaseUrl: database.url, settings })
  replicas = [first, await startService({ databaseUrl: database.url, settings })]
})
afterAll(async () => {
  for (const replica of replicas) await replica[Symbol.asyncDispose]()
  await rows.end()
  await database[Symbol.asyncDispose]()
})

const replica = (at: number): Service => {
  const one = replicas[at % replicas.length]
  if (!one) throw new Error('no replica was started')
  return one
}
const idOf = ({ body }: { body: unknown }) => String((body as { id: string }).id)
const anApp = () => `app-${randomUUID()}`
const keyed = (key: string, headers: Record<string, string> = {}) => ({ 'Idempotency-Key': key, ...headers })
const tasksOf = async (app: string) => (await rows.query('SELECT id FROM watcher.tasks WHERE app = $1', [app])).rowCount

describe('Idempotency-Key', () => {
  test('gives the same task to the same body, on every replica and in whatever order its fields come', async () => {
    const [app, key] = [anApp(), randomUUID()]
    const first = await replica(0).submitTask(aTask({ app }), keyed(key))
    const { images, ...rest } = aTask({ app })
    const again = await replica(1).submitTask({ images, ...rest, unknown: 1 }, keyed(key))
    expect([first.status, again.status]).toEqual([202, 202])
    expect(again.body).toEqual(first.body)
    expect(await tasksOf(app)).toBe(1)
  })

  test('gives one task to thirty requests at once on two replicas', async () => {
    for (let round = 0; round < 2; round += 1) {
      const [app, key] = [anApp(), randomUUID()]
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, at) => replica(at).submitTask(aTask({ app }), keyed(key))),
      )
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
      expect(new Set(answers.map(idOf)).size).toBe(1)
      expect(await tasksOf(app)).toBe(1)
    }
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
    const submitAll = async (at: number) => {
      const answers: Answer[] = []
      for (const [name, headers] of uses) {
        const task = aTask({ app: name, author: `author-${answers.length}` })
        answers.push(await replica(at).submitTask(task, keyed(key, headers)))
      }
      return answers
    }
    const first = await submitAll(0)
    expect(first.map(({ status }) => status)).toEqual(uses.map(() => 202))
    expect(new Set(first.map(idOf)).size).toBe(uses.length)
    expect((await submitAll(1)).map(idOf)).toEqual(first.map(idOf))
  })

  test('compares which task a submission goes back to', async () => {
    const [app, key] = [anApp(), randomUUID()]
    const target = idOf(await replica(0).submitTask(aTask({ app })))
    await rows.query("UPDATE watcher.tasks SET status = 'deployed' WHERE id = $1", [target])
    const back = await replica(0).submitTask({ ...aTask({ app }), rollback_target_id: target }, keyed(key))
    expect(await replica(1).request(`/api/v1/tasks/${idOf(back)}`)).toMatchObject({
      body: { is_rollback: true, rollback_target_id: target },
    })
    const submit = (task: unknown) => replica(1).submitTask(task, keyed(key))
    expect(await submit({ ...aTask({ app }), rollback_target_id: target })).toEqual(back)
    expect((await submit(aTask({ app }))).status).toBe(409)
    const unknown = { ...aTask({ app }), rollback_target_id: randomUUID() }
    expect(await replica(1).submitTask(unknown)).toMatchObject({
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
    const answer = await replica(0).submitTask(aTask(), keyed(key))
    expect(answer).toMatchObject({
      status: 406,
      body: { status: 'invalid payload', error: expect.stringContaining('idempotency-key: must be one value') },
    })
  })

  test('comes after the body and the credential, and before the lock', async () => {
    const [app, key] = [anApp(), randomUUID()]
    const first = await replica(0).submitTask(aTask({ app }), keyed(key, withToken))
    const submit = (task: unknown, headers: Record<string, string>) => replica(1).submitTask(task, headers)
    await rows.query('UPDATE watcher.deploy_lock SET is_set = true')
    try {
      expect((await submit({ ...aTask({ app }), images: [] }, keyed(key))).status).toBe(406)
      expect((await submit(aTask({ app }), keyed(key, { 'Watcher-Deploy-Token': 'wrong' }))).status).toBe(401)
      expect(await submit(aTask({ app }), keyed(key, withToken))).toMatchObject({ status: 202, body: first.body })
      expect((await submit(aTask({ app, author: 'bob' }), keyed(key, withToken))).status).toBe(409)
      const fresh = keyed(randomUUID(), withToken)
      expect(await submit(aTask({ app }), fresh)).toMatchObject({ status: 406, body: { status: 'rejected' } })
      expect((await submit(aTask({ app }), { 'Watcher-Deploy-Token': 'wrong' })).status).toBe(406)
      await rows.query('UPDATE watcher.deploy_lock SET is_set = false')
      expect(await submit(aTask({ app }), fresh)).toMatchObject({ status: 202 })
    } finally {
      await rows.query('UPDATE watcher.deploy_lock SET is_set = false')
    }
  })

  test('makes it safe to send again what was cut before its answer, 60 times', async () => {
    const line = await startFaultProxy({ port: Number(new URL(database.url).port) })
    await using _ = line
    const url = Object.assign(new URL(database.url), { port: String(line.port) }).href
    await using service = await startService({ databaseUrl: url, settings })
    let cuts = 0
    const resend = async (app: string, key: string): Promise<string> => {
      for (let attempt = 0; attempt < 50; attempt += 1) {
        const answer = await service.submitTask(aTask({ app }), keyed(key))
        if (answer.status === 202) return idOf(answer)
        expect(answer.status).toBe(503)
      }
      throw new Error('never accepted')
    }
    const duplicates: string[] = []
    for (let round = 0; round < 60; round += 1) {
      const [app, key] = [`cut-${round}-${randomUUID()}`, randomUUID()]
      const sent = service.submitTask(aTask({ app }), keyed(key))
      // Somewhere between the first look and the answer.
      const cut = setTimeout(() => line.cut(), round % 8)
      const { status } = await sent
      clearTimeout(cut)
      if (status !== 202) cuts += 1
      await resend(app, key)
      if ((await tasksOf(app)) !== 1) duplicates.push(app)
    }
    expect(duplicates).toEqual([])
    expect(cuts).toBeGreaterThan(6)
  })
})

describe('paging by cursor', () => {
  test('shows every task once while tasks arrive on two replicas (spec 4)', async () => {
    const project = `project-${randomUUID()}`
    const submit = (at: number) => replica(at).submitTask(aTask({ app: anApp(), project }))
    const before = (await Promise.all(Array.from({ length: 25 }, (_, at) => submit(at)))).map(idOf)
    const seen: string[] = []
    const page = async (cursor: string) =>
      TaskList.parse((await replica(seen.length).request(`/api/v1/tasks?project=${project}&limit=4${cursor}`)).body)
    let { tasks, total, next_cursor: next } = await page('')
    expect(total).toBe(25)
    for (;;) {
      seen.push(...tasks.map(({ id }) => id))
      if (next === undefined) break
      const [answer] = await Promise.all([page(`&cursor=${next}`), submit(seen.length)])
      expect(answer).not.toHaveProperty('total')
      ;({ tasks, next_cursor: next } = answer)
    }
    expect(seen.toSorted()).toEqual(before.toSorted())
  })
})

describe('GET /api/v1/apps/summary', () => {
  test('tells of the applications that Argo CD has shown, and when that was so, for a window of 1 to 90 days', async () => {
    const app = anApp()
    const id = idOf(await replica(0).submitTask(aTask({ app })))
    await rows.query('INSERT INTO watcher.confirmed_applications (app) VALUES ($1)', [app])
    await replica(0).submitTask(aTask({ app: `not-${app}` }))
    const { status, body } = await replica(0).request('/api/v1/apps/summary?days=7')
    expect(status).toBe(200)
    expect(body).toMatchObject({ days: 7, as_of: expect.any(Number), apps: expect.any(Array) })
    expect((body as { apps: { app: string }[] }).apps).toEqual([
      expect.objectContaining({ app, counts: { 'in progress': 1 }, recent: [{ id, status: 'in progress' }] }),
    ])
    expect(await replica(0).request('/api/v1/apps/summary')).toMatchObject({ body: { days: 30 } })
    for (const days of ['0', '91', '1.5', 'x', '']) {
      expect(await replica(0).request(`/api/v1/apps/summary?days=${days}`)).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining('days') },
      })
    }
  })
})

test('who hangs up while waiting is waited for no longer', async () => {
  const id = idOf(await replica(0).submitTask(aTask({ app: anApp() })))
  const timers = async () => {
    const { body } = await replica(0).request('/metrics')
    return Number(/^nodejs_active_resources\{type="Timeout"\} (\d+)$/m.exec(String(body))?.[1])
  }
  const before = await timers()
  const hangUp = new AbortController()
  const waits = Array.from({ length: 100 }, () =>
    fetch(`${replica(0).url}/api/v1/tasks/${id}?wait=60`, hangUp).catch(() => undefined),
  )
  await expect.poll(timers).toBeGreaterThan(before + 90)
  hangUp.abort()
  await Promise.all(waits)
  await expect.poll(timers).toBeLessThan(before + 50)
})

describe('a task whose id is asked for in capital letters', () => {
  test('is waited for, and tells its events, as by the id that it has', async () => {
    const { body } = await replica(0).submitTask(aTask({ app: anApp() }), withToken)
    const { id } = z.object({ id: z.string() }).parse(body)
    const path = `/api/v1/tasks/${id.toUpperCase()}`
    const began = performance.now()
    const waited = replica(1).request(`${path}?wait=30`)
    const told = readEvents(`${replica(1).url}${path}/events`)
    expect((await replica(0).request(path, { method: 'DELETE', headers: withToken })).status).toBe(200)
    expect(await waited).toMatchObject({ status: 200, body: { id, status: 'cancelled' } })
    const { events, ended } = await told
    await ended
    expect([events.at(0)?.kind, events.at(-1)?.kind]).toEqual(['accepted', 'verdict'])
    expect(performance.now() - began).toBeLessThan(20_000)
  })
})

describe('a long timeline', () => {
  test('is read in pages of a thousand events, and each says where the next one begins', async () => {
    const { body } = await replica(0).submitTask(aTask({ app: anApp() }), withToken)
    const { id } = z.object({ id: z.string() }).parse(body)
    await rows.query(
      `INSERT INTO watcher.task_events (task_id, kind, detail) SELECT $1, 'note', n::text FROM generate_series(1, 1500) AS n`,
      [id],
    )
    await replica(0).request(`/api/v1/tasks/${id}`, { method: 'DELETE', headers: withToken })
    const page = async (after = '') =>
      TaskEvents.parse((await replica(1).request(`/api/v1/tasks/${id}/events${after}`)).body)
    await expect.poll(async () => (await page()).events.length).toBe(1000)
    const first = await page()
    expect(first.next_after).toBe(first.events.at(-1)?.id)
    const second = await page(`?after=${first.next_after}`)
    expect([second.events.at(-1)?.kind, second.next_after]).toEqual(['verdict', undefined])
  })

  test('is no stream for HEAD, which is answered at once', async () => {
    const headers = { accept: 'text/event-stream' }
    const answer = await replica(0).request('/api/v1/events', { method: 'HEAD', headers })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
  })
})
