import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import ssh2 from 'ssh2'
import { describe, expect, test, vi } from 'vitest'
import { eventually } from '../../../test/support/eventually.ts'
import { startFileGitHost } from '../../../test/support/file-git-host.ts'
import { rivalIsFaster, writeBackTo } from '../../../test/support/write-back-host.ts'
import { aDatabase, aReplica } from '../../../test/support/write-back-service.ts'
import type { Database } from '../../storage/database.ts'
import { repositoryName } from '../plan/repository-address.ts'
import { createPendingWriteStore } from './pending-write-store.ts'
import type { WriteBackDeps } from './write-back.ts'

const { host, aRepository, aHook } = await startFileGitHost()
const { aTask, aWriteBack, aService, messages, countPushes } = writeBackTo(host)

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
    expect(await service.row(id)).toMatchObject({
      commit: head,
      repository: host.url(repository),
      branch: 'main',
      status: 'in progress',
    })
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

  test('the same content makes no commit; the task shows the one that set its tag, and awaits the head', async () => {
    const repository = await aRepository()
    const service = await aService()
    const first = await service.outcome(await service.queue({ repository }))
    const setBy = await host.git(repository, 'rev-parse', 'main')
    expect(first).toMatchObject({ kind: 'landed', commit: setBy })
    await service.outcome(await service.queue({ repository, app: 'payments' }))
    const head = await host.git(repository, 'rev-parse', 'main')
    const id = await service.queue({ repository })
    expect(await service.outcome(id)).toEqual({
      kind: 'unchanged',
      commit: head,
      repository: host.url(repository),
      branch: 'main',
    })
    await eventually(async () => expect(await service.row(id)).toMatchObject({ commit: setBy, branch: 'main' }))
    expect(await service.details(id)).toEqual([
      expect.stringContaining('image.tag=v2'),
      'main has the tags already',
      `the tags were set by commit ${setBy}`,
    ])
    expect(await host.git(repository, 'rev-parse', 'main')).toBe(head)
  })

  test('no outcome waits for the commit that set a tag: it is shown after the end of the task, and moves no time', async () => {
    const repository = await aRepository()
    const search = Promise.withResolvers<void>()
    const service = await aService({}, { beforeSearch: search.promise })
    await service.outcome(await service.queue({ repository }))
    const setBy = await host.git(repository, 'rev-parse', 'main')
    const heard: string[] = []
    service.writeBack.onOutcome((taskId) => heard.push(taskId))
    const id = await service.queue({ repository })
    await eventually(() => expect(heard).toEqual([id]))
    await service.database.query.updateTable('tasks').set({ status: 'deployed' }).where('id', '=', id).execute()
    const { commit, updated, ended } = await service.row(id)
    expect(commit).toBeNull()
    search.resolve()
    await eventually(async () => expect(await service.row(id)).toMatchObject({ commit: setBy, updated, ended }))
  })

  test('nothing is lost beside a rival that pushes all the time (F24): faster five times running, and every fourth time then', async () => {
    const repository = await aRepository()
    await aHook(
      repository,
      'update',
      `echo >> pushes; pushes=$(wc -l < pushes); [ $pushes -le 5 ] || [ $((pushes % 4)) = 0 ] || exit 0
       ${rivalIsFaster} && echo >> rivals`,
    )
    const service = await aService()
    const apps = Array.from({ length: 40 }, (_, at) => `app-${at}`).sort()
    const ids = await Promise.all(apps.map((app) => service.queue({ repository, app })))
    const outcomes = await Promise.all(ids.map((id) => service.outcome(id)))
    expect(outcomes.every(({ kind }) => kind === 'landed')).toBe(true)
    const subjects = (await messages(repository)).split('\n')
    const rivals = subjects.filter((subject) => subject === 'rival').length
    expect(await readFile(path.join(host.directory(repository), 'rivals'), 'utf8')).toBe('\n'.repeat(rivals))
    expect(rivals).toBeGreaterThan(5)
    expect(subjects).toHaveLength(1 + apps.length + rivals)
    const timed = (what: string) => service.measured.filter(([kind]) => kind === what)
    for (const what of ['began', 'ended'])
      expect(
        timed(what)
          .map(([, app]) => app)
          .sort(),
        what,
      ).toEqual(apps)
    expect(timed('pushed').reduce((sum, [, commits]) => sum + Number(commits), 0)).toBe(apps.length)
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

  test('a directory with more entries than can be edited; the other directories go on', async () => {
    const repository = await aRepository()
    const blob = await host.git(repository, 'rev-parse', 'main:README.md')
    const entries = Array.from({ length: 120_000 }, (_, at) => `100644 blob ${blob}\tf${`${at}`.padStart(6, '0')}`)
    const large = await host.makeTree(repository, entries.join('\n'))
    const tree = await host.makeTree(repository, `040000 tree ${large}\tapps`)
    const commit = await host.git(repository, 'commit-tree', '-m', 'large', tree)
    await host.git(repository, 'update-ref', 'refs/heads/main', commit)
    const service = await aService()
    const ids = [
      await service.queue({ repository }),
      await service.queue({ repository, app: 'web', file: 'web/x.yaml' }),
    ]
    expect(await Promise.all(ids.map((id) => service.outcome(id)))).toMatchObject([
      {
        kind: 'refused',
        cause: 'override_file_invalid',
        reason: expect.stringContaining('directory has more entries than can be edited (4 MiB)'),
      },
      { kind: 'landed' },
    ])
  })

  test('B72 an override file that is a list', async () => {
    const repository = await aRepository({ 'apps/.watcher-source-shop.yaml': '- x\n' })
    const service = await aService()
    expect(await service.outcome(await service.queue({ repository }))).toMatchObject({
      cause: 'override_file_invalid',
      reason: expect.stringContaining('apps/.watcher-source-shop.yaml is not a YAML map'),
    })
  })

  test('a rejection by a hook or protected branch ends the task with its words (F25)', async () => {
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
