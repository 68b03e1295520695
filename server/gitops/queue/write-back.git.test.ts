import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import ssh2 from 'ssh2'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { eventually } from '../../../test/support/eventually.ts'
import { startFaultProxy } from '../../../test/support/fault-proxy.ts'
import { startFileGitHost } from '../../../test/support/file-git-host.ts'
import {
  aDatabase,
  aReplica,
  aTaskWithPlan,
  aWriteBackService,
  type TaskExample,
} from '../../../test/support/write-back-service.ts'
import { writeBackSettings } from '../../../test/support/write-back-settings.ts'
import { faults } from '../../../test/threats/rows.ts'
import { createSemaphore } from '../../concurrency/semaphore.ts'
import type { Database } from '../../storage/database.ts'
import { type CommitHistory, createCommitHistory } from '../git/commit-history.ts'
import { openGitAccess } from '../git/git-access.ts'
import { openGitRepository } from '../git/git-repository.ts'
import { createRepositoryCache } from '../git/repository-cache.ts'
import { repositoryName } from '../plan/repository-address.ts'
import type { WriteBackSettings } from '../plan/write-back-settings.ts'
import { createOverrideFileEditor } from './override-file-editor.ts'
import { createPendingWriteStore, type WriteQueue } from './pending-write-store.ts'
import { createRepositoryWriter } from './repository-writer.ts'
import { createWriteBack, type WriteBackDeps } from './write-back.ts'

const { host, aRepository, aHook } = await startFileGitHost()

/** A hook that lets a rival's commit in first. */
const rivalIsFaster = `export GIT_AUTHOR_NAME=r GIT_AUTHOR_EMAIL=r GIT_COMMITTER_NAME=r GIT_COMMITTER_EMAIL=r
   git update-ref refs/heads/main "$(git commit-tree -p main -m rival "main^{tree}")"`

/** `repository`: its name on the host, or an address. */
const aTask = (database: Database, owner: string, example: TaskExample) =>
  aTaskWithPlan(database, owner, {
    ...example,
    repository: example.repository.includes(':') ? example.repository : host.url(example.repository),
  })

async function aWriteBack(
  database: Database,
  replica: string,
  change: Partial<WriteBackSettings> = {},
  deps: Partial<Pick<WriteBackDeps, 'log' | 'nowMs'>> = {},
) {
  const settings = writeBackSettings(host, change)
  const access = await openGitAccess(settings, process.env.PATH ?? '')
  const editor = createOverrideFileEditor()
  await editor.readEntries({ text: '', tool: 'helm' }, () => true) // its start takes no part of the time for a batch
  const made = createCommitHistory({ access, editor, nowMs: Date.now, onError: () => {} })
  const traced: string[] = []
  const history: CommitHistory = {
    ...made,
    trailersBetween(repository, base, tip) {
      traced.push(base)
      return made.trailersBetween(repository, base, tip)
    },
  }
  const measured: (readonly [string, ...unknown[]])[] = []
  const writeBack = createWriteBack({
    database,
    settings,
    access,
    history,
    editor,
    replicaId: () => replica,
    wakeUps: { send: () => {}, on: () => () => {} },
    log: { warn: () => {} },
    measures: {
      writeBackBegan: (app, waitedSeconds) => void measured.push(['began', app, waitedSeconds]),
      writeBackEnded: (app, seconds) => void measured.push(['ended', app, seconds]),
      pushed: (commits) => void measured.push(['pushed', commits]),
    },
    nowMs: Date.now,
    random: Math.random,
    ...deps,
  })
  const close = async () => {
    await writeBack[Symbol.asyncDispose]()
    await editor[Symbol.asyncDispose]()
    await access[Symbol.asyncDispose]()
    await rm(settings.repoCachePath, { recursive: true, force: true })
  }
  onTestFinished(close)
  return { writeBack, history, traced, measured, close }
}

/** By it any machine is fast: it plans a batch in time, so that pushes can be counted. */
const slowClock = () => Date.now() / 100

async function aService(change: Partial<WriteBackSettings> = {}) {
  const database = await aDatabase()
  const replica = await aReplica(database)
  const { writeBack, history, traced, measured, close } = await aWriteBack(database, replica, change)
  const task = (example: TaskExample) => aTask(database, replica, example)
  const queue = async (example: TaskExample) => {
    const { id, plan, claim } = await task(example)
    expect(await writeBack.queue(claim, plan)).toBe(true)
    return id
  }
  const outcome = (id: string) =>
    eventually(async () => {
      const found = await writeBack.outcomeOf(id)
      if (!found) throw new Error('no outcome yet')
      return found
    })
  const events = async (id: string) =>
    (
      await database.query
        .selectFrom('task_events')
        .select('kind')
        .where('task_id', '=', id)
        .orderBy('row_id')
        .execute()
    ).map(({ kind }) => kind)
  const write = (id: string) =>
    database.query.selectFrom('pending_writes').selectAll().where('task_id', '=', id).executeTakeFirstOrThrow()
  return { database, replica, writeBack, history, traced, measured, close, task, queue, outcome, events, write }
}

const messages = (repository: string) => host.git(repository, 'log', '--format=%s', 'main')
const countPushes = (repository: string) =>
  host.commands().filter((command) => command === `git-receive-pack ${repository}`).length

const countReads = (repository: string) =>
  host.commands().filter((command) => command === `git-upload-pack ${repository}`).length

describe('a write-back (spec 2.6)', () => {
  test('lands as one commit; the task learns commit, repository and branch', async () => {
    const repository = await aRepository()
    const service = await aService()
    const heard: string[] = []
    service.writeBack.onOutcome((taskId) => heard.push(taskId))
    const id = await service.queue({ repository })
    const outcome = await service.outcome(id)
    const head = await host.git(repository, 'rev-parse', 'main')
    expect(outcome).toEqual({ kind: 'landed', commit: head, repository: host.url(repository), branch: 'main' })
    expect(await host.git(repository, 'log', '-1', '--format=%B', 'main')).toBe(
      `watcher(shop): update image tag\n\nWatcher-Task: ${id}`,
    )
    expect(await host.git(repository, 'show', 'main:apps/.watcher-source-shop.yaml')).toBe(
      'helm:\n  parameters:\n    - name: image.tag\n      value: "v2"\n      forceString: true',
    )
    const row = await service.database.query.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirst()
    expect(row).toMatchObject({ commit: head, repository: host.url(repository), branch: 'main', status: 'in progress' })
    expect(await service.events(id)).toEqual(['write_back_queued', 'commit_pushed'])
    await eventually(() => expect(heard).toEqual([id]))
  })

  test('a task that was taken over by another replica is not queued', async () => {
    const repository = await aRepository()
    const service = await aService()
    const { plan, claim } = await service.task({ repository })
    expect(await service.writeBack.queue({ ...claim, fence: '2' }, plan)).toBe(false)
    expect(await service.writeBack.queue(claim, plan)).toBe(true)
    expect(await service.writeBack.queue(claim, plan)).toBe(true)
    await service.outcome(claim.taskId)
    expect(await messages(repository)).toBe('watcher(shop): update image tag\nfirst')
  })

  test('50 tasks at once are 50 commits in 7 pushes', async () => {
    const repository = await aRepository()
    const service = await aService()
    const ids = await Promise.all(
      Array.from({ length: 50 }, (_, at) => service.queue({ repository, app: `app-${at}` })),
    )
    const outcomes = await Promise.all(ids.map((id) => service.outcome(id)))
    expect(new Set(outcomes.map((outcome) => outcome.kind === 'landed' && outcome.commit)).size).toBe(50)
    expect(await host.git(repository, 'rev-list', '--count', 'main')).toBe('51')
    expect(countPushes(repository)).toBeLessThanOrEqual(10)
    await host.git(repository, 'fsck', '--strict')
  })

  test('comments and foreign keys stay; the parameters of .argocd-source.yaml are repeated', async () => {
    const file = 'apps/.watcher-source-shop.yaml'
    const repository = await aRepository({
      [file]:
        '# ours\nhelm:\n  valueFiles: [a.yaml] # keep\n  parameters:\n  - name: image.tag\n    value: v1\nother: 1\n',
      'apps/.argocd-source.yaml': 'helm: {parameters: [{name: replicas, value: "3"}]}\n',
    })
    const service = await aService()
    await service.outcome(await service.queue({ repository }))
    expect(await host.git(repository, 'show', `main:${file}`)).toBe(
      '# ours\nhelm:\n  valueFiles: [a.yaml] # keep\n  parameters:\n  - name: image.tag\n    value: "v2"\n    forceString: true\n  - name: "replicas"\n    value: "3"\nother: 1',
    )
    expect(await host.git(repository, 'diff', '--name-only', 'main~1', 'main')).toBe(file)
  })

  test('the same content makes no commit; the head of the branch that was read is the answer', async () => {
    const repository = await aRepository()
    const service = await aService()
    await service.outcome(await service.queue({ repository }))
    const rival = await host.commitFiles(repository, { 'other.txt': 'x' })
    const id = await service.queue({ repository })
    expect(await service.outcome(id)).toEqual({
      kind: 'unchanged',
      commit: rival,
      repository: host.url(repository),
      branch: 'main',
    })
    expect(await service.events(id)).toEqual(['write_back_queued', 'commit_unchanged'])
    expect(await host.git(repository, 'rev-parse', 'main')).toBe(rival)
  })

  test(`${faults.F24}: faster five times running, and every fourth time then`, async () => {
    const repository = await aRepository()
    await aHook(
      repository,
      'update',
      `echo >> pushes; pushes=$(wc -l < pushes); [ $pushes -le 5 ] || [ $((pushes % 4)) = 0 ] || exit 0
       ${rivalIsFaster} && echo >> rivals`,
    )
    const service = await aService()
    const ids = await Promise.all(
      Array.from({ length: 12 }, (_, at) => service.queue({ repository, app: `app-${at}` })),
    )
    const outcomes = await Promise.all(ids.map((id) => service.outcome(id)))
    expect(outcomes.every(({ kind }) => kind === 'landed')).toBe(true)
    const subjects = (await messages(repository)).split('\n')
    const rivals = subjects.filter((subject) => subject === 'rival').length
    expect(await readFile(path.join(host.directory(repository), 'rivals'), 'utf8')).toBe('\n'.repeat(rivals))
    expect(rivals).toBeGreaterThan(5)
    expect(subjects).toHaveLength(1 + 12 + rivals)
    const apps = Array.from({ length: 12 }, (_, at) => `app-${at}`).sort()
    const timed = (what: string) => service.measured.filter(([kind]) => kind === what)
    for (const what of ['began', 'ended'])
      expect(
        timed(what)
          .map(([, app]) => app)
          .sort(),
        what,
      ).toEqual(apps)
    expect(timed('pushed').reduce((sum, [, commits]) => sum + Number(commits), 0)).toBe(12)
  })

  test('waits for its turn on the repository, and then takes its time', async () => {
    const repository = await aRepository()
    await aHook(repository, 'update', 'sleep 1')
    const service = await aService()
    const first = await service.queue({ repository, app: 'first' })
    await eventually(() => expect(service.measured).toContainEqual(['began', 'first', expect.any(Number)]))
    const second = await service.queue({ repository, app: 'second' })
    for (const id of [first, second]) expect(await service.outcome(id)).toMatchObject({ kind: 'landed' })
    const seconds = (kind: string, app: string) =>
      Number(service.measured.find(([what, name]) => what === kind && name === app)?.[2])
    await eventually(() => expect(seconds('ended', 'second')).toBeGreaterThan(1))
    expect(seconds('ended', 'first')).toBeGreaterThan(1)
    expect(seconds('began', 'second')).toBeGreaterThan(0.3)
    expect(seconds('began', 'second')).toBeGreaterThan(seconds('began', 'first'))
    expect(service.measured.filter(([kind]) => kind === 'pushed')).toEqual([
      ['pushed', 1],
      ['pushed', 1],
    ])
  })

  test('what looks like a command is only a name', async () => {
    const repository = await aRepository()
    const service = await aService()
    const marker = path.join(host.folder, 'marker')
    const file = `a $(touch ${marker.slice(1)}) "q"/;touch marker;/x'.yaml`
    const id = await service.queue({ repository, app: 'a$(id)`id`', tag: `$(touch ${marker})`, file })
    expect(await service.outcome(id)).toMatchObject({ kind: 'landed' })
    expect(await host.git(repository, '-c', 'core.quotePath=false', 'ls-tree', '-rz', '--name-only', 'main')).toContain(
      file,
    )
    expect(existsSync(marker)).toBe(false)
  })
})

describe('a write-back that cannot succeed ends at once, with the reason', () => {
  test('a symbolic link in the way', async () => {
    const repository = await aRepository()
    const tree = await host.makeTree(
      repository,
      `120000 blob ${await host.git(repository, 'rev-parse', 'main:README.md')}\tapps`,
    )
    await host.git(
      repository,
      'update-ref',
      'refs/heads/main',
      await host.git(repository, 'commit-tree', '-m', 'trap', tree),
    )
    const service = await aService()
    expect(await service.outcome(await service.queue({ repository }))).toEqual({
      kind: 'refused',
      cause: 'override_file_invalid',
      reason: expect.stringContaining('apps is a symbolic link'),
    })
  })

  test('B72 an override file that is a list', async () => {
    const repository = await aRepository({ 'apps/.watcher-source-shop.yaml': '- x\n' })
    const service = await aService()
    expect(await service.outcome(await service.queue({ repository }))).toMatchObject({
      cause: 'override_file_invalid',
      reason: expect.stringContaining('apps/.watcher-source-shop.yaml is not a YAML map'),
    })
  })

  test(faults.F25, async () => {
    const repository = await aRepository()
    await aHook(
      repository,
      'update',
      'git log --format=%s $2..$3 | grep -q frozen || exit 0; echo "frozen until Monday"; exit 1',
    )
    const service = await aService()
    const ids = await Promise.all(['shop', 'frozen', 'blog'].map((app) => service.queue({ repository, app })))
    const outcomes = await Promise.all(ids.map((id) => service.outcome(id)))
    expect(outcomes).toMatchObject([
      { kind: 'landed' },
      { kind: 'refused', cause: 'git_refused', reason: expect.stringContaining('frozen until Monday') },
      { kind: 'landed' },
    ])
  })

  test('T17 a changed host key: nothing is pushed', async () => {
    const repository = await aRepository()
    const other = path.join(host.folder, 'changed_hosts')
    await writeFile(other, `[127.0.0.1]:${host.port} ${ssh2.utils.generateKeyPairSync('ed25519').public}\n`)
    const service = await aService({ knownHostsPath: other })
    expect(await service.outcome(await service.queue({ repository }))).toMatchObject({
      kind: 'refused',
      cause: 'git_host_key',
      reason: expect.stringContaining('host key'),
    })
    expect(countPushes(repository)).toBe(0)
  })

  test('B71 a targetRevision that turns out to be no branch: "needs a branch"', async () => {
    const repository = await aRepository()
    const service = await aService()
    expect(await service.outcome(await service.queue({ repository, branch: 'v1.2.3' }))).toMatchObject({
      cause: 'not_followed',
      reason: expect.stringContaining('needs a branch'),
    })
  })

  test.for([{ change: 'renamed' }, { change: 'deleted' }])(
    'a branch that was $change: no ref is made',
    async ({ change }) => {
      const repository = await aRepository()
      await host.git(repository, 'branch', 'other', 'main')
      await host.git(repository, 'symbolic-ref', 'HEAD', 'refs/heads/other')
      const service = await aService()
      await service.outcome(await service.queue({ repository, tag: 'v1' }))
      await host.git(repository, 'branch', ...(change === 'renamed' ? ['-M', 'main', 'other'] : ['-D', 'main']))
      const id = await service.queue({ repository, tag: 'v2' })
      expect(await service.outcome(id)).toMatchObject({ kind: 'refused', cause: 'not_followed' })
      expect(await host.git(repository, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/other')
    },
  )

  test('a branch that was set back to drop a commit of the service keeps it dropped', async () => {
    const repository = await aRepository()
    const service = await aService()
    const dropped = await service.outcome(await service.queue({ repository, app: 'dropped' }))
    await host.git(repository, 'update-ref', 'refs/heads/main', 'main~1')
    const id = await service.queue({ repository, app: 'kept' })
    expect(await service.outcome(id)).toMatchObject({ kind: 'landed' })
    expect(await messages(repository)).toBe('watcher(kept): update image tag\nfirst')
    expect(dropped).toMatchObject({ kind: 'landed' })
  })

  test('a host that stays away: tried until the time of the task is over', async () => {
    const service = await aService()
    const id = await service.queue({ repository: 'ssh://git@127.0.0.1:1/x.git', seconds: 5 })
    const healthy = await aRepository()
    expect(await service.outcome(await service.queue({ repository: healthy }))).toMatchObject({ kind: 'landed' })
    expect(await service.outcome(id)).toMatchObject({ kind: 'refused', cause: 'git_unreachable' })
    expect(await service.events(id)).toEqual(['write_back_queued', 'write_back_retry', 'write_back_skipped'])
  })
})

describe(faults.F22, () => {
  test('gets all commits, and each task heard why it had to wait', async () => {
    const repository = await aRepository()
    const service = await aService()
    await service.outcome(await service.queue({ repository, app: 'before' }))
    await host.stopListening()
    await using stack = new AsyncDisposableStack()
    stack.defer(() => void host.listenAgain().catch(() => undefined)) // for the other tests, whatever happens here
    const ids: string[] = []
    for (const app of ['one', 'two']) {
      const id = await service.queue({ repository, app })
      ids.push(id)
      await eventually(async () => expect(await service.events(id)).toContain('write_back_retry'))
    }
    await host.listenAgain()
    const outcomes = await Promise.all(ids.map((id) => service.outcome(id)))
    expect(outcomes.map(({ kind }) => kind)).toEqual(['landed', 'landed'])
    expect(await host.git(repository, 'rev-list', '--count', 'main')).toBe('4')
  })
})

describe('two replicas', () => {
  test('push for one repository through one owner; a stopping one hands over', async () => {
    const repository = await aRepository()
    const database = await aDatabase()
    const replicas = [await aReplica(database), await aReplica(database)] as const
    const first = await aWriteBack(database, replicas[0])
    const write = async (app: string) => {
      const task = await aTask(database, replicas[1], { repository, app })
      return task
    }
    const early = await write('early')
    await createPendingWriteStore(database).queue(early.claim, early.plan)
    await eventually(async () => expect(await first.writeBack.outcomeOf(early.id)).toMatchObject({ kind: 'landed' }))
    const second = await aWriteBack(database, replicas[1])
    const middle = await write('middle')
    await second.writeBack.queue(middle.claim, middle.plan)
    await eventually(async () => expect(await second.writeBack.outcomeOf(middle.id)).toMatchObject({ kind: 'landed' }))
    const owner = () => database.query.selectFrom('repositories').select('owner').executeTakeFirst()
    expect(await owner()).toEqual({ owner: replicas[0] })
    await first.writeBack[Symbol.asyncDispose]()
    const late = await write('late')
    await second.writeBack.queue(late.claim, late.plan)
    await eventually(async () => expect(await second.writeBack.outcomeOf(late.id)).toMatchObject({ kind: 'landed' }))
    expect(await owner()).toEqual({ owner: replicas[1] })
    expect(await host.git(repository, 'rev-list', '--count', 'main')).toBe('4')
  })
})

describe(faults.F27, () => {
  test('a push that lands without an answer is found again by its trailer', async () => {
    const repository = await aRepository()
    const marker = path.join(host.folder, `${repository}-slept`)
    await aHook(
      repository,
      'reference-transaction',
      `[ "$1" = committed ] || exit 0; [ -e ${marker} ] && exit 0; touch ${marker}; exec sleep 6`,
    )
    const service = await aService({ gitOpTimeoutMs: 2_000 })
    const id = await service.queue({ repository })
    expect(await service.outcome(id)).toMatchObject({
      kind: 'landed',
      commit: await host.git(repository, 'rev-parse', 'main'),
    })
    expect(await messages(repository)).toBe('watcher(shop): update image tag\nfirst')
    expect(await service.events(id)).toEqual(['write_back_queued', 'write_back_retry', 'commit_pushed'])
    await host.stopListening()
    await host.listenAgain()
  })

  test('a push that lands while its connection dies in silence is found again by its trailer', async () => {
    const name = await aRepository()
    const [landed, stranded] = ['landed', 'stranded'].map((word) => path.join(host.folder, `${name}-${word}`))
    await aHook(
      name,
      'reference-transaction',
      `[ "$1" = committed ] || exit 0; touch ${landed}; while [ ! -e ${stranded} ]; do sleep 0.05; done`,
    )
    await using proxy = await startFaultProxy({ port: host.port })
    const { knownHostsPath, url } = await host.through(proxy.port)
    const service = await aService({ knownHostsPath })
    const id = await service.queue({ repository: url(name) })
    await eventually(() => readFile(landed ?? ''))
    proxy.strand()
    await writeFile(stranded ?? '', '')
    expect(await service.outcome(id)).toMatchObject({
      kind: 'landed',
      commit: await host.git(name, 'rev-parse', 'main'),
    })
    expect(await messages(name)).toBe('watcher(shop): update image tag\nfirst')
    expect(await service.events(id)).toEqual(['write_back_queued', 'write_back_retry', 'commit_pushed'])
  })

  test('connections that break at any moment: one commit for each task all the same', async () => {
    const name = await aRepository()
    await using proxy = await startFaultProxy({ port: host.port })
    const { knownHostsPath, url } = await host.through(proxy.port)
    const service = await aService({ knownHostsPath })
    const repository = url(name)
    let round = 0
    let cutting = setTimeout(cut, 20)
    function cut() {
      proxy.cut()
      round += 1
      if (round < 30) cutting = setTimeout(cut, 20 + ((round * 37) % 120))
    }
    onTestFinished(() => clearTimeout(cutting))
    const ids: string[] = []
    for (let at = 0; at < 15; at += 1) {
      const id = await service.queue({ repository, app: `app-${at}` })
      ids.push(id)
      await eventually(async () => expect((await service.events(id)).length).toBeGreaterThan(1))
    }
    const outcomes = await Promise.all(ids.map((id) => service.outcome(id)))
    expect(outcomes.map(({ kind }) => kind)).toEqual(ids.map(() => 'landed'))
    const trailers = await host.git(name, 'log', '--format=%(trailers:key=Watcher-Task,valueonly)', 'main')
    expect(
      trailers
        .split('\n')
        .filter((line) => line !== '')
        .sort(),
    ).toEqual([...ids].sort())
  })

  test("a dead owner's pushes: what landed is found, what did not is pushed", async () => {
    const repository = await aRepository()
    const database = await aDatabase()
    const dead = await aReplica(database)
    const base = await host.git(repository, 'rev-parse', 'main')
    const store = createPendingWriteStore(database)
    const landed = await aTask(database, dead, { repository, app: 'landed' })
    const lost = await aTask(database, dead, { repository, app: 'lost' })
    for (const { claim, plan } of [landed, lost]) await store.queue(claim, plan)
    const [claim] = await store.claimRepositories(dead)
    if (!claim) throw new Error('the repository was not claimed')
    expect((await store.beginPush(claim, base, [landed.id, lost.id])).size).toBe(2)
    const commit = await host.commitFiles(repository, { x: 'y' }, landed.plan.message)
    await host.commitFiles(repository, { z: 'y' })
    await database.query.deleteFrom('replicas').where('id', '=', dead).execute()

    const { writeBack } = await aWriteBack(database, await aReplica(database))
    await eventually(async () => {
      expect(await writeBack.outcomeOf(landed.id)).toMatchObject({ kind: 'landed', commit })
      expect(await writeBack.outcomeOf(lost.id)).toMatchObject({ kind: 'landed' })
    })
    expect(await messages(repository)).toBe(
      'watcher(lost): update image tag\nrival\nwatcher(landed): update image tag\nfirst',
    )
    expect(await store.record(claim, [])).toBe(false)
    expect(await store.beginPush(claim, base, [lost.id])).toEqual(new Set())
  })
})

describe('a task that was superseded or cancelled', () => {
  const cancel = (database: Database, id: string) =>
    database.query.updateTable('tasks').set({ status: 'cancelled' }).where('id', '=', id).execute()

  test('before its push is not pushed', async () => {
    const repository = await aRepository()
    const database = await aDatabase()
    const replica = await aReplica(database)
    const store = createPendingWriteStore(database)
    const older = await aTask(database, replica, { repository, tag: 'v2' })
    const newer = await aTask(database, replica, { repository, tag: 'v3' })
    for (const { claim, plan } of [older, newer]) await store.queue(claim, plan)
    await cancel(database, older.id)
    const { writeBack } = await aWriteBack(database, replica)
    await eventually(async () => {
      expect(await writeBack.outcomeOf(older.id)).toEqual({ kind: 'dropped' })
      expect(await writeBack.outcomeOf(newer.id)).toMatchObject({ kind: 'landed' })
    })
    expect(await host.git(repository, 'rev-list', '--count', 'main')).toBe('2')
  })

  test('is left out at the last look, on the database, before anything is sent', async () => {
    const repository = await aRepository()
    const database = await aDatabase()
    const replica = await aReplica(database)
    const store = createPendingWriteStore(database)
    const one = await aTask(database, replica, { repository, app: 'one' })
    const two = await aTask(database, replica, { repository, app: 'two' })
    for (const { claim, plan } of [one, two]) await store.queue(claim, plan)
    const [claim] = await store.claimRepositories(replica)
    if (!claim) throw new Error('the repository was not claimed')
    await cancel(database, one.id)
    expect(await store.beginPush(claim, 'a'.repeat(40), [one.id, two.id])).toEqual(new Set([two.id]))
  })

  test('inside its last network write: its commit is told and stays, and nothing is pushed on top', async () => {
    const repository = await aRepository()
    const service = await aService()
    await service.outcome(await service.queue({ repository, tag: 'v1' }))
    const late = await service.task({ repository, tag: 'v2' })
    await service.database.query
      .insertInto('pending_writes')
      .values({
        task_id: late.id,
        repository: repositoryName(late.plan.repository),
        branch: 'main',
        address: late.plan.address,
        plan: JSON.stringify(late.plan),
        state: 'pushing',
        base: await host.git(repository, 'rev-parse', 'main'),
      })
      .execute()
    await cancel(service.database, late.id)
    const newest = await service.queue({ repository, tag: 'v1' })
    expect(await service.outcome(newest)).toMatchObject({ kind: 'unchanged' })
    const written = { [late.plan.file]: 'helm: {parameters: [{name: image.tag, value: v2}]}\n' }
    const commit = await host.commitFiles(repository, written, late.plan.message)
    expect(await service.outcome(late.id)).toMatchObject({ kind: 'landed', commit })
    const told = await service.database.query
      .selectFrom('task_events')
      .innerJoin('tasks', 'tasks.id', 'task_events.task_id')
      .select(['kind', 'detail', 'commit', 'status'])
      .where('task_id', '=', late.id)
      .execute()
    const detail = expect.stringMatching(new RegExp(`^commit ${commit} .* after the task had ended`))
    expect(told).toEqual([{ kind: 'commit_pushed', detail, commit, status: 'cancelled' }])
    await service.outcome(await service.queue({ repository, app: 'other' })) // the branch goes on from there
    expect(await host.git(repository, 'rev-list', '--count', 'main')).toBe('4')
    expect(await host.git(repository, 'show', `main:${late.plan.file}`)).toContain('v2')
  })

  test('and whose push cannot arrive any more is dropped', async () => {
    const repository = await aRepository()
    const database = await aDatabase()
    const dead = await aReplica(database)
    const store = createPendingWriteStore(database)
    const lost = await aTask(database, dead, { repository })
    await store.queue(lost.claim, lost.plan)
    const [claim] = await store.claimRepositories(dead)
    if (!claim) throw new Error('the repository was not claimed')
    await store.beginPush(claim, await host.git(repository, 'rev-parse', 'main'), [lost.id])
    await cancel(database, lost.id)
    await host.commitFiles(repository, { x: 'y' })
    await database.query.deleteFrom('replicas').where('id', '=', dead).execute()
    const { writeBack } = await aWriteBack(database, await aReplica(database))
    await eventually(async () => expect(await writeBack.outcomeOf(lost.id)).toEqual({ kind: 'dropped' }))
    expect(await messages(repository)).toBe('rival\nfirst')
  })

  test('and whose owner froze until the repository was taken from it: the owner still tells what it pushed', async () => {
    const repository = await aRepository()
    await aHook(repository, 'pre-receive', 'touch held; while [ -e held ]; do sleep 0.05; done')
    const service = await aService()
    const id = await service.queue({ repository })
    const held = path.join(host.directory(repository), 'held')
    await eventually(() => readFile(held))
    const successor = await aReplica(service.database)
    await service.database.query.updateTable('repositories').set({ owner: successor, fence: '9' }).execute()
    await service.database.query.updateTable('pending_writes').set({ state: 'dropped' }).execute()
    await cancel(service.database, id)
    await rm(held)
    await eventually(async () => expect(await service.writeBack.outcomeOf(id)).toMatchObject({ kind: 'landed' }))
    expect(await service.events(id)).toEqual(['write_back_queued', 'commit_pushed'])
  })
})

describe('only what was truly sent is looked for', () => {
  test('after lost races and a refusal nothing is', async () => {
    const repository = await aRepository()
    await aHook(
      repository,
      'update',
      `echo >> pushes; [ $(wc -l < pushes) -gt 3 ] && { echo no; exit 1; }; ${rivalIsFaster}`,
    )
    const service = await aService()
    const id = await service.queue({ repository })
    expect(await service.outcome(id)).toMatchObject({ kind: 'refused', reason: expect.stringContaining('no') })
    expect(await service.write(id)).toMatchObject({ base: null })
    expect(service.traced).toEqual([])
  })

  test('words of hooks do not decide that nothing was sent', async () => {
    const repository = await aRepository()
    await aHook(
      repository,
      'pre-receive',
      'echo "git@h: Permission denied (publickey)."; echo "ssh: connect to host h port 22: Connection refused"; echo "fatal: Could not read from remote repository."',
    )
    await aHook(repository, 'reference-transaction', '[ "$1" = committed ] || exit 0; kill -9 $PPID')
    const service = await aService()
    const id = await service.queue({ repository })
    expect(await service.outcome(id)).toMatchObject({
      kind: 'landed',
      commit: await host.git(repository, 'rev-parse', 'main'),
    })
    expect(await messages(repository)).toBe('watcher(shop): update image tag\nfirst')
    expect(service.traced).toHaveLength(1)
  })

  test('a push that arrives after it was sent again is found, below the commit of a person', async () => {
    const repository = await aRepository()
    const database = await aDatabase()
    const dead = await aReplica(database)
    const store = createPendingWriteStore(database)
    const task = await aTask(database, dead, { repository })
    await store.queue(task.claim, task.plan)
    const [claim] = await store.claimRepositories(dead)
    const base = await host.git(repository, 'rev-parse', 'main')
    if (!claim) throw new Error('the repository was not claimed')
    await store.beginPush(claim, base, [task.id])
    const late = await host.commitFiles(repository, { [task.plan.file]: 'v2: here\n' }, task.plan.message)
    const person = await host.commitFiles(repository, { [task.plan.file]: 'v1.5: here\n' })
    await host.git(repository, 'update-ref', 'refs/heads/main', base)
    await aHook(repository, 'update', `git update-ref refs/heads/main ${person}`)
    await database.query.deleteFrom('replicas').where('id', '=', dead).execute()

    const { writeBack } = await aWriteBack(database, await aReplica(database))
    await eventually(async () =>
      expect(await writeBack.outcomeOf(task.id)).toMatchObject({ kind: 'landed', commit: late }),
    )
    expect(await host.git(repository, 'rev-parse', 'main')).toBe(person)
  })
})

test.for([
  { beside: 'of itself', others: [] },
  { beside: 'of others with it', others: ['other'] },
])('a push without an answer is still looked for after a refusal $beside', async ({ others }) => {
  const repository = await aRepository()
  const database = await aDatabase()
  const replica = await aReplica(database)
  const store = createPendingWriteStore(database)
  const sent = await aTask(database, replica, { repository })
  const beside = await Promise.all(others.map((app) => aTask(database, replica, { repository, app })))
  for (const { claim, plan } of [sent, ...beside]) await store.queue(claim, plan)
  const base = await host.git(repository, 'rev-parse', 'main')
  await store.beginPush(await claimOf(database, replica), base, [sent.id])
  const late = await host.commitFiles(repository, { [sent.plan.file]: 'v2: here\n' }, sent.plan.message)
  const person = await host.commitFiles(repository, { [sent.plan.file]: 'v1.5: here\n' })
  await host.git(repository, 'update-ref', 'refs/heads/main', base)
  const arrived = path.join(host.directory(repository), 'arrived')
  const arrive = `[ -e ${arrived} ] || { touch ${arrived}; git update-ref refs/heads/main ${person}; echo no; exit 1; }`
  await aHook(repository, 'update', arrive)
  const { writeBack } = await aWriteBack(database, replica)
  await eventually(async () => {
    expect(await writeBack.outcomeOf(sent.id)).toMatchObject({ kind: 'landed', commit: late })
    for (const { id } of beside) expect(await writeBack.outcomeOf(id)).toMatchObject({ kind: 'landed' })
  })
  expect(await host.git(repository, 'log', '--format=%H', 'main', '--', sent.plan.file)).toBe(`${person}\n${late}`)
})

describe('one write does not hold up the others', () => {
  test('a write whose outcome cannot be learned waits alone with those of its file', async () => {
    const repository = await aRepository()
    const database = await aDatabase()
    const dead = await aReplica(database)
    const store = createPendingWriteStore(database)
    const sent = await aTask(database, dead, { repository })
    await store.queue(sent.claim, sent.plan)
    const [claim] = await store.claimRepositories(dead)
    if (!claim) throw new Error('the repository was not claimed')
    await store.beginPush(claim, await host.git(repository, 'rev-parse', 'main'), [sent.id])
    const commit = await host.commitFiles(repository, { x: 'y' }, sent.plan.message)
    await database.query.deleteFrom('replicas').where('id', '=', dead).execute()
    await host.git(repository, 'config', 'uploadpackfilter.tree.allow', 'false') // which the commit history needs

    const replica = await aReplica(database)
    const { writeBack } = await aWriteBack(database, replica)
    const queue = async (example: Omit<TaskExample, 'repository'>) => {
      const { id, plan, claim } = await aTask(database, replica, { ...example, repository })
      await writeBack.queue(claim, plan)
      return id
    }
    const ofItsFile = await queue({ app: 'second', file: sent.plan.file })
    for (const app of ['one', 'two', 'three']) {
      const id = await queue({ app })
      await eventually(async () => expect(await writeBack.outcomeOf(id)).toMatchObject({ kind: 'landed' }))
    }
    expect(await writeBack.outcomeOf(sent.id)).toBeUndefined()
    expect(await writeBack.outcomeOf(ofItsFile)).toBeUndefined()
    await host.git(repository, 'config', '--unset', 'uploadpackfilter.tree.allow')
    await eventually(async () => {
      expect(await writeBack.outcomeOf(sent.id)).toMatchObject({ kind: 'landed', commit })
      expect(await writeBack.outcomeOf(ofItsFile)).toMatchObject({ kind: 'landed' })
    })
  })

  test('a commit that ends the connection each time is tried behind the others', async () => {
    const repository = await aRepository()
    await aHook(repository, 'update', 'git log --format=%s $2..$3 | grep -q bad && kill -9 $PPID; exit 0')
    const service = await aService()
    const bad = await service.queue({ repository, app: 'bad', seconds: 15 })
    const others = await Promise.all(
      Array.from({ length: 6 }, (_, at) => service.queue({ repository, app: `app-${at}`, seconds: 15 })),
    )
    for (const id of others) expect(await service.outcome(id)).toMatchObject({ kind: 'landed' })
    expect(await service.outcome(bad)).toMatchObject({ kind: 'refused', cause: 'git_unreachable' })
  })

  test('a branch that refuses everybody ends 100 waiting tasks in 7 pushes', async () => {
    const repository = await aRepository()
    await aHook(repository, 'pre-receive', 'echo "the branch is protected"; exit 1')
    const database = await aDatabase()
    const replica = await aReplica(database)
    const store = createPendingWriteStore(database)
    const tasks = await Promise.all(
      Array.from({ length: 100 }, (_, at) => aTask(database, replica, { repository, app: `app-${at}` })),
    )
    for (const { claim, plan } of tasks) await store.queue(claim, plan)
    const { writeBack } = await aWriteBack(database, replica, {}, { nowMs: slowClock })
    await eventually(async () => {
      for (const { id } of tasks)
        expect(await writeBack.outcomeOf(id)).toMatchObject({
          cause: 'git_refused',
          reason: expect.stringContaining('the branch is protected'),
        })
    })
    expect(countPushes(repository)).toBe(7) // all, five of them alone, and the rest
  })

  test('as many bad commits as were tried alone in a row do not fail the others', async () => {
    const repository = await aRepository()
    await aHook(repository, 'update', 'git log --format=%s $2..$3 | grep -q frozen || exit 0; echo frozen; exit 1')
    const database = await aDatabase()
    const replica = await aReplica(database)
    const store = createPendingWriteStore(database)
    const isBad = (at: number) => [0, 2, 5, 7, 8].includes(at)
    const tasks: Awaited<ReturnType<typeof aTask>>[] = []
    for (let at = 0; at < 10; at += 1)
      tasks.push(await aTask(database, replica, { repository, app: isBad(at) ? `frozen-${at}` : `app-${at}` }))
    for (const { claim, plan } of tasks) await store.queue(claim, plan)
    const { writeBack } = await aWriteBack(database, replica, {}, { nowMs: slowClock })
    const kindOf = async (id: string) => (await writeBack.outcomeOf(id))?.kind
    const expected = tasks.map((_, at) => (isBad(at) ? 'refused' : 'landed'))
    await eventually(async () => {
      const kinds = await Promise.all(tasks.map(({ id }) => kindOf(id)))
      expect(kinds).not.toContain(undefined)
      expect(kinds).toEqual(expected)
    })
    expect(countPushes(repository)).toBe(7)
  })

  test('several bad commits next to each other fail alone', async () => {
    const repository = await aRepository()
    await aHook(repository, 'update', 'git log --format=%s $2..$3 | grep -q frozen || exit 0; echo frozen; exit 1')
    const database = await aDatabase()
    const replica = await aReplica(database)
    const store = createPendingWriteStore(database)
    const tasks: Awaited<ReturnType<typeof aTask>>[] = []
    for (let at = 0; at < 20; at += 1) {
      const app = at < 6 ? `frozen-${at}` : `app-${at}`
      tasks.push(await aTask(database, replica, { repository, app }))
    }
    for (const { claim, plan } of tasks) await store.queue(claim, plan)
    const { writeBack } = await aWriteBack(database, replica)
    const kindOf = async (id: string) => (await writeBack.outcomeOf(id))?.kind
    const expected = tasks.map((_, at) => (at < 6 ? 'refused' : 'landed'))
    await eventually(async () => expect(await Promise.all(tasks.map(({ id }) => kindOf(id)))).toEqual(expected))
  })
})

/** The writer of a repository on its own; `pauses` are what it wants to wait, and so many end it. */
async function aWriter(database: Database, claim: WriteQueue, maxPauses: number) {
  const settings = writeBackSettings(host)
  const access = await openGitAccess(settings, process.env.PATH ?? '')
  const editor = createOverrideFileEditor()
  const { commitAuthor: author, gitOpTimeoutMs } = settings
  const cache = createRepositoryCache(claim.repository, claim.branch, access)
  const repository = openGitRepository(claim.address, cache, { access, author, gitOpTimeoutMs, nowMs: slowClock })
  onTestFinished(async () => {
    await editor[Symbol.asyncDispose]()
    await access[Symbol.asyncDispose]()
    await rm(settings.repoCachePath, { recursive: true, force: true })
  })
  const pauses: number[] = []
  const nothing = () => {}
  const turn = createSemaphore(1)
  let isHeld = false
  const readsInTurn: boolean[] = []
  const rested = Promise.withResolvers<void>()
  const writer = createRepositoryWriter(
    claim,
    {
      ...repository,
      readFiles(tip, paths) {
        readsInTurn.push(isHeld)
        return repository.readFiles(tip, paths)
      },
    },
    {
      store: createPendingWriteStore(database),
      history: createCommitHistory({ access, editor, nowMs: Date.now, onError: nothing }),
      editor,
      canContinue: () => pauses.length < maxPauses,
      inTurn: (work) =>
        turn.use(async () => {
          isHeld = true
          return work().finally(() => {
            isHeld = false
          })
        }),
      onRecorded: nothing,
      onEvents: nothing,
      onReady: rested.resolve,
      measures: { writeBackBegan: nothing, writeBackEnded: nothing, pushed: nothing },
      nowMs: slowClock,
      pause: async (ms) => void pauses.push(ms),
      random: () => 0.5,
    },
  )
  return { writer, pauses, readsInTurn, rested: rested.promise }
}

async function claimOf(database: Database, replica: string): Promise<WriteQueue> {
  const [claim] = await createPendingWriteStore(database).claimRepositories(replica)
  if (!claim) throw new Error('the repository was not claimed')
  return claim
}

describe('the pause after failures', () => {
  test('doubles up to 4 s, although the branch can be read', async () => {
    const repository = await aRepository()
    await aHook(repository, 'update', 'kill -9 $PPID')
    const database = await aDatabase()
    const replica = await aReplica(database)
    const task = await aTask(database, replica, { repository })
    await createPendingWriteStore(database).queue(task.claim, task.plan)
    const { writer, pauses } = await aWriter(database, await claimOf(database, replica), 6)
    await writer.run()
    expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 4_000])
  })

  test('ends with the first deadline, also beside a cancelled task whose own is long over', async () => {
    const database = await aDatabase()
    const replica = await aReplica(database)
    const store = createPendingWriteStore(database)
    const repository = 'ssh://git@127.0.0.1:1/away.git'
    const cancelled = await aTask(database, replica, { repository, app: 'cancelled' })
    const wanted = await aTask(database, replica, { repository })
    for (const { claim, plan } of [cancelled, wanted]) await store.queue(claim, plan)
    const claim = await claimOf(database, replica)
    await database.query
      .updateTable('pending_writes')
      .set({ state: 'pushing', base: 'b'.repeat(40) })
      .execute()
    const endIn = (seconds: number) => sql<Date>`now() + make_interval(secs => ${seconds})`
    const change = (id: string, values: { deadline: ReturnType<typeof endIn>; status?: 'cancelled' }) =>
      database.query.updateTable('tasks').set(values).where('id', '=', id).execute()
    await change(cancelled.id, { deadline: endIn(-60), status: 'cancelled' })
    await change(wanted.id, { deadline: endIn(3.9) })
    const { writer, pauses } = await aWriter(database, claim, 1)
    await writer.run()
    expect(pauses[0]).toBeGreaterThan(500) // a next try has no time any more
  })
})

test('what became of a push is looked for in turn with the writer, who may fetch or throw the cache away', async () => {
  const repository = await aRepository()
  const database = await aDatabase()
  const replica = await aReplica(database)
  const store = createPendingWriteStore(database)
  const task = await aTask(database, replica, { repository })
  await store.queue(task.claim, task.plan)
  const claim = await claimOf(database, replica)
  await store.beginPush(claim, await host.git(repository, 'rev-parse', 'main'), [task.id])
  await host.commitFiles(repository, { x: 'y' })
  const { writer, readsInTurn, rested } = await aWriter(database, claim, 1)
  await writer.run()
  await rested
  expect(readsInTurn).toEqual([true])
})

describe('the reason at a deadline is the last thing that happened', () => {
  test.for([
    {
      what: 'another writer',
      hook: rivalIsFaster,
      says: /^nothing was committed .*: another writer was faster (?:once|\d+ times)$/,
    },
    {
      what: 'a hook that hangs longer than the task has time',
      hook: 'exec sleep 90',
      says: /^whether the commit arrived is not known: .*git push timed out after/,
    },
  ])('$what', async ({ hook, says }) => {
    const repository = await aRepository()
    await aHook(repository, 'update', hook)
    const service = await aService({ gitOpTimeoutMs: 60_000 })
    const beganMs = performance.now()
    const id = await service.queue({ repository, seconds: 10 })
    expect(await service.outcome(id)).toMatchObject({ cause: 'git_unreachable', reason: expect.stringMatching(says) })
    expect(performance.now() - beganMs).toBeLessThan(50_000) // without its own end it would be 60 s
  })

  test('a host that cannot move the branch, which is no other writer', async () => {
    const repository = await aRepository()
    await writeFile(path.join(host.directory(repository), 'refs/heads/main.lock'), '')
    const service = await aService()
    const outcome = await service.outcome(await service.queue({ repository, seconds: 10 }))
    expect(outcome).toMatchObject({
      kind: 'refused',
      reason: expect.stringMatching(/^nothing was committed before the timeout: failed to update ref\n.*main\.lock/s),
    })
    expect(countPushes(repository)).toBeLessThanOrEqual(6)
  })

  test('and not that the end of the task cut off the last try', async () => {
    const repository = await aRepository()
    const service = await aService({ gitOpTimeoutMs: 60_000 })
    await host.stopListening()
    const id = await service.queue({ repository, seconds: 12 })
    await eventually(async () => expect((await service.write(id)).reason).toContain('refused'))
    host.setFault({ kind: 'hang' })
    onTestFinished(() => host.setFault(undefined))
    await host.listenAgain()
    expect(await service.outcome(id)).toMatchObject({ reason: expect.stringContaining('Connection refused') })
    expect(countReads(repository)).toBeGreaterThan(0)
  })

  test('and not that the end of the task cut off a push that took long to build', async () => {
    const repository = await aRepository()
    await host.git(repository, 'config', 'receive.maxInputSize', '1')
    const folder = await mkdtemp(path.join(tmpdir(), 'slow-git-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    // the first failure has the cache made anew, the second one is told
    const isLast = `[ "$(cat '${folder}/pushes' 2>/dev/null | wc -l)" -ge 2 ]`
    const slow = `if ${isLast}; then while [ $(date +%s%3N) -lt $(cat '${folder}/until') ]; do sleep 0.05; done; fi`
    const push = `if ${isLast}; then sleep 5; fi; echo push >>'${folder}/pushes'`
    const git = `case "$1" in fast-import) ${slow};; push) ${push};; esac\nPATH='${process.env.PATH}' exec git "$@"`
    await writeFile(path.join(folder, 'git'), `#!/bin/sh\n${git}\n`, { mode: 0o755 })
    const searchPath = `${folder}:${process.env.PATH}`
    const service = await aWriteBackService(writeBackSettings(host), await aDatabase(), searchPath)
    await writeFile(path.join(folder, 'until'), String(Date.now() + 17_300)) // the push would end 1 s before the deadline
    const id = await service.queue(host.url(repository), { seconds: 20 })
    expect(await service.outcome(id)).toMatchObject({ reason: expect.stringContaining('unpacker error') })
  })

  test('why the host could not unpack a push', async () => {
    const repository = await aRepository()
    await host.git(repository, 'config', 'receive.maxInputSize', '1')
    const service = await aService()
    const outcome = await service.outcome(await service.queue({ repository, seconds: 20 }))
    expect(outcome).toMatchObject({
      kind: 'refused',
      reason: expect.stringMatching(/unpacker error\n.*unpack failed.*\n.*maximum allowed size/),
    })
  })
})

test('a failure in the background is logged with its error and the name of the work', async () => {
  const database = await aDatabase()
  await sql`ALTER TABLE watcher.pending_writes RENAME TO renamed_writes`.execute(database.query)
  const warn = vi.fn<WriteBackDeps['log']['warn']>()
  await aWriteBack(database, randomUUID(), {}, { log: { warn } })
  const err: unknown = expect.objectContaining({ message: expect.stringContaining('pending_writes') })
  await eventually(async () =>
    expect(warn).toHaveBeenCalledWith({ err }, 'claiming pending write-backs failed, retrying'),
  )
})
