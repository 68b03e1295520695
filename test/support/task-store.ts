import { createOwnedTasks } from '../../server/deployments/owned-tasks.ts'
import { createSubmissionStore } from '../../server/deployments/submission-store.ts'
import { createTaskReader } from '../../server/deployments/task-reader.ts'
import type { Database } from '../../server/storage/database.ts'

type Options = { readonly forReaders?: Database; readonly maxUnfinishedPerApp?: number }

/** All that the service does with the tasks of a database. */
export const createTaskStore = (database: Database, { forReaders = database, maxUnfinishedPerApp }: Options = {}) => ({
  ...createSubmissionStore(database, maxUnfinishedPerApp),
  ...createOwnedTasks(database),
  ...createTaskReader(database, forReaders),
})
export type TaskStore = ReturnType<typeof createTaskStore>
