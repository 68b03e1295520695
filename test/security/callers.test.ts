import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createMetrics } from '../../server/metrics/metrics.ts'
import { serviceUrlOf } from '../support/database.ts'
import { aTask, withoutLimits } from '../support/service.ts'
import { serviceRole } from '../support/template-database.ts'
import { startWorld, type World, withToken } from '../support/world.ts'
import { idOf, textOf } from './answers.ts'
import { injections, oddNames } from './hostile-texts.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ settings: { ...withoutLimits, LOG_LEVEL: 'debug' } })
})
afterAll(() => world[Symbol.asyncDispose]())

const list = (query: string) => world.service.request(`/api/v1/tasks?${query}`)
const Total = z.object({ total: z.number() })
const taskCount = async () => Total.parse((await list('')).body).total

describe('invented application names add no metric series (T9)', () => {
  test('100,000 names that were never confirmed, at the metrics themselves', async () => {
    const metrics = createMetrics()
    metrics.taskEnded({ app: undefined, result: 'failed', seconds: 1 }) // makes the series of a failure without a cause
    const ownLines = async () =>
      (await metrics.render()).split('\n').filter((line) => !/\b(?:nodejs|process)_/.test(line))
    const before = (await ownLines()).length
    for (let index = 0; index < 100_000; index++) {
      metrics.taskAccepted()
      metrics.taskEnded({ app: undefined, result: index % 2 ? 'app not found' : 'failed', seconds: 1 })
    }
    expect(await ownLines()).toHaveLength(before)
    for (let index = 0; index < 100_000; index++)
      metrics.taskEnded({ app: `confirmed-${index}`, result: 'failed', seconds: 1 })
    const labels = new Set([...(await metrics.render()).matchAll(/app="([^"]+)"/g)].map(([, label]) => label))
    expect([labels.size, labels.has('other')]).toEqual([2_001, true])
  })

  test('20 names, from their submission to their end', async () => {
    const series = async () => [...textOf(await world.service.request('/metrics')).matchAll(/^\w[^ ]*/gm)].map(String)
    const unfinished = async () => Total.parse((await list('status=in%20progress')).body).total
    const submitAll = async (prefix: string, count: number) => {
      const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
      for await (const answers of inGroups(names, 10, (app) => world.service.submitTask(aTask({ app }))))
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
      await expect.poll(unfinished).toBe(0)
    }
    await submitAll('first', 1) // what the process counts about itself appears with its first use
    await series() // this request counts too
    const before = new Set(await series())
    await submitAll('invented', 20)
    const added = (await series()).filter((name) => !before.has(name) && !/^(?:nodejs|process)_/.test(name))
    expect(added).toEqual([])
  })
})

async function* inGroups<Item, Result>(items: readonly Item[], size: number, work: (item: Item) => Promise<Result>) {
  for (let from = 0; from < items.length; from += size)
    yield await Promise.all(items.slice(from, from + size).map(work))
}

test('a hostile application name reaches no other path of Argo CD and no file of another application (T23)', async () => {
  const answers = await Promise.all(oddNames.map((app) => world.service.submitTask(aTask({ app }))))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202, 406]))
  const accepted = answers.filter(({ status }) => status === 202).map(idOf)
  const ended = await Promise.all(accepted.map((id) => world.service.waitForEnd(id)))
  expect(ended.filter(({ status }) => status !== 'app not found').map(({ app }) => app)).toEqual([])
  const paths = world.simulator.control.callLog().map(({ path }) => path.split('?', 1)[0] ?? '')
  const known =
    /^\/api\/(?:version|v1\/(?:stream\/)?applications(?:\/[^/]+(?:\/(?:managed-resources|resource-tree|syncwindows|events))?)?)$/
  expect(paths.filter((one) => !known.test(one))).toEqual([])
})

describe('line ends, ANSI codes, direction marks and NUL forge no log line and no trailer (T24)', () => {
  const taken = [
    '\u202egnp.exe',
    'a\u2028b',
    'a\u2029b',
    '\u2066x\u2069',
    '{"level":60}',
    '","msg":"x',
    "'; DROP",
    '$(id)',
  ]
  const more = ['<script>', 'Watcher-Task: 1', 'x <x@y>', 'Co-authored-by: x']

  test('what is no control character is taken (B9), each log line stays JSON, and nothing writes on a terminal', async () => {
    for (const author of [...taken, ...more])
      expect((await world.service.submitTask(aTask({ app: 'gone', author, project: author }))).status).toBe(202)
    const [last = ''] = more.slice(-1)
    const hostile = aTask({
      author: last,
      project: 'Watcher-Task: forged',
      images: [{ image: 'registry.example/shop', tag: 'v24' }],
    })
    const id = idOf(await world.service.submitTask(hostile, withToken))
    expect((await world.service.waitForEnd(id)).status).toBe('deployed')
    const [commit] = await world.commits()
    expect(commit?.message.match(/^[A-Za-z-]+: .*$/gm)).toEqual([`Watcher-Task: ${id}`])
    const lines = world.service.logs().trimEnd().split('\n')
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow()
    expect(world.service.logs()).not.toMatch(/(?!\n)[\p{Cc}\u2028-\u202e\u2066-\u2069]/u)
  })
})

test('JSON, queries, annotations and headers never change a prototype (T36)', async () => {
  const keys = [
    '__proto__',
    'constructor',
    'prototype',
    '__defineGetter__',
    'toString',
    'hasOwnProperty',
    'valueOf',
    '__proto__.x',
  ]
  const bodies = keys.flatMap((key) => [
    `{"${key}":{"polluted":1},${JSON.stringify(aTask({ app: 'polluter' })).slice(1)}`,
    `{"app":"polluter","author":"a","project":"p","images":[{"image":"i","tag":"t","${key}":{"polluted":1}}]}`,
    `{"source":{"repository":"r","sha":"s","${key}":{"polluted":1}},${JSON.stringify(aTask({ app: 'polluter' })).slice(1)}`,
  ])
  const queries = keys.flatMap((key) => [`${key}[polluted]=1`, `${key}=polluted`, `app[${key}]=polluted`])
  expect(bodies.length + queries.length).toBeGreaterThanOrEqual(40)
  for (const body of bodies) {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    expect((await world.service.request('/api/v1/tasks', init)).status).toBe(202)
  }
  for (const query of queries) expect((await list(query)).status).toBe(200)
  for (const key of keys) {
    expect((await world.service.request(`/api/v1/tasks/${key}`)).status).toBe(404)
    const answer = await world.service.request('/api/v1/config', { headers: { [`x-${key}`]: 'polluted' } })
    expect([answer.status, textOf(answer)]).toEqual([200, expect.not.stringContaining('polluted')])
  }
  expect(textOf(await list('app=polluter'))).not.toContain('polluted')
})

describe('a filter with SQL finds nothing, and the service runs as a role that can define nothing (T45)', () => {
  test('what looks like SQL in a filter is text', async () => {
    const before = await taskCount()
    const filters = [
      'app',
      'project',
      'author',
      'search',
      'status',
      'cause',
      'limit',
      'offset',
      'from_timestamp',
      'ended_from',
      'cursor',
    ]
    // Each text in some filter, and each filter with some texts.
    for (const [at, filter] of filters.entries()) {
      const texts = injections.filter((_, index) => index % filters.length === at)
      const answers = await Promise.all(texts.map((text) => list(`${filter}=${encodeURIComponent(text)}`)))
      const wrong = answers.filter(({ status, body }) => {
        if (status !== 200) return status !== 400
        const { tasks } = z.object({ tasks: z.array(z.unknown()) }).parse(body)
        return tasks.length > 0
      })
      expect(wrong.map(textOf), filter).toEqual([])
    }
    expect(await taskCount()).toBe(before)
  })

  // So do the services of all tests that are given no database of another.
  test('a role that may not define anything does everything that the service does', async () => {
    const ids = [await world.deploy('shop', 'v45'), await world.announce('gone', 'v1')]
    const ends = await Promise.all(ids.map((id) => world.service.waitForEnd(id)))
    expect(ends.map(({ status }) => status)).toEqual(['deployed', 'app not found'])
    for (const path of [
      'tasks?search=shop',
      'tasks/counts',
      'tasks/names?field=app',
      'history?days=1',
      'status',
      'apps/summary',
      'versions',
      'deploy-lock',
      `tasks/${ids[0]}/events`,
    ])
      expect((await world.service.request(`/api/v1/${path}`)).status).toBe(200)
    expect(world.service.logs()).not.toMatch(/permission denied|"level":[56]0/)
    const { databaseUrl } = world.service
    const owner = new Client({ connectionString: databaseUrl })
    const client = new Client({ connectionString: serviceUrlOf(databaseUrl) })
    await Promise.all([owner.connect(), client.connect()])
    try {
      const users = `SELECT DISTINCT usename FROM pg_stat_activity
        WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`
      expect((await owner.query(users)).rows).toEqual([{ usename: serviceRole.username }])
      for (const statement of ['DROP SCHEMA watcher CASCADE', 'DROP TABLE watcher.tasks', 'CREATE TABLE watcher.x ()'])
        await expect(client.query(statement)).rejects.toThrow(/permission denied|must be owner/)
    } finally {
      await Promise.all([owner.end(), client.end()])
    }
  })
})
