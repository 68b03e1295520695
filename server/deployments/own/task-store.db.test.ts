import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { bareDiagnosis, type Diagnosis } from '../../../contract/diagnosis.ts'
import { TaskFilter } from '../../../contract/task.ts'
import { openFileDatabase, queryOnce } from '../../../test/support/database.ts'
import { aNewTask } from '../../../test/support/new-task.ts'
import { createTaskStore } from '../../../test/support/task-store.ts'
import { createDeployLock } from '../../locks/deploy-lock.ts'
import { DeployLockUnknownError } from '../../locks/deploy-lock-errors.ts'
import { createDeployLockStore } from '../../locks/deploy-lock-store.ts'
import { type LockdownCalendar, neverClosed } from '../../locks/evaluate-deploy-lock.ts'
import { DeploymentsLockedError } from '../task-errors.ts'

const { database, testDatabase } = await openFileDatabase()

const aBaseline = {
  uid: 'u1',
  version: 7,
  revisions: [],
  reconciledAtMs: undefined,
  images: [],
  operation: undefined,
  isBeforeCommit: true,
}

async function aReplica(): Promise<string> {
  const id = crypto.randomUUID()
  await database.query
    .insertInto('replicas')
    .values({ id, lock_key: String(Math.floor(Math.random() * 2 ** 48)) })
    .execute()
  return id
}

const eventsOf = async (id: string) =>
  (
    await database.query
      .selectFrom('task_events')
      .select(['kind', 'detail'])
      .where('task_id', '=', id)
      .orderBy('row_id')
      .execute()
  ).map(({ kind, detail }) => ({ kind, detail }))

describe('submission', () => {
  test('a stored task reads back as it was given, in progress', async () => {
    const tasks = createTaskStore(database)
    const task = aNewTask({ source: { repository: 'https://git.example/shop', sha: 'abc' } })
    await tasks.accept({ task, closed: neverClosed })
    const { id, app, images, source, timeoutSeconds } = task
    const stored = await tasks.find(id)
    expect(stored).toMatchObject({ id, app, images, source, timeoutSeconds, status: 'in progress' })
    expect(Math.abs(Number(stored?.deadline) - Number(stored?.created) - 900_000)).toBeLessThan(50)
    expect(await eventsOf(id)).toEqual([{ kind: 'accepted', detail: 'accepted from ada: registry.example/shop:v1' }])
  })

  test.for([
    { earlier: true, later: true, survives: false },
    { earlier: false, later: false, survives: false },
    { earlier: false, later: true, survives: false },
    { earlier: true, later: false, survives: true },
  ])('a task with credential: $earlier stays when one with credential: $later follows: $survives', async (row) => {
    const tasks = createTaskStore(database)
    const first = aNewTask({ mayWrite: row.earlier })
    const second = aNewTask({ app: first.app, mayWrite: row.later })
    await tasks.accept({ task: first, closed: neverClosed })
    await tasks.accept({ task: second, closed: neverClosed })
    expect((await tasks.find(first.id))?.status).toBe(row.survives ? 'in progress' : 'cancelled')
    if (row.survives) return
    expect(await tasks.find(first.id)).toMatchObject({ cause: 'superseded' })
    expect((await eventsOf(first.id)).at(-1)?.detail).toContain(second.id)
    expect((await eventsOf(second.id)).at(-1)).toMatchObject({ kind: 'superseded_others' })
  })

  test('a task of another image leaves an unfinished one alone', async () => {
    const tasks = createTaskStore(database)
    const first = aNewTask()
    await tasks.accept({ task: first, closed: neverClosed })
    await tasks.accept({
      task: aNewTask({ app: first.app, images: [{ image: 'registry.example/other', tag: 'v1' }] }),
      closed: neverClosed,
    })
    expect((await tasks.find(first.id))?.status).toBe('in progress')
  })

  test('of twenty tasks submitted at once for one application and image one survives', async () => {
    const tasks = createTaskStore(database)
    const { app } = aNewTask()
    const submitted = Array.from({ length: 20 }, () => aNewTask({ app }))
    await Promise.all(submitted.map((task) => tasks.accept({ task, closed: neverClosed })))
    const { tasks: alive } = await tasks.list({ app, statuses: ['in progress'] })
    expect(alive).toHaveLength(1)
    const { tasks: all } = await tasks.list({ app })
    expect(all[0]?.id).toBe(alive[0]?.id)
  })
})

describe('readers', () => {
  const digestOf = (credential: number) => createHash('sha256').update(`${credential}`).digest()

  test('of one task are at most 100 credentials, none of them twice, and those that came first stay', async () => {
    const tasks = createTaskStore(database)
    const task = aNewTask({ readerDigest: digestOf(0) })
    await tasks.accept({ task, closed: neverClosed })
    for (let retry = 0; retry <= 100; retry += 1) await tasks.addReader(task.id, digestOf(retry))
    const first100 = Array.from({ length: 100 }, (_, credential) => digestOf(credential))
    expect((await tasks.find(task.id))?.readerDigests).toEqual(first100)
  })
})

describe("a lockdown, by the database's clock", () => {
  const hourMs = 3_600_000
  const databaseTime = async () => (await createDeployLockStore(database).read()).at.getTime()
  const between = (fromMs: number, toMs: number) => ({ from: new Date(fromMs), to: new Date(toMs) })
  const closedFrom = (ms: number): LockdownCalendar => ({
    known: between(ms - 24 * hourMs, ms + 24 * hourMs),
    intervals: [between(ms, ms + hourMs)],
  })

  test('refuses a task, says until when, and leaves everything as it was', async () => {
    const tasks = createTaskStore(database)
    const earlier = aNewTask()
    const late = aNewTask({ app: earlier.app })
    await tasks.accept({ task: earlier, closed: neverClosed })
    const refusal = await tasks
      .accept({ task: late, closed: closedFrom((await databaseTime()) - 1_000) })
      .catch((error: unknown) => error)
    if (!(refusal instanceof DeploymentsLockedError)) throw refusal
    expect(refusal.lock.retryAfterSeconds).toBeGreaterThan(3_500)
    expect(refusal.lock.retryAfterSeconds).toBeLessThan(3_600)
    expect(await tasks.find(late.id)).toBeUndefined()
    expect(await tasks.find(earlier.id)).toMatchObject({ status: 'in progress' })
    expect(await eventsOf(earlier.id)).toHaveLength(1)
  })

  test('accepts before it begins and after it has ended', async () => {
    const tasks = createTaskStore(database)
    for (const beginsInMs of [hourMs / 2, -2 * hourMs]) {
      const task = aNewTask()
      await tasks.accept({ task, closed: closedFrom((await databaseTime()) + beginsInMs) })
      expect(await tasks.find(task.id)).toMatchObject({ status: 'in progress' })
    }
  })

  test.for([-30, 30])('is unknown to a replica whose clock is %i days off, so nothing is accepted', async (days) => {
    const tasks = createTaskStore(database)
    const windows = [{ start: 0, end: 1 }]
    const { calendarAround } = createDeployLock({
      schedule: { windows, timeZone: 'UTC' },
      ...createDeployLockStore(database),
    })
    const task = aNewTask()
    const wrongTime = new Date((await databaseTime()) + days * 24 * hourMs)
    await expect(tasks.accept({ task, closed: calendarAround(wrongTime) })).rejects.toThrow(DeployLockUnknownError)
    expect(await tasks.find(task.id)).toBeUndefined()
  })

  test('lets nothing of twenty racing submitters pass once it has begun', async () => {
    const tasks = createTaskStore(database)
    const { app } = aNewTask()
    const beginsMs = (await databaseTime()) + 1_000
    const limitMs = performance.now() + 20_000
    const submitUntilRefused = async (_: unknown, submitter: number) => {
      for (let accepted = 0; performance.now() < limitMs; accepted += 1) {
        // Half of them wait for one another at the lock of their application, over the beginning.
        const task = aNewTask(submitter % 2 === 0 ? { app } : { app: `${app}-${submitter}` })
        try {
          await tasks.accept({ task, closed: closedFrom(beginsMs) })
        } catch (error) {
          if (error instanceof DeploymentsLockedError) return accepted
          throw error
        }
      }
      throw new Error('never refused')
    }
    const accepted = await Promise.all(Array.from({ length: 20 }, submitUntilRefused))
    const { tasks: stored, total } = await tasks.list({ search: app })
    expect(total?.count).toBe(accepted.reduce((sum, count) => sum + count, 0))
    expect(total?.count).toBeGreaterThan(0)
    expect(Math.max(...stored.map(({ created }) => created.getTime()))).toBeLessThan(beginsMs)
  })
})

describe('claims', () => {
  test('of two replicas that claim at once each task has one owner', async () => {
    const tasks = createTaskStore(database)
    const mine = await Promise.all(
      Array.from({ length: 40 }, () => aNewTask()).map((task) => tasks.accept({ task, closed: neverClosed })),
    )
    expect(mine).toHaveLength(40)
    const owners = [await aReplica(), await aReplica()]
    const claimed = (await Promise.all(owners.map((owner) => tasks.claim(owner, 1000)))).flat()
    const ids = claimed.map(({ task }) => task.id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(await tasks.claim(owners[0] ?? '', 1000)).toEqual([])
  })

  test('a task whose owner has no row any more is claimed with a higher fence, and the old claim writes nothing', async () => {
    const tasks = createTaskStore(database)
    await tasks.claim(await aReplica(), 1000)
    const task = aNewTask({ timeoutSeconds: 60 })
    await tasks.accept({ task, closed: neverClosed })
    const dead = await aReplica()
    const [before] = await tasks.claim(dead, 1000)
    await database.query.deleteFrom('replicas').where('id', '=', dead).execute()
    const [after] = await tasks.claim(await aReplica(), 1000)
    if (!before || !after) throw new Error('the task was not claimed')
    expect(Number(after.claim.fence)).toBe(Number(before.claim.fence) + 1)
    expect(after.remainingMs).toBeGreaterThan(50_000)
    expect(after.remainingMs).toBeLessThanOrEqual(60_000)
    expect(await tasks.saveProgress(before.claim, { progress: 'late', baseline: aBaseline }, [])).toBe(false)
    expect(await tasks.saveProgress(after.claim, { baseline: aBaseline }, [])).toBe(true)
    expect(await tasks.finish(before.claim, { status: 'failed' })).toBeUndefined()
    expect(await tasks.saveProgress(after.claim, { progress: 'waits' }, [{ kind: 'note', detail: 'seen' }])).toBe(true)
    expect(await tasks.find(task.id)).toMatchObject({ progress: 'waits' })
  })

  test('progress is saved with its events in their order, by its claim', async () => {
    const tasks = createTaskStore(database)
    const owner = await aReplica()
    const mine = Array.from({ length: 3 }, () => aNewTask())
    for (const task of mine) await tasks.accept({ task, closed: neverClosed, owner })
    const claims = mine.map(({ id }, at) => ({ taskId: id, owner, fence: at === 1 ? '7' : '1' }))
    const saved = claims.map((claim, at) =>
      tasks.saveProgress(claim, { progress: `step ${at}` }, [
        { kind: 'note', detail: `first of ${at}` },
        { kind: 'note', detail: `second of ${at}, cut inside of \ud83d` },
      ]),
    )
    expect(await Promise.all(saved)).toEqual([true, false, true])
    for (const [at, { id }] of mine.entries()) {
      expect((await tasks.find(id))?.progress).toBe(at === 1 ? 'looking for the application' : `step ${at}`)
      const notes = (await eventsOf(id)).filter(({ kind }) => kind === 'note').map(({ detail }) => detail)
      expect(notes).toEqual(at === 1 ? [] : [`first of ${at}`, `second of ${at}, cut inside of \ufffd`])
    }
  })

  test('ends of many tasks are written together, each with its event and log, and by its claim', async () => {
    const tasks = createTaskStore(database)
    const owner = await aReplica()
    const mine = Array.from({ length: 30 }, () => aNewTask())
    await Promise.all(mine.map((task) => tasks.accept({ task, closed: neverClosed, owner })))
    const podLog = { pod: 'shop-1', lines: ['first', 'second'] }
    const endOf = (at: number) =>
      at % 2 === 0
        ? ({ status: 'deployed' } as const)
        : ({ status: 'failed', cause: 'timeout', reason: `cut inside of \ud83d ${at}`, podLog } as const)
    const ends = mine.map(({ id }, at) => tasks.finish({ taskId: id, owner, fence: at === 4 ? '7' : '1' }, endOf(at)))
    const ended = await Promise.all(ends)
    expect(ended.map((one) => one?.id)).toEqual(mine.map(({ id }, at) => (at === 4 ? undefined : id)))
    const stored = await Promise.all(mine.map(({ id }) => tasks.find(id)))
    expect(stored.map((task) => task?.status)).toEqual(
      mine.map((_, at) => (at === 4 ? 'in progress' : endOf(at).status)),
    )
    expect(stored[7]).toMatchObject({ cause: 'timeout', statusReason: 'cut inside of \ufffd 7' })
    expect(await eventsOf(mine[7]?.id ?? '')).toContainEqual({
      kind: 'verdict',
      detail: 'failed: cut inside of \ufffd 7',
    })
    expect(await tasks.podLog(mine[7]?.id ?? '')).toEqual(podLog)
    expect(await tasks.podLog(mine[8]?.id ?? '')).toBeUndefined()
  })

  test('a diagnosis whose texts hold NUL and half characters is stored and read, in progress and at the end', async () => {
    const tasks = createTaskStore(database)
    const owner = await aReplica()
    const task = aNewTask()
    await tasks.accept({ task, closed: neverClosed, owner })
    const claim = { taskId: task.id, owner, fence: '1' }
    const culprit = (message: string) => ({ kind: 'Pod', namespace: 'shop', name: 'shop-1', message })
    const hostile = bareDiagnosis('image_pull', { culprit: culprit('\0back-off \ud83d') })
    const stored = { ...hostile, culprit: culprit('back-off \ufffd') }
    expect(await tasks.saveProgress(claim, { progress: 'waits', diagnosis: hostile }, [])).toBe(true)
    expect((await tasks.find(task.id))?.diagnosis).toEqual(stored)
    await tasks.finish(claim, { status: 'failed', cause: 'image_pull', reason: 'back-off', diagnosis: hostile })
    expect((await tasks.find(task.id))?.diagnosis).toEqual(stored)
  })

  test.for([
    { how: 'cancelled on request', cause: 'cancelled' },
    { how: 'superseded', cause: 'superseded' },
  ])('a task that is $how keeps what was found out about it', async ({ cause }) => {
    const tasks = createTaskStore(database)
    const owner = await aReplica()
    const task = aNewTask()
    await tasks.accept({ task, closed: neverClosed, owner })
    const culprit = { kind: 'Pod', namespace: 'shop', name: 'shop-1', message: 'back-off' }
    const findings = {
      conditions: [{ name: 'images', state: 'not_met', since: 1 }],
      evidence: [{ kind: 'note', text: 'no old Pods' }],
      links: [{ kind: 'application', url: 'https://argo.example/applications/shop' }],
      impact: { old_pods_ready: 1, old_pods: 2 },
    } satisfies Partial<Diagnosis>
    const headline = 'Image registry.example/shop:2 cannot be pulled'
    const diagnosis = bareDiagnosis('image_pull', { ...findings, headline, culprit, pods: [] })
    await tasks.saveProgress({ taskId: task.id, owner, fence: '1' }, { progress: 'waits', diagnosis }, [])
    if (cause === 'cancelled') await tasks.cancel(task.id, { kind: 'session', id: null, name: 'ada' })
    else await tasks.accept({ task: aNewTask({ app: task.app }), closed: neverClosed })
    const stored = (await tasks.find(task.id))?.diagnosis
    expect(stored).toMatchObject({ ...findings, cause })
    for (const name of ['headline', 'culprit', 'pods']) expect(stored).not.toHaveProperty(name)
  })

  test('a task that its owner has lost from memory is claimed by it again', async () => {
    const tasks = createTaskStore(database)
    const owner = await aReplica()
    const [kept, lost] = [aNewTask(), aNewTask()]
    await tasks.accept({ task: kept, closed: neverClosed })
    await tasks.accept({ task: lost, closed: neverClosed })
    await tasks.claim(owner, 1000)
    expect(await tasks.claim(owner, 1000)).toEqual([])
    expect(await tasks.ownedBy(owner)).toEqual(expect.arrayContaining([kept.id, lost.id]))
    const again = await tasks.claim(owner, 1000, [lost.id])
    expect(again.map(({ task }) => task.id)).toContain(lost.id)
    expect(again.map(({ task }) => task.id)).not.toContain(kept.id)
  })

  test('an end is written once, with its event', async () => {
    const tasks = createTaskStore(database)
    const task = aNewTask()
    await tasks.accept({ task, closed: neverClosed })
    const claim = (await tasks.claim(await aReplica(), 1000)).find((one) => one.task.id === task.id)?.claim
    if (!claim) throw new Error('the task was not claimed')
    const { id } = task
    const end = { status: 'failed', cause: 'timeout', reason: 'too late\nmore' } as const
    expect(await tasks.finish(claim, end)).toMatchObject({ id, status: 'failed', confirmedApp: undefined })
    expect(await tasks.finish(claim, { status: 'deployed' })).toBeUndefined()
    expect(await tasks.find(task.id)).toMatchObject({
      status: 'failed',
      cause: 'timeout',
      statusReason: 'too late\nmore',
    })
    expect((await eventsOf(task.id)).filter(({ kind }) => kind === 'verdict')).toEqual([
      { kind: 'verdict', detail: 'failed: too late' },
    ])
    expect(await tasks.ended([task.id])).toEqual([task.id])
  })
})

describe('the list', () => {
  test('filters by every field, newest first, and pages', async () => {
    const tasks = createTaskStore(database)
    const project = `list-${crypto.randomUUID()}`
    const { app } = aNewTask()
    const submitted = ['a', 'b', 'c'].map((author) =>
      aNewTask({ app, project, author, images: [{ image: `registry.example/part-${author}`, tag: 'v1' }] }),
    )
    for (const task of submitted) await tasks.accept({ task, closed: neverClosed })
    const ids = async (filter: Parameters<typeof tasks.list>[0]) =>
      (await tasks.list({ project, ...filter })).tasks.map(({ author }) => author).join('')
    expect(await ids({})).toBe('cba')
    expect(await ids({ limit: 1, offset: 1 })).toBe('b')
    expect(await ids({ author: 'a' })).toBe('a')
    expect(await ids({ statuses: ['deployed'] })).toBe('')
    expect(await ids({ search: 'EXAMPLE/PART-B' })).toBe('b')
    expect(await ids({ search: '%' })).toBe('')
    const created = Number((await tasks.find(submitted[1]?.id ?? ''))?.created) / 1000
    expect(await ids({ from_timestamp: created })).toBe('c')
    expect(await ids({ to_timestamp: created })).toBe('ba')
    expect(await tasks.list({ project })).toMatchObject({ total: { count: 3, isCapped: false } })
  })

  test('a total above 10,000 is capped, and a page has 1,000 tasks at most', async () => {
    const tasks = createTaskStore(database)
    const project = `many-${crypto.randomUUID()}`
    await queryOnce(
      testDatabase.url,
      `INSERT INTO watcher.tasks (id, deadline, app, author, project, images, timeout_seconds, refresh, may_write, status)
       SELECT gen_random_uuid(), now(), 'many', 'ada', '${project}', '[]', 1, true, true, 'deployed'
       FROM generate_series(1, 10001)`,
    )
    expect(await tasks.list({ project, limit: 1 })).toMatchObject({ total: { count: 10_000, isCapped: true } })
    for (const limit of [undefined, '0', '-1', '1000', '1001'])
      expect((await tasks.list({ project, ...TaskFilter.parse({ limit }) })).tasks).toHaveLength(1_000)
  })
})
