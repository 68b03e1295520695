import { createDescribeTask } from '../../server/deployments/read/describe-task.ts'
import { createTaskReader } from '../../server/deployments/read/task-reader.ts'
import { createPost } from '../../server/notify/http/post.ts'
import { createNotificationStore } from '../../server/notify/outbox/notification-store.ts'
import { startSender, usualPausesMs } from '../../server/notify/sender.ts'
import type { Notifications } from '../../server/notify/targets/target.ts'
import { openDatabase } from '../../server/storage/database.ts'

/** What a replica does with the outbox, in a process of its own, with pauses that are a hundredth of the usual ones. */
const { DATABASE_URL: connectionString, TARGETS = '{}' } = process.env
const database = openDatabase(
  {
    connection: { ...(connectionString === undefined ? {} : { connectionString }) },
    schema: 'watcher',
    maxConnections: 8,
    connectTimeoutMs: 10_000,
  },
  () => undefined,
)
const targets: Notifications['targets'] = new Map(Object.entries(JSON.parse(TARGETS)))
const events = ['started', 'succeeded', 'recovered', 'failed'] as const
const notifications: Notifications = {
  targets,
  routes: [{ events: [...events], targets: [...targets.keys()], anonymous: false }],
}
const tasks = createTaskReader(database, database)
const describe = createDescribeTask({
  tasks,
  commitUrl: () => undefined,
  compareUrl: () => undefined,
  listedApps: () => [],
})
startSender(
  {
    store: createNotificationStore(database),
    notifications: () => notifications,
    environment: process.env,
    async readTask(id) {
      const task = await tasks.find(id)
      return task && describe(task, { canSeeTasksOf: () => true, canSeeMoreOf: async () => false })
    },
    readTrace: async () => ({ traceparent: undefined, events: [] }),
    pageOf: () => '',
    post: createPost().post,
    wallMs: Date.now,
    random: Math.random,
    onError: (message, error) => console.error(message, error),
    onResult: () => undefined,
  },
  usualPausesMs.map((ms) => ms / 100),
)
