import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Service, startService } from '../support/service.ts'
import { deployToken, startWorld, type World, withToken } from '../support/world.ts'
import { codeBlocksOf, textOf } from './documents.ts'

const json = { 'content-type': 'application/json' }
const task = { app: 'shop', author: 'ada', project: 'shop', images: [{ image: 'registry.example/shop', tag: '1.1.0' }] }
const everyMinute = 'Mon 00:00 - Thu 00:00, Thu 00:00 - Mon 00:00'
let world: World
let locked: Service
beforeAll(async () => {
  world = await startWorld()
  locked = await startService({ settings: { LOCKDOWN_SCHEDULE: everyMinute } })
})
afterAll(async () => {
  await locked?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

test('the commands of docs/api.md work one after the other', async () => {
  const commands = codeBlocksOf('docs/api.md')
    .filter(({ language, code }) => language === 'sh' && !code.startsWith('export '))
    .map(({ code }) => code)
  expect(commands.length).toBeGreaterThan(5)
  const script = commands.join('\necho\n')
  const env = { PATH: process.env.PATH, WATCHER: world.service.url, TOKEN: deployToken }
  const { stdout } = await promisify(execFile)('bash', ['-e', '-c', script], { env })
  for (const fact of ['"status":"accepted"', '"status":"deployed"', '"status":"cancelled"', 'event: lock', 'false'])
    expect(stdout).toContain(fact)
})

type Call = { readonly of?: () => Service; readonly path: string; readonly init?: RequestInit }
const submission = (body: unknown, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { ...json, ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
const tasks = '/api/v1/tasks'
const key = { 'Idempotency-Key': 'run-1', ...withToken }

/** A request for each case of the table. */
const calls: Readonly<Record<string, Call>> = {
  'field missing or invalid': { path: tasks, init: submission({ ...task, author: undefined }) },
  'not JSON': { path: tasks, init: submission('{') },
  'deployments are locked': { of: () => locked, path: tasks, init: submission(task) },
  'credential wrong': { path: tasks, init: submission(task, { 'Watcher-Deploy-Token': 'wrong' }) },
  'credential missing': { path: `${tasks}/4711`, init: { method: 'DELETE' } },
  'key used with another body': { path: tasks, init: submission({ ...task, author: 'bob' }, key) },
  'larger than 1 MiB': { path: tasks, init: submission(`"${'a'.repeat(2 ** 20)}"`) },
  'no `Content-Type: application/json`': {
    path: tasks,
    init: { ...submission(task), headers: { 'content-type': 'application/x-www-form-urlencoded' } },
  },
  'unknown task': { path: `${tasks}/4711` },
  'filter invalid': { path: `${tasks}?limit=x` },
  'unknown path': { path: '/api/v1/nothing' },
  'method not allowed': { path: tasks, init: { method: 'PUT' } },
}

describe('the errors of docs/api.md', () => {
  const rows = [...textOf('docs/api.md').matchAll(/^\| (.+?) \| (\d{3}) \| `(\{.+\})` \|$/gm)]
  test('are those that the test asks for', () => {
    expect(rows.map(([, name]) => name)).toEqual(Object.keys(calls))
  })

  test.for(rows.map(([, name = '', status, body = '']) => ({ name, status: Number(status), body: JSON.parse(body) })))(
    '$name',
    async ({ name, status, body }) => {
      await world.service.submitTask(task, key)
      const { of = () => world.service, path, init } = calls[name] ?? { path: '/no-call-for-this-row' }
      expect(await of().request(path, init)).toMatchObject({ status, body })
    },
  )
})
