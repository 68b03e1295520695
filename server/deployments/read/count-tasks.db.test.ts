import { expect, test } from 'vitest'
import { openFileDatabase } from '../../../test/support/database.ts'
import { storeTasks } from '../../../test/support/store-tasks.ts'
import { createTaskStore } from '../../../test/support/task-store.ts'

const { database } = await openFileDatabase()
const tasks = createTaskStore(database)
const none = { 'in progress': 0, deployed: 0, failed: 0, 'app not found': 0, aborted: 0, cancelled: 0 }
const now = Math.floor(Date.now() / 1000)

test('the counts are those of the tasks that the filters match, by status', async () => {
  const project = crypto.randomUUID()
  await storeTasks(database, [
    { created: now - 100, project, app: 'shop' },
    { created: now - 50, project, app: 'shop' },
    { created: now - 60, project, app: 'team/shop', status: 'failed', cause: 'crash_loop', seconds: 20 },
    { created: now - 10, project, app: 'team/bank', status: 'in progress' },
    { created: now - 10, app: project },
  ])
  const counts = async (...filter: Parameters<typeof tasks.count>) => (await tasks.count(...filter)).counts
  expect(await tasks.count({ project })).toEqual({
    counts: { ...none, deployed: 2, failed: 1, 'in progress': 1 },
    capped: [],
  })
  expect(await counts({ project }, ['team/*'])).toEqual({ ...none, failed: 1, 'in progress': 1 })
  expect(await counts({ project, app: 'shop' })).toEqual({ ...none, deployed: 2 })
  expect(await counts({ project, from_timestamp: now - 60 })).toEqual({ ...none, deployed: 1, 'in progress': 1 })
  expect(await counts({ project, search: 'TEAM/' })).toEqual({ ...none, failed: 1, 'in progress': 1 })
  expect(await counts({ project, search: 'a\nb' })).toEqual(none)
  expect(await counts({ project, cause: 'crash_loop' })).toEqual({ ...none, failed: 1 })
  expect(await counts({ project, ended_from: now - 70, ended_to: now - 40 })).toEqual({ ...none, deployed: 1 })
  expect(await counts({ project, ended_from: now - 40, ended_to: now - 20 })).toEqual({ ...none, failed: 1 })
})

test('a status is counted up to 10,000', async () => {
  const project = crypto.randomUUID()
  await storeTasks(
    database,
    Array.from({ length: 10_001 }, () => ({ created: now, project })),
  )
  await storeTasks(database, [{ created: now, project, status: 'aborted' }])
  for (const search of [undefined, 'example/SHOP'])
    expect(await tasks.count({ project, search })).toEqual({
      counts: { ...none, deployed: 10_000, aborted: 1 },
      capped: ['deployed'],
    })
})
