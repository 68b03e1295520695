import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openFileDatabase } from '../../../test/support/database.ts'
import { saveProgress } from '../own/save-progress.ts'
import { heldBy } from './task-predicates.ts'

const { database } = await openFileDatabase()
const { query } = database
const owner = crypto.randomUUID()

async function storeTasks(status: string, count: number): Promise<void> {
  await sql`INSERT INTO watcher.tasks (id, deadline, app, author, project, images, timeout_seconds, refresh, may_write, status, owner)
    SELECT gen_random_uuid(), now(), 'shop-' || n, 'ada', 'shop', '[{"image": "shop", "tag": "v1"}]', 1, true, true, ${status}, ${owner}
    FROM generate_series(1, ${count}::integer) AS n`.execute(query)
}

test('a task is looked up by its id while PostgreSQL takes the unfinished tasks for few', async () => {
  await storeTasks('deployed', 2_000)
  // Its counts are from when nothing was unfinished, as after a quiet night.
  await sql`VACUUM ANALYZE watcher.tasks`.execute(query)
  await storeTasks('in progress', 1_000)
  const { id: taskId } = await query
    .selectFrom('tasks')
    .select('id')
    .where('status', '=', 'in progress')
    .executeTakeFirstOrThrow()
  const claim = { taskId, owner, fence: '0' }
  const plan = await query.selectFrom('tasks').select('id').where(heldBy(claim)).explain()
  expect(JSON.stringify(plan)).toContain('Index Scan using tasks_pkey')
  expect(await saveProgress(database, claim, { progress: 'waiting' }, [])).toBe(true)
})
