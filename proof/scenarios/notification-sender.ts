import { createDescribeTask } from '../../server/deployments/read/describe-task.ts'
import { createTaskReader } from '../../server/deployments/read/task-reader.ts'
import { createGitHubApp } from '../../server/git-hosts/github-app.ts'
import { createPost } from '../../server/http/outgoing/post.ts'
import { createReportCommit } from '../../server/notify/hosts/report-commit.ts'
import { createNotificationStore } from '../../server/notify/outbox/notification-store.ts'
import { startSender, usualPausesMs } from '../../server/notify/sender.ts'
import type { Notifications } from '../../server/notify/targets/target.ts'
import { openDatabase } from '../../server/storage/database.ts'

/** What a replica does with the outbox, in a process of its own, with pauses that are a hundredth of the usual ones. */
const {
  DATABASE_URL: connectionString,
  TARGETS = '{}',
  GITHUB_APP_ID: id,
  GITHUB_APP_PRIVATE_KEY: key = '',
} = process.env
const { GITHUB_API_URL: apiUrl = '', GITLAB_URL: gitLabUrl, GITLAB_TOKEN: gitLabToken = '' } = process.env
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
const events = ['started', 'succeeded', 'recovered', 'failed', 'aborted', 'cancelled'] as const
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
const store = createNotificationStore(database)
const { post } = createPost()
startSender(
  {
    store,
    notifications: () => notifications,
    environment: process.env,
    async readTask(id) {
      const task = await tasks.find(id)
      return task && describe(task, { canSeeTasksOf: () => true, canSeeMoreOf: async () => false })
    },
    readTrace: async () => ({ traceparent: undefined, events: [] }),
    pageOf: () => '',
    post,
    reportCommit: createReportCommit({
      app:
        id === undefined
          ? undefined
          : createGitHubApp({ settings: { id, privateKey: () => key, apiUrl }, call: post, wallMs: Date.now }),
      gitLab: gitLabUrl === undefined ? undefined : { url: gitLabUrl, token: () => gitLabToken },
      call: post,
      readFacts: tasks.reportFacts,
      readTaken: store.takenDeployments,
      wallMs: Date.now,
    }),
    onBlocked: (target, error) => console.error(target, error),
    wallMs: Date.now,
    random: Math.random,
    onError: (message, error) => console.error(message, error),
    onResult: () => undefined,
  },
  usualPausesMs.map((ms) => ms / 100),
)
