import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../../test/support/database.ts'
import { openDatabase } from '../storage/database.ts'
import { createEventStore } from './event-store.ts'
import { insertEvents } from './insert-events.ts'

test('many events are numbered at once, also by a plan from when PostgreSQL had counted none that wait', async () => {
  await using testDatabase = await createTestDatabase()
  await using database = openDatabase({ ...testDatabase.settings, maxConnections: 1 }, () => undefined)
  const events = createEventStore(database)
  const addEvents = (count: number) =>
    sql`INSERT INTO watcher.task_events (task_id, kind, detail)
      SELECT gen_random_uuid(), 'note', 'x' FROM generate_series(1, ${count}::integer)`.execute(database.query)
  await addEvents(3_000)
  await events.number()
  await sql`ANALYZE watcher.task_events, watcher.event_counter`.execute(database.query)
  // A function keeps its plan after five calls.
  for (let call = 0; call < 6; call += 1) {
    await addEvents(1)
    await events.number()
  }
  await addEvents(5_000)
  // Each waiting event compared with all that wait took twelve seconds; the pool gives a query up after five.
  const { taskIds } = await events.number()
  expect(taskIds.size).toBe(5_000)
  expect(await events.newest()).toBe(8_006)
})

test('while two versions run, each reads what the other has stored of an event', async () => {
  await using testDatabase = await createTestDatabase()
  await using database = openDatabase({ ...testDatabase.settings, maxConnections: 1 }, () => undefined)
  const events = createEventStore(database)
  const task = crypto.randomUUID()
  await sql`INSERT INTO watcher.task_events (task_id, kind, detail) VALUES (${task}, 'health_changed', 'Healthy')`.execute(
    database.query,
  )
  const seen = { kind: 'health_changed', detail: 'Degraded', data: { health: 'Degraded' } } as const
  await sql`WITH task AS (SELECT ${task}::uuid AS id) ${insertEvents('watcher', 'task', [seen])}`.execute(
    database.query,
  )
  await sql`INSERT INTO watcher.task_events (task_id, kind, detail, data)
    VALUES (${task}, 'canary_weighed', 'canary at 20 %', '{"canary": {"share": 20}}')`.execute(database.query)
  await events.number()
  const [older, own, newer] = await events.after(0, 10)
  expect(older).not.toHaveProperty('data')
  expect(own).toMatchObject(seen)
  expect(newer).toMatchObject({ kind: 'canary_weighed', data: { canary: { share: 20 } } })
  // As the version before reads it.
  const { rows } = await sql`SELECT task_id, kind, detail FROM watcher.task_events ORDER BY position`.execute(
    database.query,
  )
  expect(rows[1]).toEqual({ task_id: task, kind: 'health_changed', detail: 'Degraded' })
})
