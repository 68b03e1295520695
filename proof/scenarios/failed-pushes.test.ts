import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSemaphore } from '../../server/concurrency/semaphore.ts'
import type { Database } from '../../server/storage/database.ts'
import { openGitAccess } from '../../server/write-back/git/access/git-access.ts'
import { createRepositoryCache } from '../../server/write-back/git/access/repository-cache.ts'
import { createCommitHistory } from '../../server/write-back/git/history/commit-history.ts'
import { openGitRepository } from '../../server/write-back/git/push/git-repository.ts'
import { createPendingWriteStore, type WriteQueue } from '../../server/write-back/queue/pending-write-store.ts'
import { createStepPerformer } from '../../server/write-back/queue/perform-steps.ts'
import { eventually } from '../../test/support/eventually.ts'
import { startFaultProxy } from '../../test/support/fault-proxy.ts'
import { startFileGitHost } from '../../test/support/file-git-host.ts'
import { rivalIsFaster, slowClock, writeBackTo } from '../../test/support/write-back-host.ts'
import { aDatabase, aReplica, aWriteBackService, type TaskExample } from '../../test/support/write-back-service.ts'
import { writeBackSettings } from '../../test/support/write-back-settings.ts'

const { host, aRepository, aHook } = await startFileGitHost()
const { aTask, aWriteBack, aService, messages, countPushes } = writeBackTo(host)

describe('commits land once a Git host that was away comes back (F22)', () => {
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

describe('a push whose answer is lost is found by its trailer or repeated once (F27)', () => {
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
    // On a busy machine the search may be tried again, too, and say why.
    expect([...new Set(await service.events(id))]).toEqual(['write_back_queued', 'write_back_retry', 'commit_pushed'])
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

/** The performer of a branch on its own; `pauses` are what it wants to wait, which its clock skips, and so many end it. */
async function aPerformer(database: Database, claim: WriteQueue, maxPauses: number) {
  const settings = writeBackSettings(host)
  const access = await openGitAccess(settings, process.env.PATH ?? '')
  const { commitAuthor: author, gitOpTimeoutMs } = settings
  const cache = createRepositoryCache(claim.repository, claim.branch, access)
  const pauses: number[] = []
  const nowMs = () => slowClock() + pauses.reduce((sum, ms) => sum + ms, 0)
  const repository = openGitRepository(claim.address, cache, { access, author, gitOpTimeoutMs, nowMs })
  onTestFinished(async () => {
    await access[Symbol.asyncDispose]()
    await rm(settings.repoCachePath, { recursive: true, force: true })
  })
  const nothing = () => {}
  const turn = createSemaphore(1)
  let isHeld = false
  const readsInTurn: boolean[] = []
  const performer = createStepPerformer(
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
      history: createCommitHistory({ access, nowMs: Date.now, onError: nothing }),
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
      onReady: nothing,
      measures: { writeBackBegan: nothing, writeBackEnded: nothing, pushed: nothing },
      nowMs,
      pause: async (ms) => void pauses.push(ms),
      random: () => 0.5,
    },
  )
  async function run(): Promise<void> {
    do await performer.run()
    while (pauses.length > 0 && pauses.length < maxPauses)
  }
  return { run, pauses, readsInTurn }
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
    const { run, pauses } = await aPerformer(database, await claimOf(database, replica), 6)
    await run()
    expect(pauses.map((ms) => Math.round(ms / 50) * 50)).toEqual([250, 500, 1_000, 2_000, 4_000, 4_000])
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
    const { run, pauses } = await aPerformer(database, claim, 1)
    await run()
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
  const { run, readsInTurn } = await aPerformer(database, claim, 1)
  await run()
  expect(readsInTurn).toEqual([true, true]) // looked for, and sent again
})

describe('the reason at a deadline is the last thing that happened', () => {
  test.for([
    {
      what: 'another writer',
      hook: rivalIsFaster,
      says: /^nothing was committed .*: lost (?:1 push race|\d+ push races)$/,
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
    expect(host.commands()).toContain(`git-upload-pack ${repository}`)
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
