import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createTestDatabase, queryOnce, serviceUrlOf } from '../support/database.ts'
import { readEvents } from '../support/event-reader.ts'
import { runService } from '../support/run-program.ts'
import { runningCommands } from '../support/running-commands.ts'
import { aTask } from '../support/service.ts'
import { startWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ settings: { DRAIN_DELAY: '4s' } })
})
afterAll(() => world[Symbol.asyncDispose]())

test('killed between commit and verdict, and started again, the service ends the task with exactly one commit, within the original deadline', async () => {
  const { service, simulator } = world
  simulator.control.overridePods('shop', { newPods: 'held', except: ['registry.example/shop:v0'] })
  const id = await world.deploy('shop', 'v2')
  const before = await service.waitForTask(id, ({ commit }) => commit !== undefined)
  await service.kill('SIGKILL')
  await service.restart()
  simulator.control.releasePods('shop')
  const task = await service.waitForEnd(id)
  expect(task).toMatchObject({ status: 'deployed', commit: before.commit, created: before.created })
  expect(await world.commits()).toHaveLength(1)
})

test('SIGTERM fails /readyz first while requests are still answered, answers what waits, gives everything back, and is held up by no push', async () => {
  const { service, database } = world
  const { host } = world.simulator.git
  const before = host.commands().length
  host.setFault({ kind: 'hang' })
  await world.deploy('shop', 'v3')
  await expect.poll(() => host.commands().length).toBeGreaterThan(before)
  const id = await world.announce('shop', 'v4', { images: [{ image: 'registry.example/shop', tag: 'v4' }] })
  const waiting = service.request(`/api/v1/tasks/${id}?wait=60`)
  const reader = await readEvents(`${service.url}/api/v1/events`)
  const stopped = service.kill('SIGTERM')
  await expect.poll(async () => (await service.request('/readyz')).status, { interval: 20 }).toBe(503)
  const late = await service.acceptTask(aTask({ app: 'late' }))
  expect(await service.getTask(late)).toMatchObject({ app: 'late' })
  // A stream ends at once, so that its reader comes back to another replica, from where it was.
  const stream = await fetch(`${service.url}/api/v1/events`, { headers: { accept: 'text/event-stream' } })
  expect([stream.status, await stream.text()]).toEqual([200, expect.stringMatching(/^:\nid: \d+\n\n$/)])
  await reader.ended
  expect(await waiting).toMatchObject({ status: 200, body: { id, status: 'in progress' } })
  expect(await stopped).toBe(0)
  expect((await database.query('SELECT FROM watcher.replicas')).rows).toEqual([])
  const unfinishedOwned = "SELECT FROM watcher.tasks WHERE owner IS NOT NULL AND status = 'in progress'"
  expect((await database.query(unfinishedOwned)).rows).toEqual([])
  const commands = await runningCommands()
  expect(commands.filter((line) => line.includes(`-p ${host.port} `))).toEqual([])
})

describe.concurrent(`wrong settings end the start with 78 and one report (spec 2.7, B50)`, () => {
  test('all of them, without their text; an invalid COMMIT_MESSAGE_FORMAT ends the start, and one that fails later falls back to the default (B57; the first part)', async ({
    expect,
  }) => {
    const { code, stderr, stdout } = await runService({
      ARGO_URL: 'ftp://hidden-1',
      DATABASE_URL: 'mysql://hidden-2',
      PORT: 'hidden-3',
      COMMIT_MESSAGE_FORMAT: '{{.App}}\n{{range .Images}}',
      TASK_RETENTION_DAYS: '0',
      AUDIT_RETENTION_DAYS: '7',
    })
    expect(code).toBe(78)
    for (const name of ['ARGO_URL', 'ARGO_TOKEN', 'DATABASE_URL', 'PORT']) expect(stderr).toContain(`- ${name}: `)
    expect(stderr).toContain(
      '- COMMIT_MESSAGE_FORMAT: does not parse: template: COMMIT_MESSAGE_FORMAT:2: unexpected EOF\n',
    )
    expect(stderr).toContain('- TASK_RETENTION_DAYS: must be a whole number of days from 1 to 36500')
    expect(stderr).toContain('- AUDIT_RETENTION_DAYS: must be a whole number of days from 30 to 36500')
    expect(stderr + stdout).not.toContain('hidden')
  })

  test('an address where a host belongs is not repeated with its password', async ({ expect }) => {
    const { code, stderr } = await runService({
      ARGO_URL: 'http://127.0.0.1:1',
      ARGO_TOKEN: 'token',
      DATA_DIR: await folder(),
      DB_HOST: 'postgres://ada:hidden-1@db.invalid',
      DB_USER: 'ada',
      DB_NAME: 'watcher',
    })
    expect([code, stderr]).toEqual([1, expect.stringContaining('<redacted>@db.invalid')])
    expect(stderr).not.toContain('hidden')
  })
})

test('a folder that cannot be written ends the start with 78 and names its setting', async () => {
  const file = path.join(await folder(), 'file')
  await writeFile(file, '')
  await using database = await createTestDatabase()
  const settings = { ARGO_URL: 'https://argocd.example', ARGO_TOKEN: 'token', PORT: '1', DATA_DIR: await folder() }
  const { code, stderr } = await runService({
    ...settings,
    DATABASE_URL: serviceUrlOf(database.url),
    REPO_CACHE_PATH: path.join(file, 'repositories'),
  })
  expect([code, stderr]).toEqual([78, expect.stringContaining(`REPO_CACHE_PATH: ${file}/repositories is not writable`)])
})

test('a role that lacks the rights which an upgrade has made necessary ends the start with 78 and one line', async () => {
  await using database = await createTestDatabase()
  await queryOnce(database.url, 'REVOKE INSERT, UPDATE ON watcher.pending_writes FROM watcher_service')
  const settings = { ARGO_URL: 'https://argocd.example', ARGO_TOKEN: 'token', PORT: '1', DATA_DIR: await folder() }
  const ended = await runService({ ...settings, DATABASE_URL: serviceUrlOf(database.url) })
  expect(ended).toMatchObject({ code: 78 })
  expect(ended.stderr).toContain(
    'the database role watcher_service lacks rights in the schema watcher: INSERT, UPDATE on pending_writes.',
  )
  expect(ended.stderr).toContain('GRANT statements of docs/install.md')
})

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-start-'))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  return made
}
