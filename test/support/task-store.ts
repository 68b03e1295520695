import { createOwnedTasks } from '../../server/deployments/own/owned-tasks.ts'
import { createTaskReader } from '../../server/deployments/read/task-reader.ts'
import { createFinishTask } from '../../server/deployments/rollback/finish-task.ts'
import { createSubmissionStore } from '../../server/deployments/submit/submission-store.ts'
import { neverClosed } from '../../server/locks/evaluate-deploy-lock.ts'
import type { Database } from '../../server/storage/database.ts'

type Options = { readonly forReaders?: Database; readonly maxUnfinishedPerApp?: number }

/** All that the service does with the tasks of a database. */
export const createTaskStore = (database: Database, { forReaders = database, maxUnfinishedPerApp }: Options = {}) => ({
  ...createSubmissionStore(database, maxUnfinishedPerApp),
  ...createOwnedTasks(database),
  ...createTaskReader(database, forReaders),
  finish: createFinishTask({
    database,
    settings: { onFailure: 'none', isAllowedWhileLocked: false },
    calendarAround: () => neverClosed,
    isTold: () => false,
  }),
})
export type TaskStore = ReturnType<typeof createTaskStore>
