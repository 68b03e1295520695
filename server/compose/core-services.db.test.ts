import { describe, expect, test } from 'vitest'
import { openFileDatabase } from '../../test/support/database.ts'
import { aNewTask } from '../../test/support/new-task.ts'
import { createTaskStore } from '../../test/support/task-store.ts'
import { neverClosed } from '../locks/evaluate-deploy-lock.ts'
import { openDatabase } from '../storage/database.ts'
import { createEventStore } from '../timeline/event-store.ts'

const { testDatabase, database: forReaders } = await openFileDatabase()

describe('lists and events need no connection of those for verdicts', async () => {
  const task = aNewTask()
  await createTaskStore(forReaders).accept({ task, closed: neverClosed })
  const connection = { connectionString: 'postgres://127.0.0.1:1/unreachable' }
  const forVerdicts = openDatabase({ ...testDatabase.settings, connection }, () => undefined)
  const events = createEventStore(forVerdicts, forReaders)
  const tasks = createTaskStore(forVerdicts, { forReaders })

  test.for<[string, () => Promise<unknown>]>([
    ['pages of events', () => events.after(0, 1)],
    ['pages of events of tasks', () => events.pagesOfTasks([{ of: task.id, after: 0 }], 1)],
    ['the newest event', events.newest],
    ['the last deleted event', events.deletedTo],
    ['the event of a verdict', () => events.verdictOf(task.id)],
    ['tasks as lists show them', () => tasks.listed([task.id])],
  ])('%s', ([, read]) => expect(read()).resolves.not.toBeInstanceOf(Error))
})
