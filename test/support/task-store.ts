import { createOwnedTasks } from '../../server/deployments/owned-tasks.ts'
import { createSubmissionStore } from '../../server/deployments/submission-store.ts'
import { createTaskReader } from '../../server/deployments/task-reader.ts'
import type { Database } from '../../server/storage/database.ts'

/** All that the service knows to do with the tasks of a database. */
export const createTaskStore = (
  database: Database,
  { maxUnfinishedPerApp }: { maxUnfinishedPerApp?: number } = {},
) => ({
  ...createSubmissionStore(database, maxUnfinishedPerApp),
  ...createOwnedTasks(database),
  ...createTaskReader(database, database),
})
export type TaskStore = ReturnType<typeof createTaskStore>
