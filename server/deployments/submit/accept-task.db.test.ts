import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { createTestDatabase, openFileDatabase } from '../../../test/support/database.ts'
import { aNewTask } from '../../../test/support/new-task.ts'
import { createTaskStore } from '../../../test/support/task-store.ts'
import { DeployLockUnknownError } from '../../locks/deploy-lock-errors.ts'
import { type LockdownCalendar, neverClosed } from '../../locks/evaluate-deploy-lock.ts'
import { openDatabase } from '../../storage/database.ts'
import type { NewTask } from '../task.ts'
import { dropExpiredKeys, keyUseOf } from './idempotency.ts'

const { testDatabase, database } = await openFileDatabase({ maxConnections: 12 })
const tasks = createTaskStore(database)

const run = (statement: ReturnType<typeof sql>) => statement.execute(database.query)
const anImage = (tag: string, image = 'registry.example/shop') => ({ image, tag })
const aUse = (key: string = crypto.randomUUID(), tag = 'v1') =>
  keyUseOf(
    key,
    { app: 'shop', author: 'ada', project: 'demo', images: [anImage(tag)] },
    { kind: 'deploy_token', scope: 'all' },
  )
const knownId = async (task: NewTask, use: ReturnType<typeof aUse>) => {
  const acceptance = await tasks.accept({ task, closed: neverClosed, use })
  return acceptance.kind === 'known' ? acceptance.known.taskId : task.id
}

describe('an accepted task', () => {
  test('is the newest of its application, however many are accepted in one millisecond', async () => {
    const { app } = aNewTask()
    const accepted: string[] = []
    for (let count = 0; count < 30; count += 1) {
      const task = aNewTask({ app, images: [anImage('v1', `registry.example/part-${count}`)] })
      await tasks.accept({ task, closed: neverClosed })
      accepted.unshift(task.id)
    }
    expect((await tasks.list({ app })).tasks.map(({ id }) => id)).toEqual(accepted)
  })

  test('supersedes one of the same image however it is spelled, and of no other', async () => {
    const { app } = aNewTask()
    const spelled = ['docker.io/library/nginx', 'other/nginx', 'index.docker.io/nginx', 'nginx']
    const accepted = spelled.map((image, at) => aNewTask({ app, images: [anImage(`v${at}`, image)] }))
    for (const task of accepted) await tasks.accept({ task, closed: neverClosed })
    const statuses = await Promise.all(accepted.map(async ({ id }) => (await tasks.find(id))?.status))
    expect(statuses).toEqual(['cancelled', 'in progress', 'cancelled', 'in progress'])
  })

  test('supersedes the one it waited for, whatever the isolation level of the database', async () => {
    await using own = await createTestDatabase()
    await using strict = openDatabase(own.settings, () => undefined)
    await sql`DO $$ BEGIN
      EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = ''repeatable read''', current_database());
    END $$`.execute(strict.query)
    await using next = openDatabase(own.settings, () => undefined)
    const store = createTaskStore(next)
    const { app } = aNewTask()
    await Promise.all(Array.from({ length: 4 }, () => store.accept({ task: aNewTask({ app }), closed: neverClosed })))
    const { tasks: listed } = await store.list({ app })
    expect(listed.map(({ status }) => status)).toEqual(['in progress', 'cancelled', 'cancelled', 'cancelled'])
  })

  test.for(['40001', '40P01'])('is tried again after the conflict %s', async (code) => {
    const task = aNewTask()
    await run(sql`CREATE SEQUENCE watcher.conflicts`)
    await run(sql`CREATE FUNCTION watcher.conflict() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('watcher.conflicts') <= 3 THEN RAISE EXCEPTION USING ERRCODE = ${sql.lit(code)}; END IF; RETURN NEW; END $$`)
    await run(
      sql`CREATE TRIGGER conflict BEFORE INSERT ON watcher.tasks FOR EACH ROW EXECUTE FUNCTION watcher.conflict()`,
    )
    try {
      await tasks.accept({ task, closed: neverClosed })
    } finally {
      await run(sql`DROP FUNCTION watcher.conflict CASCADE`)
      await run(sql`DROP SEQUENCE watcher.conflicts`)
    }
    expect(await tasks.find(task.id)).toMatchObject({ status: 'in progress' })
  })
})

describe('tasks that come together', () => {
  test('and wait for one application leave connections to everything else', async () => {
    const { app } = aNewTask()
    await using other = openDatabase(testDatabase.settings, () => undefined)
    const task = aNewTask()
    await tasks.accept({ task, closed: neverClosed })
    const submissions = await other.query.transaction().execute(async (transaction) => {
      await sql`SELECT pg_advisory_xact_lock(hashtextextended(${app}, 0))`.execute(transaction)
      const waiting = Array.from({ length: 20 }, () => tasks.accept({ task: aNewTask({ app }), closed: neverClosed }))
      expect(await tasks.find(task.id)).toMatchObject({ id: task.id })
      return waiting
    })
    await Promise.all(submissions)
  })

  test('for one application are accepted one after another: one survives', async () => {
    const { app } = aNewTask()
    const together = Array.from({ length: 5 }, () => aNewTask({ app }))
    await Promise.all(together.map((task) => tasks.accept({ task, closed: neverClosed })))
    const { tasks: listed } = await tasks.list({ app })
    expect(listed.map(({ status }) => status)).toEqual(['in progress', ...together.slice(1).map(() => 'cancelled')])
  })

  test('do not wait for one of them that has to wait', async () => {
    const waiting = aNewTask()
    const others = Array.from({ length: 3 }, () => aNewTask())
    const [late] = await database.query.transaction().execute(async (transaction) => {
      await sql`SELECT pg_advisory_xact_lock(hashtextextended(${waiting.app}, 0))`.execute(transaction)
      const all = [waiting, ...others].map((task) => tasks.accept({ task, closed: neverClosed }))
      await Promise.all(all.slice(1, 1 + others.length))
      await tasks.accept({ task: aNewTask(), closed: neverClosed })
      expect(await tasks.find(waiting.id)).toBeUndefined()
      return all.map((accepted) => ({ accepted }))
    })
    expect(await late?.accepted).toMatchObject({ kind: 'accepted' })
  })

  test('belong to the replica that accepts them from the beginning', async () => {
    const task = aNewTask()
    const owner = crypto.randomUUID()
    const accepted = await tasks.accept({ task, closed: neverClosed, owner })
    const stored = await database.query
      .selectFrom('tasks')
      .select(['created', 'owner', 'fence'])
      .where('id', '=', task.id)
      .executeTakeFirst()
    expect(stored).toMatchObject({ owner, fence: '1' })
    expect(accepted).toMatchObject({ created: stored?.created, claim: { taskId: task.id, owner, fence: '1' } })
  })
})

describe('the deploy lock', () => {
  const minuteMs = 60_000
  const now = new Date()
  const inMinutes = (minutes: number) => new Date(now.getTime() + minutes * minuteMs)
  const from = (start: number, end: number) => ({ from: inMinutes(start), to: inMinutes(end) })
  const known = from(-60, 60)
  const window = { known, intervals: [from(-5, 30)] }

  test.for<[string, { closed: LockdownCalendar; until?: number | null; overrideUntil?: number }, unknown]>([
    [
      'set until it is released',
      { closed: neverClosed, until: null },
      { lock: expect.objectContaining({ retryAfterSeconds: undefined }) },
    ],
    [
      'set for a time',
      { closed: neverClosed, until: 5 },
      { lock: expect.objectContaining({ retryAfterSeconds: expect.any(Number) }) },
    ],
    ['set for a time that has passed', { closed: neverClosed, until: -5 }, 'accepted'],
    [
      'not set, inside a lockdown window',
      { closed: window },
      { lock: expect.objectContaining({ retryAfterSeconds: expect.any(Number) }) },
    ],
    ['released inside a lockdown window', { closed: window, overrideUntil: 5 }, 'accepted'],
    ['not set, at a time of unknown windows', { closed: { known: from(5, 60), intervals: [] } }, 'unknown'],
  ])('%s', async ([, { closed, until, overrideUntil = null }, expected]) => {
    await using own = await createTestDatabase()
    await using separate = openDatabase(own.settings, () => undefined)
    const store = createTaskStore(separate)
    await separate.query
      .updateTable('deploy_lock')
      .set({
        is_set: until !== undefined,
        until: until ? inMinutes(until) : null,
        override_until: overrideUntil === null ? null : inMinutes(overrideUntil),
      })
      .execute()
    const task = aNewTask()
    const outcome = await store.accept({ task, closed }).catch((error: unknown) => error)
    if (expected === 'accepted') expect(outcome).toMatchObject({ kind: 'accepted' })
    else if (expected === 'unknown') expect(outcome).toBeInstanceOf(DeployLockUnknownError)
    else expect([outcome]).toEqual([expect.objectContaining({ name: 'DeploymentsLockedError', ...Object(expected) })])
    expect((await store.find(task.id)) !== undefined).toBe(expected === 'accepted')
  })

  test('is judged at the time at which its row was held, not at that of the request', async () => {
    const closesAt = new Date(Date.now() + 500)
    const closed = { known, intervals: [{ from: closesAt, to: inMinutes(30) }] }
    const accepted = await database.query.transaction().execute(async (transaction) => {
      await sql`SELECT FROM watcher.deploy_lock FOR UPDATE`.execute(transaction)
      const accepting = tasks.accept({ task: aNewTask(), closed })
      const outcome = accepting.then(
        () => 'accepted',
        (error: Error) => error.name,
      )
      const isClosed = async () => {
        const { rows } = await sql<{ at: Date }>`SELECT clock_timestamp() AS at`.execute(transaction)
        return rows[0] && rows[0].at > closesAt
      }
      await expect.poll(isClosed).toBe(true)
      return { outcome }
    })
    expect(await accepted.outcome).toBe('DeploymentsLockedError')
  })
})

describe('at a clock that stands still', () => {
  /** A database of its own, whose clock tells this time. */
  async function standingAt(now: Date) {
    await using opened = new AsyncDisposableStack()
    const own = opened.use(await createTestDatabase())
    const url = new URL(own.url)
    url.searchParams.set('options', '-c search_path=watcher,pg_catalog')
    const connection = { connectionString: url.href }
    const standing = opened.use(openDatabase({ ...own.settings, connection }, () => undefined))
    await sql`CREATE FUNCTION watcher.clock_timestamp() RETURNS timestamptz
      LANGUAGE sql AS ${sql.lit(`SELECT timestamptz '${now.toISOString()}'`)}`.execute(standing.query)
    const stack = opened.move()
    return { store: createTaskStore(standing), [Symbol.asyncDispose]: () => stack.disposeAsync() }
  }
  const now = new Date()
  const inMs = (ms: number) => new Date(now.getTime() + ms)

  test('no two tasks of one application have the same millisecond, and the newest is the one accepted last', async () => {
    await using standing = await standingAt(now)
    const { app } = aNewTask()
    const accepted: Date[] = []
    for (let count = 0; count < 3; count += 1) {
      const acceptance = await standing.store.accept({ task: aNewTask({ app }), closed: neverClosed })
      if (acceptance.kind === 'accepted') accepted.push(acceptance.created)
    }
    expect(accepted).toEqual([now, inMs(1), inMs(2)])
  })

  test('a task that would be created some milliseconds from now is refused if a lockdown begins before', async () => {
    await using standing = await standingAt(now)
    const { app } = aNewTask()
    const day = 86_400_000
    const closed = { known: { from: inMs(-day), to: inMs(day) }, intervals: [{ from: inMs(1), to: inMs(day) }] }
    await standing.store.accept({ task: aNewTask({ app }), closed })
    await expect(standing.store.accept({ task: aNewTask({ app }), closed })).rejects.toThrow('lockdown is active')
    expect((await standing.store.list({ app })).tasks).toMatchObject([{ status: 'in progress', created: now }])
  })
})

describe('an Idempotency-Key', () => {
  test('stands for one task, also for forty requests at once on two replicas', async () => {
    await using other = openDatabase(testDatabase.settings, () => undefined)
    // With all connections open the requests meet.
    const connect = ({ query }: typeof other) => sql`SELECT pg_sleep(0.1)`.execute(query)
    await Promise.all([database, other].flatMap((one) => Array.from({ length: 4 }, () => connect(one))))
    const stores = [tasks, createTaskStore(other)]
    const use = aUse()
    const { app } = aNewTask()
    const ids = await Promise.all(
      Array.from({ length: 40 }, async (_, at) => {
        const task = aNewTask({ app })
        const acceptance = await stores[at % 2]?.accept({ task, closed: neverClosed, use })
        return acceptance?.kind === 'known' ? acceptance.known.taskId : task.id
      }),
    )
    expect(new Set(ids).size).toBe(1)
    expect((await tasks.list({ app })).total?.count).toBe(1)
    expect(await tasks.findKey(use.keyDigest)).toMatchObject({ taskId: ids[0] })
  })

  test('of a task that a lock refused is free again', async () => {
    const use = aUse()
    const day = 86_400_000
    const now = Date.now()
    const always = { from: new Date(now - day), to: new Date(now + day) }
    await expect(
      tasks.accept({ task: aNewTask(), closed: { known: always, intervals: [always] }, use }),
    ).rejects.toThrow('lockdown is active')
    expect(await tasks.findKey(use.keyDigest)).toBeUndefined()
    const task = aNewTask()
    expect(await knownId(task, use)).toBe(task.id)
  })

  test('is forgotten after a day, and then deleted in batches by one replica at a time', async () => {
    const [old, young] = [aUse(), aUse()]
    const first = aNewTask()
    await tasks.accept({ task: first, closed: neverClosed, use: old })
    await tasks.accept({ task: aNewTask(), closed: neverClosed, use: young })
    const age = (key: string, hours: number) =>
      run(
        sql`UPDATE watcher.idempotency_keys SET created = now() - make_interval(hours => ${hours}) WHERE key_digest = decode(${key}, 'hex')`,
      )
    await age(old.keyDigest, 23)
    expect(await knownId(aNewTask(), old)).toBe(first.id)
    await age(old.keyDigest, 25)
    expect(await tasks.findKey(old.keyDigest)).toBeUndefined()
    const second = aNewTask()
    expect(await knownId(second, old)).toBe(second.id)
    expect(await tasks.findKey(old.keyDigest)).toMatchObject({ taskId: second.id })
    await run(sql`INSERT INTO watcher.idempotency_keys (key_digest, body_digest, task_id, created)
      SELECT sha256(n::text::bytea), 'expired', gen_random_uuid(), now() - interval '2 days' FROM generate_series(1, 2500) AS n`)
    await Promise.all([dropExpiredKeys(database.query), dropExpiredKeys(database.query)])
    const keys = await database.query.selectFrom('idempotency_keys').selectAll().execute()
    expect(keys.filter(({ body_digest }) => body_digest.toString() === 'expired')).toEqual([])
    const digests = keys.map(({ key_digest }) => key_digest.toString('hex'))
    expect(digests).toEqual(expect.arrayContaining([old.keyDigest, young.keyDigest]))
  })

  test('that is used again at the moment in which it would be deleted stays', async () => {
    const use = aUse()
    await tasks.accept({ task: aNewTask(), closed: neverClosed, use })
    await run(
      sql`UPDATE watcher.idempotency_keys SET created = now() - interval '25 hours' WHERE key_digest = decode(${use.keyDigest}, 'hex')`,
    )
    const isDeleting = async () => {
      const { rows } = await sql`SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ILIKE 'delete%'`.execute(
        database.query,
      )
      return rows.length === 1
    }
    const deleted = await database.query.transaction().execute(async (transaction) => {
      await sql`UPDATE watcher.idempotency_keys SET created = now() WHERE key_digest = decode(${use.keyDigest}, 'hex')`.execute(
        transaction,
      )
      const dropping = dropExpiredKeys(database.query)
      await expect.poll(isDeleting).toBe(true)
      return { dropping }
    })
    await deleted.dropping
    expect(await tasks.findKey(use.keyDigest)).toBeDefined()
  })
})

describe('a rollback', () => {
  test.for<[string, string[], string, number | undefined]>([
    ['the first deployment of anything', [], 'v1', undefined],
    ['something that was never deployed', ['v1', 'v2'], 'v3', undefined],
    ['what is deployed now', ['v1', 'v2'], 'v2', undefined],
    ['what was deployed before', ['v1', 'v2'], 'v1', 0],
    ['what was deployed long before', ['v1', 'v2', 'v3'], 'v1', 0],
    ['what was deployed twice: the later one', ['v1', 'v2', 'v1', 'v3'], 'v1', 2],
    ['what a rollback has just brought back', ['v1', 'v2', 'v1'], 'v1', undefined],
    ['what failed and never was deployed', ['v1 failed', 'v2'], 'v1', undefined],
  ])('%s', async ([, history, tag, target]) => {
    const { app } = aNewTask()
    const earlier: string[] = []
    for (const entry of history) {
      const [earlierTag = '', status = 'deployed'] = entry.split(' ')
      earlier.push(
        await ended(aNewTask({ app, images: [anImage(earlierTag), anImage('x', 'registry.example/side')] }), status),
      )
    }
    const task = aNewTask({ app, images: [anImage('x', 'registry.example/side'), anImage(tag)] })
    await tasks.accept({ task, closed: neverClosed })
    expect(await tasks.find(task.id)).toMatchObject(
      target === undefined
        ? { isRollback: false, rollbackTargetId: undefined }
        : { isRollback: true, rollbackTargetId: earlier[target] },
    )
  })

  test('is none where only another image of the application was deployed since', async () => {
    const { app } = aNewTask()
    await ended(aNewTask({ app }), 'deployed')
    await ended(aNewTask({ app, images: [anImage('v9', 'registry.example/other')] }), 'deployed')
    const task = aNewTask({ app })
    await tasks.accept({ task, closed: neverClosed })
    expect(await tasks.find(task.id)).toMatchObject({ isRollback: false })
  })

  test('from a failed task goes back to the deployed one that it names', async () => {
    const { app } = aNewTask()
    const target = await ended(aNewTask({ app }), 'deployed')
    await ended(aNewTask({ app, images: [anImage('v2')] }), 'failed')
    const task = aNewTask({ app, rollbackTargetId: target })
    await tasks.accept({ task, closed: neverClosed })
    expect(await tasks.find(task.id)).toMatchObject({ isRollback: true, rollbackTargetId: target })
  })

  test.for<[string, (app: string) => Promise<string>]>([
    ['unknown', async () => crypto.randomUUID()],
    ['of another application', () => ended(aNewTask(), 'deployed')],
    ['not deployed', (app) => ended(aNewTask({ app }), 'failed')],
    ['of other images', (app) => ended(aNewTask({ app, images: [anImage('v2')] }), 'deployed')],
  ])('to a task that is %s is rejected in the same words, and nothing is stored', async ([, targetOf]) => {
    const { app } = aNewTask()
    const task = aNewTask({ app, rollbackTargetId: await targetOf(app) })
    await expect(tasks.accept({ task, closed: neverClosed })).rejects.toThrow(
      'rollback_target_id: must be a deployed task of this application with the same images',
    )
    expect(await tasks.find(task.id)).toBeUndefined()
  })

  async function ended(task: NewTask, status: string): Promise<string> {
    await tasks.accept({ task, closed: neverClosed })
    await run(sql`UPDATE watcher.tasks SET status = ${status} WHERE id = ${task.id}`)
    return task.id
  }
})
