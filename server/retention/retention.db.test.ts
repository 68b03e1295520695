import { randomUUID } from 'node:crypto'
import { type KyselyPlugin, PostgresQueryCompiler, sql } from 'kysely'
import { Client } from 'pg'
import { afterAll, expect, test } from 'vitest'
import type { TaskStatus } from '../../contract/task-status.ts'
import { openFileDatabase, serviceUrlOf } from '../../test/support/database.ts'
import { openDatabase } from '../storage/database.ts'
import { createRetentionStore, firstPlace } from './retention-store.ts'
import { startRetention } from './start-retention.ts'

const { testDatabase, database: owner } = await openFileDatabase()
const connection = { connectionString: serviceUrlOf(testDatabase.url) }
const database = openDatabase({ ...testDatabase.settings, connection }, () => undefined)
afterAll(() => database[Symbol.asyncDispose]())
const store = createRetentionStore(database)
const settings = { taskDays: 30, auditDays: 90 }

type Ended = { readonly app: string; readonly daysAgo: number; readonly status?: TaskStatus }

/** A task that began and ended so long ago, with an event, a log and a write-back. */
async function aTask({ app, daysAgo, status = 'deployed' }: Ended): Promise<string> {
  const id = randomUUID()
  const at = sql`clock_timestamp() - make_interval(days => ${daysAgo})`
  await sql`
    INSERT INTO watcher.tasks (id, created, updated, deadline, app, author, project, images, timeout_seconds, refresh, may_write, status)
    VALUES (${id}, ${at}, ${at}, ${at}, ${app}, 'ada', 'demo', '[]', 1, true, true, ${status})`.execute(owner.query)
  await sql`INSERT INTO watcher.task_events (task_id, kind, detail) VALUES (${id}, 'verdict', '')`.execute(owner.query)
  await sql`INSERT INTO watcher.task_pod_logs VALUES (${id}, 'pod', '{line}')`.execute(owner.query)
  await sql`INSERT INTO watcher.pending_writes (task_id, repository, branch, address, plan, state)
    VALUES (${id}, 'r', 'main', 'r', '{}', 'landed')`.execute(owner.query)
  await sql`INSERT INTO watcher.confirmed_applications VALUES (${app}) ON CONFLICT DO NOTHING`.execute(owner.query)
  await sql`SELECT watcher.number_events(5000)`.execute(owner.query)
  return id
}

const valuesOf = async (table: string, column: string) => {
  const { rows } = await sql<{ value: string }>`
    SELECT ${sql.ref(column)}::text AS value FROM ${sql.id('watcher', table)} ORDER BY 1`.execute(owner.query)
  return rows.map(({ value }) => value)
}

/** One sweep, from its first batch to its last. */
async function sweep() {
  const counts = Promise.withResolvers<object>()
  await using _running = startRetention({ store, settings, onDeleted: counts.resolve, onError: counts.reject })
  return await counts.promise
}

test('deletes what is older than the settings say, and leaves no row behind', async () => {
  const kept = [
    await aTask({ app: 'shop', daysAgo: 29 }),
    await aTask({ app: 'shop', daysAgo: 40, status: 'in progress' }),
    await aTask({ app: 'last', daysAgo: 400 }),
  ]
  const expired = [
    await aTask({ app: 'shop', daysAgo: 31 }),
    await aTask({ app: 'last', daysAgo: 401 }),
    await aTask({ app: 'last', daysAgo: 31, status: 'failed' }),
    await aTask({ app: 'gone', daysAgo: 31, status: 'cancelled' }),
  ]
  const token = async (expires: string, revoked: string | null) => {
    const id = randomUUID()
    await sql`INSERT INTO watcher.deploy_tokens (id, digest, description, created_by, expires, revoked)
      VALUES (${id}, ${Buffer.from(id)}, '', 'ada', now() + ${expires}::interval, now() + ${revoked}::interval)`.execute(
      owner.query,
    )
    return id
  }
  const tokens = [await token('-29 days', null), await token('1 day', '-29 days')]
  await token('-31 days', null)
  await token('1 day', '-31 days')
  for (const days of [89, 91])
    await sql`INSERT INTO watcher.audit (action, actor_kind, at)
      VALUES ('lock_set', 'session', now() - make_interval(days => ${days}))`.execute(owner.query)
  const { rows } = await sql<{ last: string }>`SELECT max(position)::text AS last FROM watcher.task_events
    WHERE task_id = ANY (${expired}::uuid[])`.execute(owner.query)

  expect(await sweep()).toEqual({ tasks: 4, names: 1, tokens: 2, auditEntries: 1 })

  expect(await valuesOf('tasks', 'id')).toEqual(kept.toSorted())
  for (const table of ['task_events', 'task_pod_logs', 'pending_writes'])
    expect(await valuesOf(table, 'task_id'), table).toEqual(kept.toSorted())
  expect(await valuesOf('confirmed_applications', 'app')).toEqual(['last', 'shop'])
  expect(await valuesOf('deploy_tokens', 'id')).toEqual(tokens.toSorted())
  expect(await valuesOf('audit', 'action')).toHaveLength(1)
  expect(await valuesOf('event_counter', 'deleted_to')).toEqual([rows[0]?.last])
})

test('deletes nothing while another replica does', async () => {
  await aTask({ app: 'busy', daysAgo: 31, status: 'failed' })
  await owner.query.transaction().execute(async (other) => {
    await sql`SELECT pg_advisory_xact_lock(hashtextextended('retention', 1))`.execute(other)
    expect(await store.deleteTasks(30, firstPlace)).toBeUndefined()
  })
  expect(await store.deleteTasks(30, firstPlace)).toMatchObject({ deleted: 1 })
})

test('deletes where deleting takes half as long as a transaction may be idle', async () => {
  await aTask({ app: 'slow', daysAgo: 31, status: 'failed' })
  await sql`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(2.6); RETURN NULL; END';
    CREATE TRIGGER slow BEFORE DELETE ON watcher.tasks FOR EACH STATEMENT EXECUTE FUNCTION slow()`.execute(owner.query)
  expect(await store.deleteTasks(30, firstPlace)).toMatchObject({ deleted: 1 })
  await sql`DROP FUNCTION slow CASCADE`.execute(owner.query)
})

test('deletes batch after batch, past the tasks that stay', async () => {
  await sql`
    INSERT INTO watcher.tasks (id, created, updated, deadline, app, author, project, images, timeout_seconds, refresh, may_write, status)
    SELECT gen_random_uuid(), at, at, at, CASE WHEN n <= 1200 THEN 'app-' || n ELSE 'many' END, 'ada', 'demo', '[]', 1, true, true, 'deployed'
    FROM generate_series(1, 3500) AS n, LATERAL (SELECT now() - interval '90 days' + make_interval(secs => n / 7)) AS times (at)`.execute(
    owner.query,
  )
  expect(await sweep()).toMatchObject({ tasks: 2_299 })
})

test('searches the index for old tasks, and does not read the newer ones', async () => {
  const asked: { readonly sql: string; readonly parameters: readonly unknown[] }[] = []
  const recorder: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      asked.push(new PostgresQueryCompiler().compileQuery(node, queryId))
      return node
    },
    transformResult: async ({ result }) => result,
  }
  await createRetentionStore({ ...database, query: database.query.withPlugin(recorder) }).deleteTasks(30, firstPlace)
  const statement = asked.find(({ sql: text }) => text.includes('is_expired'))
  const client = new Client({ connectionString: testDatabase.url })
  await client.connect()
  await client.query('SET enable_seqscan = off')
  const { rows } = await client.query(`EXPLAIN (FORMAT JSON) ${statement?.sql}`, [...(statement?.parameters ?? [])])
  await client.end()
  expect(JSON.stringify(rows)).toMatch(/"Index Cond":"\(\(created < [^"]*ROW\(created, id\) > /)
})
