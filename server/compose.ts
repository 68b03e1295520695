import path from 'node:path'
import { composeApi } from './compose-api.ts'
import { composeWatching } from './compose-watching.ts'
import { repeat } from './concurrency/repeat.ts'
import { connectionsForSubmissions } from './deployments/accept-task.ts'
import { createTaskEndings } from './deployments/task-endings.ts'
import type { EndedTask } from './deployments/task-row.ts'
import { createTaskStore } from './deployments/task-store.ts'
import { openGitAccess } from './gitops/git/git-access.ts'
import { createHttpServer, type HttpServer } from './http/http-server.ts'
import { createMetrics, type Metrics } from './metrics/metrics.ts'
import { metricsRoutes } from './metrics/routes.ts'
import { createWakeUps } from './ownership/wake-ups.ts'
import { type Settings, SettingsError } from './settings.ts'
import { openDatabase } from './storage/database.ts'
import { migrate } from './storage/migrate.ts'
import { createEventFeed } from './timeline/event-feed.ts'
import { createEventStore } from './timeline/event-store.ts'

const webFolder = path.join(import.meta.dirname, '..', 'web', 'dist')
const keySweepIntervalMs = 60_000
/** What this replica accepts is indexed sooner; this is for what a replica that died has left. */
const indexIntervalMs = 10_000
/** Under load many tasks are indexed together. */
const indexRestMs = 500

/**
 * Puts the service together and starts it; whoever calls drains and closes it.
 * @throws {SettingsError} for what only a try shows
 */
export async function compose(settings: Settings, warnings: readonly string[]) {
  await using opened = new AsyncDisposableStack()
  const http = createHttpServer({ ...httpSettings(settings), webFolder })
  opened.defer(() => http.close())
  const { log } = http
  for (const warning of warnings) log.warn(warning)

  const access = opened.use(await openGitAccess(settings.writeBack, process.env.PATH ?? ''))
  const keyMistake = await access.checkSshKey()
  if (keyMistake !== undefined) throw new SettingsError([keyMistake])

  await migrate(settings.database, {
    onRetry: (error) => log.warn({ err: error }, 'migration timed out waiting for a lock, retrying'),
  })
  const foundation = openFoundation(settings, opened, log)
  const watching = composeWatching(foundation, access)
  const stopping = new AbortController()
  await composeApi(foundation, watching, http, stopping.signal)

  const { metrics, endings } = foundation
  const { host, port, metricsPort } = settings.http
  if (metricsPort === undefined) http.register(metricsRoutes(metrics))
  else await listenForMetrics(settings, metricsPort, metrics, opened)
  await http.listen({ host, port })

  const running = opened.move()
  return {
    log,
    noteStrayError(error: unknown) {
      metrics.strayError()
      log.error({ err: error }, 'uncaught error, please report it')
    },
    /** Shows itself as not ready, gives load balancers time to see it, then ends what waits and takes no new request. */
    async drain() {
      stopping.abort()
      await new Promise((resolve) => setTimeout(resolve, settings.http.drainDelayMs))
      await endings[Symbol.asyncDispose]()
      await http.close()
    },
    close: () => running.disposeAsync(),
  }
}

/** What both watching and the API stand on: the stores, the wake-ups between replicas, events, metrics and the log. */
export type Foundation = ReturnType<typeof openFoundation>

function openFoundation(settings: Settings, opened: AsyncDisposableStack, log: HttpServer['log']) {
  const onError = (message: string, error: unknown) => log.warn({ err: error }, message)
  const connect = (maxConnections: number) =>
    opened.use(
      openDatabase({ ...settings.database, maxConnections }, (error) =>
        onError('idle database connection failed, reconnecting', error),
      ),
    )
  const { maxConnections } = settings.database
  const connectionsForReaders = Math.floor(maxConnections / 4)
  const database = connect(maxConnections - connectionsForSubmissions - connectionsForReaders)
  const forReaders = connect(connectionsForReaders)
  const wakeUps = opened.use(createWakeUps(database, onError))
  const events = createEventStore(database)
  const feed = opened.use(createEventFeed({ events, wakeUps, onError }))
  const tasks = createTaskStore(database, {
    forSubmissions: connect(connectionsForSubmissions),
    forReaders,
    maxUnfinishedPerApp: settings.maxUnfinishedPerApp,
  })
  const endings = opened.use(createTaskEndings({ tasks, wakeUps, onError }))
  opened.use(
    repeat(tasks.dropExpiredKeys, keySweepIntervalMs, (error) =>
      onError('removing expired idempotency keys failed, retrying', error),
    ),
  )
  const indexing = opened.use(
    repeat(
      tasks.indexNew,
      indexIntervalMs,
      (error) => onError('indexing tasks for searches failed, retrying', error),
      indexRestMs,
    ),
  )
  const metrics = createMetrics()
  const tellAccepted = () => {
    metrics.taskAccepted()
    feed.written()
    indexing.nudge()
  }
  const tellEnds = (ended: readonly EndedTask[]) => {
    feed.written()
    for (const { confirmedApp, status, seconds } of ended)
      metrics.taskEnded({ app: confirmedApp, result: status, seconds })
  }
  const tell = { tellAccepted, tellEnds }
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
    tasks,
    endings,
    metrics,
    ...tell,
  }
}

async function listenForMetrics(
  settings: Settings,
  port: number,
  metrics: Metrics,
  opened: AsyncDisposableStack,
): Promise<void> {
  // Without the public address, which is that of the pages.
  const server = createHttpServer({ ...httpSettings(settings), publicUrl: undefined, webFolder: undefined })
  opened.defer(() => server.close())
  server.register(metricsRoutes(metrics))
  await server.listen({ host: settings.http.host, port })
}

const httpSettings = ({ log, http, secrets }: Settings) => ({
  publicUrl: http.publicUrl,
  maxConnections: http.maxConnections,
  trustedProxies: http.trustedProxies,
  log: { level: log.level, destination: process.stdout, secrets },
})
