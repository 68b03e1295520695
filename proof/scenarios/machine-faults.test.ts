import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Database } from '../../server/storage/database.ts'
import { repositoryName } from '../../server/write-back/plan/repository-address.ts'
import { eventually } from '../../test/support/eventually.ts'
import { startFileGitHost } from '../../test/support/file-git-host.ts'
import { aDatabase, aWriteBackService } from '../../test/support/write-back-service.ts'
import { writeBackSettings } from '../../test/support/write-back-settings.ts'

const { host, aRepository } = await startFileGitHost()

async function hearsOf(service: Awaited<ReturnType<typeof aWriteBackService>>, id: string, words: string) {
  const beganMs = performance.now()
  await eventually(async () => {
    const told = (await service.events(id)).filter(({ kind }) => kind === 'write_back_retry')
    expect(told.map(({ detail }) => detail)).toContainEqual(expect.stringContaining(words))
  })
  expect(performance.now() - beganMs).toBeLessThan(50_000) // ten times the bar
}

describe('a damaged or full cache is rebuilt once, or ends the task with the cause (F28): what passes', () => {
  test('the folder is deleted while in use: the next write lands, key and known hosts included', async () => {
    const repository = await aRepository()
    const settings = writeBackSettings(host)
    const service = await aWriteBackService(settings, await aDatabase())
    const write = async (app: string) => service.outcome(await service.queue(host.url(repository), { app }))
    expect(await write('before')).toMatchObject({ kind: 'landed' })
    await rm(settings.repoCachePath, { recursive: true })
    expect(await write('after')).toMatchObject({ kind: 'landed' })
    expect(await host.git(repository, 'rev-list', '--count', 'main')).toBe('3')
  })

  test('the cache cannot be written for a while: the task hears it within 5 s, and lands', async () => {
    const repository = await aRepository()
    const service = await aWriteBackService(writeBackSettings(host), await aDatabase())
    await rm(service.access.folder, { recursive: true })
    await writeFile(service.access.folder, '')
    const id = await service.queue(host.url(repository))
    await hearsOf(service, id, 'cannot write its cache')
    await rm(service.access.folder)
    expect(await service.outcome(id)).toMatchObject({ kind: 'landed' })
  })

  test('the key file is unreadable for a moment: told, and it lands', async () => {
    const repository = await aRepository()
    const key = path.join(host.folder, 'moved-key')
    await promisify(execFile)('cp', [host.keyPath, key])
    const service = await aWriteBackService(writeBackSettings(host, { sshKeyPath: key }), await aDatabase())
    await rename(key, `${key}-away`)
    const id = await service.queue(host.url(repository))
    await hearsOf(service, id, 'SSH_KEY_PATH cannot be read')
    await rename(`${key}-away`, key)
    expect(await service.outcome(id)).toMatchObject({ kind: 'landed' })
  })

  test('no more files, or no git: passing, and never "is it installed?"', async () => {
    const script = `
      import { openSync } from 'node:fs'
      const { runGit } = await import('${path.resolve('server/write-back/git/access/run-git.ts')}')
      const run = (PATH) => runGit({ arguments: ['--version'], environment: { PATH }, timeoutMs: 5000 })
      const failure = (error) => [error.code, error.retry, error.message.includes('installed')].join(' ')
      await run('/usr/bin:/bin')
      console.log(await run('/none').catch(failure))
      try { for (;;) openSync('/dev/null') } catch {}
      console.log(await run('/usr/bin:/bin').catch(failure))`
    const limited = `ulimit -n 256; exec "$0" --input-type=module -e "$1"`
    const { stdout } = await promisify(execFile)('sh', ['-c', limited, process.execPath, script])
    expect(stdout).toBe('machine soon false\nmachine soon false\n')
  })
})

async function breakCache(service: Awaited<ReturnType<typeof aWriteBackService>>) {
  await rm(service.access.folder, { recursive: true })
  await writeFile(service.access.folder, '')
  onTestFinished(() => rm(service.access.folder, { force: true }))
}

describe('a replica that cannot do its work', () => {
  test('fails the task with cache_unusable within 30 s where it is the only one', async () => {
    const repository = await aRepository()
    const service = await aWriteBackService(writeBackSettings(host), await aDatabase())
    await breakCache(service)
    const beganMs = performance.now()
    const id = await service.queue(host.url(repository))
    const outcome = await service.outcome(id)
    expect(performance.now() - beganMs).toBeLessThan(30_000)
    expect(outcome).toMatchObject({
      cause: 'cache_unusable',
      reason: expect.stringMatching(/^this replica cannot write its cache.*check the disk/),
    })
  })

  test('is the cause also where the task has less time than that', async () => {
    const service = await aWriteBackService(writeBackSettings(host), await aDatabase())
    await breakCache(service)
    const outcome = await service.outcome(await service.queue(host.url(await aRepository()), { seconds: 6 }))
    expect(outcome).toMatchObject({
      cause: 'cache_unusable',
      reason: expect.stringMatching(/before the timeout: this/),
    })
  })

  test('fails the task with cache_unusable where the other one cannot do it either', async () => {
    const database = await aDatabase()
    const services = [0, 1].map(() => aWriteBackService(writeBackSettings(host), database))
    for (const service of await Promise.all(services)) await breakCache(service)
    const [one, other] = await Promise.all(services)
    const id = (await one?.queue(host.url(await aRepository()))) ?? ''
    expect(await other?.outcome(id)).toMatchObject({ kind: 'refused', cause: 'cache_unusable' })
  })

  test('gives the repository to one that can write its cache', async () => {
    const database = await aDatabase()
    const broken = await aWriteBackService(writeBackSettings(host), database)
    await breakCache(broken)
    await landsElsewhere(broken, database)
  })

  test('gives the repository to one that can reach the host', async () => {
    const programs = await mkdtemp(path.join(tmpdir(), 'cut-off-'))
    onTestFinished(() => rm(programs, { recursive: true }))
    const noRoute = 'echo "ssh: connect to host 127.0.0.1 port 22: No route to host" >&2; exit 255'
    await writeFile(path.join(programs, 'ssh'), `#!/bin/sh\n${noRoute}\n`, { mode: 0o755 })
    const database = await aDatabase()
    const cutOff = await aWriteBackService(writeBackSettings(host), database, `${programs}:${process.env.PATH}`)
    await landsElsewhere(cutOff, database)
  })

  /** Within 20 s where the machine is idle, though the replica that owns the repository does not get anywhere. */
  async function landsElsewhere(owner: Awaited<ReturnType<typeof aWriteBackService>>, database: Database) {
    const repository = await aRepository()
    const id = await owner.queue(host.url(repository))
    await eventually(async () => expect((await owner.events(id)).at(-1)?.kind).toBe('write_back_retry'))
    const other = await aWriteBackService(writeBackSettings(host), database)
    expect(await owner.outcome(id)).toMatchObject({ kind: 'landed' })
    const row = database.query
      .selectFrom('repositories')
      .select('owner')
      .where('name', '=', repositoryName(host.url(repository)))
    expect(await row.executeTakeFirst()).toEqual({ owner: other.owner })
    const { waited } = await database.query
      .selectFrom('pending_writes')
      .select(sql<number>`extract(epoch FROM updated - created)::float8`.as('waited'))
      .where('task_id', '=', id)
      .executeTakeFirstOrThrow()
    expect(waited).toBeLessThan(60)
  }
})

test('nothing is left of a service that ended', async () => {
  const settings = writeBackSettings(host)
  const service = await aWriteBackService(settings, await aDatabase())
  await service.access[Symbol.asyncDispose]()
  expect(await readdir(settings.repoCachePath)).toEqual([])
})
