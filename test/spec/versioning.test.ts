import { Client } from 'pg'
import { expect, test } from 'vitest'
import { TaskList } from '../../contract/task.ts'
import { TaskEvents } from '../../contract/task-event.ts'
import { migrate } from '../../server/storage/migrate.ts'
import { createTestDatabase } from '../support/database.ts'
import { addNextMigration } from '../support/next-migration.ts'
import { aTask, startService } from '../support/service.ts'
import { settingsFor, startWorld, withToken } from '../support/world.ts'

const tables = [
  'audit',
  'deploy_lock',
  'deploy_tokens',
  'idempotency_keys',
  'pending_writes',
  'replicas',
  'repositories',
  'sessions',
  'task_events',
  'task_pod_logs',
  'tasks',
]
/** What the next version may well do: add to every table, and add a table, an index and a function. */
const additions = [
  ...tables.map(
    (table) => `ALTER TABLE ${table} ADD COLUMN added_later text, ADD COLUMN counted_later integer DEFAULT 0;`,
  ),
  'CREATE TABLE added_later (task_id uuid PRIMARY KEY REFERENCES tasks (id));',
  'CREATE INDEX tasks_added_later ON tasks (added_later);',
  'CREATE FUNCTION added_later() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$;',
].join('\n')

test('a version works on a database that the next one has migrated, and beside it (spec 9)', async () => {
  await using database = await createTestDatabase()
  await using next = await addNextMigration(additions)
  await using world = await startWorld({ applications: ['shop'], databaseUrl: database.url })
  await migrate(database.settings, next) // while the first one runs
  await using started = await startService({
    databaseUrl: database.url,
    settings: settingsFor(world.simulator),
  })
  const owner = new Client({ connectionString: database.url })
  await owner.connect()
  for (const [service, tag] of [
    [world.service, 'v2'],
    [started, 'v3'],
  ] as const) {
    const task = aTask({ images: [{ image: 'registry.example/shop', tag }] })
    const { status, body } = await service.submitTask(task, { ...withToken, 'Idempotency-Key': tag })
    expect(status).toBe(202)
    const { id } = body as { id: string }
    expect(await service.waitForEnd(id)).toMatchObject({ status: 'deployed' })
    expect(TaskList.parse((await service.request('/api/v1/tasks?search=shop')).body).tasks[0]?.id).toBe(id)
    const { events } = TaskEvents.parse((await service.request(`/api/v1/tasks/${id}/events`)).body)
    expect(events.at(-1)).toMatchObject({ kind: 'verdict' })
    expect(await service.request('/api/v1/deploy-lock')).toMatchObject({ status: 200, body: false })
  }
  expect((await owner.query('SELECT FROM watcher.audit')).rowCount).toBe(2)
  await owner.end()
})
