import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../../test/support/eventually.ts'
import { startFaultProxy } from '../../../test/support/fault-proxy.ts'
import { startFileGitHost } from '../../../test/support/file-git-host.ts'
import { aDatabase, aReplica, aTaskWithPlan, aWriteBackService } from '../../../test/support/write-back-service.ts'
import { writeBackSettings } from '../../../test/support/write-back-settings.ts'
import type { Database } from '../../storage/database.ts'
import { createPendingWriteStore } from './pending-write-store.ts'

const { host, aRepository } = await startFileGitHost()

type Service = Awaited<ReturnType<typeof aWriteBackService>>
const aService = (database: Database): Promise<Service> => aWriteBackService(writeBackSettings(host), database)

/** Another spelling of `host.url(name)` that reaches the same repository. */
const respelled = (name: string) => host.url(`/${name}`)
const ways = (name: string) => [
  { repository: host.url(name), branch: 'main' },
  { repository: respelled(name), branch: 'main' },
  { repository: host.url(name), branch: 'HEAD' },
]
const ownersOf = (database: Database) => database.query.selectFrom('repositories').select('owner').execute()
const cachesOf = async ({ access }: Service) =>
  (await readdir(access.folder)).filter((folder) => /^[0-9a-f]{16}$/.test(folder))
const countCommits = (name: string, branch = 'main') => host.git(name, 'rev-list', '--count', branch)

/** Another writer was never faster. */
async function expectNoLostRace(service: Service, ids: readonly string[]) {
  for (const id of ids)
    expect((await service.events(id)).at(-1)).toEqual({
      kind: 'commit_pushed',
      detail: expect.stringMatching(/^commit [0-9a-f]{40} pushed to main$/),
    })
}

async function queueEveryWay(services: readonly Service[], name: string, each: number) {
  const queued = ways(name).flatMap(({ repository, branch }, way) =>
    Array.from({ length: each }, async (_, at) => {
      const service = services[at % services.length]
      const id = await service?.queue(repository, { branch, app: `app-${way}-${at}` })
      return { id: id ?? '', repository }
    }),
  )
  return Promise.all(queued)
}

describe('a repository that is spelled in several ways, its default branch among them (product: write-back)', () => {
  test('has one queue, one cache and one owner; no race is lost among its writes', async () => {
    const name = await aRepository()
    const database = await aDatabase()
    const service = await aService(database)
    const queued = await queueEveryWay([service], name, 4)
    for (const { id, repository } of queued)
      expect(await service.outcome(id)).toMatchObject({ kind: 'landed', repository, branch: 'main' })
    expect(await ownersOf(database)).toEqual([{ owner: service.owner }])
    expect(await cachesOf(service)).toHaveLength(1)
    expect(await countCommits(name)).toBe('13')
    const ids = queued.map(({ id }) => id)
    await expectNoLostRace(service, ids)
  })

  test('has one owner of two replicas', async () => {
    const name = await aRepository()
    const database = await aDatabase()
    const services = [await aService(database), await aService(database)]
    const queued = await queueEveryWay(services, name, 4)
    for (const { id } of queued) expect(await services[0]?.outcome(id)).toMatchObject({ kind: 'landed' })
    expect(await ownersOf(database)).toHaveLength(1)
    expect((await Promise.all(services.map(cachesOf))).flat()).toHaveLength(1)
    expect(await countCommits(name)).toBe('13')
    const [first] = services
    const ids = queued.map(({ id }) => id)
    if (first) await expectNoLostRace(first, ids)
  })

  test('at another port is another repository', async () => {
    const name = await aRepository()
    await using proxy = await startFaultProxy({ port: host.port })
    const { knownHostsPath, url } = await host.through(proxy.port)
    const database = await aDatabase()
    const change = { knownHostsPath: `${host.knownHostsPath}:${knownHostsPath}` }
    const service = await aWriteBackService(writeBackSettings(host, change), database)
    for (const [at, repository] of [host.url(name), url(name)].entries()) {
      const id = await service.queue(repository, { app: `app-${at}` })
      expect(await service.outcome(id)).toMatchObject({ kind: 'landed', repository })
    }
    expect(await ownersOf(database)).toHaveLength(2)
    expect(await cachesOf(service)).toHaveLength(2)
  })

  test('is reached by each write as that spells it: one that does not work fails alone', async () => {
    const name = await aRepository()
    const database = await aDatabase()
    const service = await aService(database)
    const wrong = host.url(name.replace('.git', ''))
    const ids = await Promise.all(
      [wrong, host.url(name)].map((repository, at) => service.queue(repository, { app: `app-${at}` })),
    )
    const outcomes = await Promise.all(ids.map((id) => service.outcome(id)))
    expect(outcomes).toMatchObject([
      { kind: 'refused', cause: 'git_repository_missing' },
      { kind: 'landed', repository: host.url(name) },
    ])
    expect(await ownersOf(database)).toHaveLength(1)
  })

  test('is named in results as the application spells it, whatever way the push takes', async () => {
    const name = await aRepository()
    const database = await aDatabase()
    const service = await aService(database)
    const repository = 'https://git.example/team/deploy'
    const id = await service.queue(repository, { address: host.url(name) })
    expect(await service.outcome(id)).toMatchObject({ kind: 'landed', repository })
    const [queued] = await service.events(id)
    expect(queued?.detail).toContain(`${repository}, branch main, by way of ${host.url(name)}`)
  })

  test('is continued where a dead owner left it, between HEAD and its branch', async () => {
    const name = await aRepository()
    const database = await aDatabase()
    const dead = await aReplica(database)
    const store = createPendingWriteStore(database)
    const tasks = await Promise.all(
      ['waiting', 'moved', 'sent'].map((app) =>
        aTaskWithPlan(database, dead, { repository: host.url(name), branch: 'HEAD', app }),
      ),
    )
    const [, moved, sent] = tasks
    for (const { claim, plan } of tasks) await store.queue(claim, plan)
    const [queue] = await store.claimRepositories(dead)
    if (!queue || !moved || !sent) throw new Error('the repository was not claimed')
    await store.moveToBranch(queue, [moved.id, sent.id], 'main')
    await store.beginPush(queue, await host.git(name, 'rev-parse', 'main'), [sent.id])
    const commit = await host.commitFiles(name, { [sent.plan.file]: 'v2: here\n' }, sent.plan.message)
    await database.query.deleteFrom('replicas').where('id', '=', dead).execute()

    const service = await aService(database)
    const outcomes = await Promise.all(tasks.map(({ id }) => service.outcome(id)))
    expect(outcomes).toMatchObject([{ kind: 'landed' }, { kind: 'landed' }, { kind: 'landed', commit }])
    expect(await countCommits(name)).toBe('4')
  })
})

describe('a default branch that is renamed on the host', () => {
  test('gets the writes for HEAD under its new name; results keep the branch that they landed on', async () => {
    const name = await aRepository()
    const database = await aDatabase()
    const service = await aService(database)
    const repository = host.url(name)
    const before = await service.queue(repository, { branch: 'HEAD', app: 'before' })
    expect(await service.outcome(before)).toMatchObject({ kind: 'landed', branch: 'main' })
    await host.git(name, 'branch', '-m', 'main', 'trunk')
    const after = await service.queue(repository, { branch: 'HEAD', app: 'after' })
    const named = await service.queue(repository, { branch: 'main', app: 'named' })
    expect(await service.outcome(after)).toMatchObject({ kind: 'landed', branch: 'trunk' })
    expect(await service.outcome(named)).toMatchObject({ kind: 'refused', cause: 'not_followed' })
    expect(await service.outcome(before)).toMatchObject({ kind: 'landed', branch: 'main' })
    expect(await host.git(name, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/trunk')
    expect(await countCommits(name, 'trunk')).toBe('3')
  })

  test('gets those, too, that were moved to the old name while its absence was found', async () => {
    const name = await aRepository()
    const database = await aDatabase()
    const folder = await mkdtemp(path.join(tmpdir(), 'slow-fetch-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const [failed, goOn] = [path.join(folder, 'failed'), path.join(folder, 'go-on')]
    const wait = `touch '${failed}'; until [ -e '${goOn}' ]; do sleep 0.05; done; exit 1`
    const git = `PATH='${process.env.PATH}' git "$@" || { [ "$1" != fetch ] || { ${wait}; }; exit 1; }`
    await writeFile(path.join(folder, 'git'), `#!/bin/sh\n${git}\n`, { mode: 0o755 })
    const service = await aWriteBackService(writeBackSettings(host), database, `${folder}:${process.env.PATH}`)
    const repository = host.url(name)
    const before = await service.queue(repository, { branch: 'HEAD', app: 'before' })
    expect(await service.outcome(before)).toMatchObject({ kind: 'landed', branch: 'main' })

    await host.git(name, 'branch', '-m', 'main', 'trunk')
    const named = await service.queue(repository, { branch: 'main', app: 'named' })
    await eventually(() => expect(existsSync(failed)).toBe(true))
    const after = await service.queue(repository, { branch: 'HEAD', app: 'after' })
    const moved = database.query.selectFrom('pending_writes').select('branch').where('task_id', '=', after)
    await eventually(async () => expect(await moved.execute()).toEqual([{ branch: 'main' }]))
    await writeFile(goOn, '')
    expect(await service.outcome(after)).toMatchObject({ kind: 'landed', branch: 'trunk' })
    expect(await service.outcome(named)).toMatchObject({ kind: 'refused', cause: 'not_followed' })
  })

  test('is searched for a push whose answer never came', async () => {
    const name = await aRepository()
    const database = await aDatabase()
    const dead = await aReplica(database)
    const store = createPendingWriteStore(database)
    const sent = await aTaskWithPlan(database, dead, { repository: host.url(name), branch: 'HEAD' })
    await store.queue(sent.claim, sent.plan)
    const [queue] = await store.claimRepositories(dead)
    if (!queue) throw new Error('the repository was not claimed')
    await store.moveToBranch(queue, [sent.id], 'main')
    await store.beginPush(queue, await host.git(name, 'rev-parse', 'main'), [sent.id])
    const commit = await host.commitFiles(name, { [sent.plan.file]: 'v2: here\n' }, sent.plan.message)
    await host.git(name, 'branch', '-m', 'main', 'trunk')
    await database.query.deleteFrom('replicas').where('id', '=', dead).execute()

    const service = await aService(database)
    expect(await service.outcome(sent.id)).toMatchObject({ kind: 'landed', commit, branch: 'trunk' })
    expect(await countCommits(name, 'trunk')).toBe('2')
  })

  test('is missing: the writes for HEAD end with that reason', async () => {
    const name = await aRepository()
    const database = await aDatabase()
    const service = await aService(database)
    await host.git(name, 'symbolic-ref', 'HEAD', 'refs/heads/none')
    const id = await service.queue(host.url(name), { branch: 'HEAD' })
    expect(await service.outcome(id)).toMatchObject({
      cause: 'not_followed',
      reason: expect.stringContaining('has no default branch'),
    })
    await eventually(async () => expect(await cachesOf(service)).toEqual([]))
  })
})
