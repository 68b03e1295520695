import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../../test/support/database.ts'
import { openDatabase } from '../storage/database.ts'
import { createEventStore } from './event-store.ts'

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
