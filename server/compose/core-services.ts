import { repeat } from '../concurrency/repeat.ts'
import { createConfigReport } from '../config/config-source.ts'
import { createOwnedTasks } from '../deployments/own/owned-tasks.ts'
import { createTaskCompletions } from '../deployments/own/task-completions.ts'
import { createTaskReader } from '../deployments/read/task-reader.ts'
import { createFinishTask } from '../deployments/rollback/finish-task.ts'
import { createSubmissionStore } from '../deployments/submit/submission-store.ts'
import type { EndedTask } from '../deployments/task-row.ts'
import type { HttpServer } from '../http/server/http-server.ts'
import { createCalendar } from '../locks/deploy-lock.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { createWakeUps } from '../ownership/wake-ups.ts'
import { createRetentionStore } from '../retention/retention-store.ts'
import { startRetention } from '../retention/start-retention.ts'
import { openDatabase } from '../storage/database.ts'
import { createEventFeed } from '../timeline/event-feed.ts'
import { createEventStore } from '../timeline/event-store.ts'
import type { Settings } from './settings.ts'

const keySweepIntervalMs = 60_000
const configReportIntervalMs = 5_000

/** What watching and the API share: the stores, the wake-ups between replicas, events, metrics and the log. */
export type CoreServices = ReturnType<typeof openCoreServices>

export function openCoreServices(
  settings: Settings,
  opened: AsyncDisposableStack,
  { log, metrics }: { readonly log: HttpServer['log']; readonly metrics: Metrics },
) {
  const onError = (message: string, error: unknown) => log.warn({ err: error }, message)
  const connect = (maxConnections: number) =>
    opened.use(
      openDatabase({ ...settings.database, maxConnections }, (error) =>
        onError('idle database connection failed, reconnecting', error),
      ),
    )
  const { maxConnections } = settings.database
  const connectionsForReaders = Math.floor(maxConnections / 4)
  const database = connect(maxConnections - connectionsForReaders)
  const forReaders = connect(connectionsForReaders)
  const wakeUps = opened.use(createWakeUps(database, onError))
  const events = createEventStore(database, forReaders)
  const isTold = () => settings.config.current().notifications.targets.size > 0
  const submissions = createSubmissionStore(database, settings.maxUnfinishedPerApp, isTold)
  const ownedTasks = createOwnedTasks(database, isTold)
  const finishTask = createFinishTask({
    database,
    settings: settings.rollback,
    calendarAround: createCalendar(settings.lock.schedule),
    isTold,
  })
  const tasks = createTaskReader(database, forReaders)
  const feed = opened.use(createEventFeed({ events, readTasks: tasks.listed, wakeUps, onError }))
  const completions = opened.use(createTaskCompletions({ tasks: ownedTasks, wakeUps, onError }))
  opened.use(
    repeat(submissions.dropExpiredKeys, keySweepIntervalMs, (error) =>
      onError('removing expired idempotency keys failed, retrying', error),
    ),
  )
  if (settings.retention)
    opened.use(
      startRetention({
        store: createRetentionStore(database),
        settings: settings.retention,
        onDeleted: (deleted) => log.info(deleted, 'expired data deleted'),
        onError: (error) => onError('deleting expired data failed, retrying', error),
      }),
    )
  opened.use(
    repeat(createConfigReport(settings.config, log), configReportIntervalMs, (error) =>
      onError('looking at the configuration file failed, retrying', error),
    ),
  )
  const notifyAccepted = () => {
    metrics.taskAccepted()
    feed.written()
  }
  const reportFinished = (ended: readonly EndedTask[]) => {
    feed.written()
    for (const { confirmedApp, status, cause, seconds, rolledBackBy } of ended) {
      metrics.taskEnded({ app: confirmedApp, result: status, cause, seconds })
      if (rolledBackBy !== undefined) wakeUps.send('task', rolledBackBy)
    }
  }
  const tell = { notifyAccepted, reportFinished }
  return {
    settings,
    opened,
    log,
    onError,
    database,
    forReaders,
    wakeUps,
    events,
    feed,
    submissions,
    ownedTasks,
    finishTask,
    tasks,
    completions,
    metrics,
    isTold,
    ...tell,
  }
}
