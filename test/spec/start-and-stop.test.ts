import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { compileCache } from '../../server/node-flags.mjs'
import { createTestDatabase, queryOnce, serviceUrlOf } from '../support/database.ts'
import { readEvents } from '../support/event-reader.ts'
import { runningCommands } from '../support/running-commands.ts'
import { aTask, startService } from '../support/service.ts'
import { startWorld } from '../support/world.ts'

const main = fileURLToPath(new URL('../../server/main.ts', import.meta.url))
const keygen = 'ssh-keygen'

/** Runs the service until it ends by itself. */
async function run(env: Record<string, string>) {
  const child = spawn(process.execPath, [main], {
    env: { NODE_COMPILE_CACHE: compileCache, PATH: process.env.PATH ?? '', ...env },
  })
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { status: Number(status), stdout, stderr }
}

async function connect(connectionString: string) {
  const client = new Client({ connectionString })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

describe('SIGTERM', () => {
  test('fails /readyz first while requests are still answered, answers what waits and gives everything back', async () => {
    await using service = await startService({ settings: { DRAIN_DELAY: '4s' } })
    const submit = async (app: string) =>
      ((await service.submitTask(aTask({ app, timeout: 600 }))).body as { id: string }).id
    const id = await submit('waits')
    const waiting = service.request(`/api/v1/tasks/${id}?wait=60`)
    const reader = await readEvents(`${service.url}/api/v1/events`)
    const stopped = service.kill('SIGTERM')
    await expect.poll(async () => (await service.request('/readyz')).status, { interval: 20 }).toBe(503)
    expect(await service.getTask(await submit('late'))).toMatchObject({ status: 'in progress' })
    // A stream ends at once, so that its reader comes back to another replica, from where it was.
    const stream = await fetch(`${service.url}/api/v1/events`, { headers: { accept: 'text/event-stream' } })
    expect([stream.status, await stream.text()]).toEqual([200, expect.stringMatching(/^:\nid: \d+\n\n$/)])
    await reader.ended
    expect(await waiting).toMatchObject({ status: 200, body: { id, status: 'in progress' } })
    expect(await stopped).toBe(0)
    await using database = await connect(service.databaseUrl)
    expect((await database.query('SELECT FROM watcher.replicas')).rows).toEqual([])
    expect((await database.query('SELECT app, owner FROM watcher.tasks ORDER BY created')).rows).toEqual([
      { app: 'waits', owner: null },
      { app: 'late', owner: null },
    ])
  })

  test('is not held up by a push that never ends: nothing of it is left, and the exit code says it was in time', async () => {
    await using world = await startWorld()
    world.simulator.git.host.setFault({ kind: 'hang' })
    await world.deploy('shop', 'v2')
    await expect.poll(() => world.simulator.git.host.commands()).not.toEqual([])
    expect(await world.service.kill('SIGTERM')).toBe(0)
    const commands = await runningCommands()
    expect(commands.filter((line) => line.includes(`-p ${world.simulator.git.host.port} `))).toEqual([])
  })
})

describe.concurrent(`wrong settings end the start with 78 and one report (spec 2.7, B50)`, () => {
  test('all of them, without their text; an invalid COMMIT_MESSAGE_FORMAT ends the start, and one that fails later falls back to the default (B57; the first part)', async ({
    expect,
  }) => {
    const { status, stderr, stdout } = await run({
      ARGO_URL: 'ftp://hidden-1',
      DATABASE_URL: 'mysql://hidden-2',
      PORT: 'hidden-3',
      COMMIT_MESSAGE_FORMAT: '{{.App}}\n{{range .Images}}',
      TASK_RETENTION_DAYS: '0',
      AUDIT_RETENTION_DAYS: '7',
    })
    expect(status).toBe(78)
    for (const name of ['ARGO_URL', 'ARGO_TOKEN', 'DATABASE_URL', 'PORT']) expect(stderr).toContain(`- ${name}: `)
    expect(stderr).toContain(
      '- COMMIT_MESSAGE_FORMAT: does not parse: template: COMMIT_MESSAGE_FORMAT:2: unexpected EOF\n',
    )
    expect(stderr).toContain('- TASK_RETENTION_DAYS: must be a whole number of days from 1 to 36500')
    expect(stderr).toContain('- AUDIT_RETENTION_DAYS: must be a whole number of days from 30 to 36500')
    expect(stderr + stdout).not.toContain('hidden')
  })

  test('an address where a host belongs is not repeated with its password', async ({ expect }) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-host-'))
    const { status, stderr } = await run({
      ARGO_URL: 'http://127.0.0.1:1',
      ARGO_TOKEN: 'token',
      DATA_DIR: folder,
      DB_HOST: 'postgres://ada:hidden-1@db.invalid',
      DB_USER: 'ada',
      DB_NAME: 'watcher',
    })
    await rm(folder, { recursive: true })
    expect([status, stderr]).toEqual([1, expect.stringContaining('<redacted>@db.invalid')])
    expect(stderr).not.toContain('hidden')
  })

  test('a password that is a word of ours is not told by a gap in the message', async ({ expect }) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-word-'))
    const { status, stderr, stdout } = await run({
      ARGO_URL: 'http://127.0.0.1:1',
      ARGO_TOKEN: 'token-of-the-test',
      DATA_DIR: folder,
      DB_HOST: '127.0.0.1',
      DB_PORT: '1',
      DB_USER: 'watcher',
      DB_PASSWORD: 'watcher',
      DB_NAME: 'watcher',
    })
    await rm(folder, { recursive: true })
    expect([status, stderr]).toEqual([1, expect.stringContaining('deployment-watcher: startup failed: ')])
    expect(stderr + stdout).not.toContain('<redacted>')
  })
})

describe('what the service cannot work with ends the start with 78 and one line', () => {
  const settings = {
    ARGO_URL: 'http://127.0.0.1:1',
    ARGO_TOKEN: 'token',
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
  }

  test('programs that are missing', async () => {
    const empty = await folder()
    const { status, stderr } = await run({ ...settings, DATA_DIR: empty, PATH: empty })
    const says = 'git and ssh and ssh-keygen not found: install git (2.36 or newer) and openssh-client'
    expect([status, stderr]).toEqual([78, `deployment-watcher: ${says}\n`])
  })

  test('an unusable SSH key ends the start with the cause (B55): a wrong passphrase', async () => {
    const DATA_DIR = await folder()
    const key = path.join(DATA_DIR, 'key')
    spawnSync(keygen, ['-q', '-t', 'ed25519', '-N', 'secret', '-f', key])
    const env = { SSH_KEY_PATH: key, SSH_KEY_PASS: 'not the secret', SSH_KNOWN_HOSTS: '/dev/null' }
    const { status, stderr } = await run({ ...settings, DATA_DIR, ...env })
    expect([status, stderr]).toEqual([
      78,
      expect.stringContaining('SSH_KEY_PASS: the passphrase does not open the key'),
    ])
    expect(stderr).not.toContain('not the secret')
  })
})

describe('a setup that is wrong ends the start with 78 and one line, before anything is changed', () => {
  const settings = { ARGO_URL: 'https://argocd.example', ARGO_TOKEN: 'token', PORT: '1' }

  test('a folder that cannot be written', async () => {
    await using database = await createTestDatabase()
    await queryOnce(database.url, 'DROP SCHEMA watcher CASCADE')
    const ended = await run({ ...settings, DATABASE_URL: database.url, DATA_DIR: '/dev/null' })
    expect(ended).toMatchObject({
      status: 78,
      stderr: expect.stringContaining('REPO_CACHE_PATH: /dev/null/repositories'),
    })
    expect(ended.stderr).toContain('write there')
    expect(await queryOnce(database.url, "SELECT FROM pg_namespace WHERE nspname = 'watcher'")).toEqual([])
  })

  test('a role that may not make the schema', async () => {
    await using database = await createTestDatabase()
    await queryOnce(database.url, 'DROP SCHEMA watcher CASCADE')
    const ended = await run({ ...settings, DATABASE_URL: serviceUrlOf(database.url), DATA_DIR: await folder() })
    expect(ended).toMatchObject({ status: 78, stderr: expect.stringMatching(/permission denied.*npm run migrate/) })
  })

  test('a role that lacks the rights which an upgrade has made necessary', async () => {
    await using database = await createTestDatabase()
    await queryOnce(database.url, 'REVOKE INSERT, UPDATE ON watcher.pending_writes FROM watcher_service')
    const ended = await run({ ...settings, DATABASE_URL: serviceUrlOf(database.url), DATA_DIR: await folder() })
    expect(ended).toMatchObject({ status: 78 })
    expect(ended.stderr).toContain(
      'the database role watcher_service lacks rights in the schema watcher: INSERT, UPDATE on pending_writes.',
    )
    expect(ended.stderr).toContain('GRANT statements of docs/install.md')
  })

  test('a restored database of a version that this one is too old for', async () => {
    await using database = await createTestDatabase()
    await queryOnce(database.url, 'UPDATE watcher.schema_min_version SET migration = 9999')
    const ended = await run({ ...settings, DATABASE_URL: serviceUrlOf(database.url), DATA_DIR: await folder() })
    expect(ended).toMatchObject({ status: 78, stderr: expect.stringContaining('requires migration 9999') })
  })
})

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-start-'))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  return made
}
