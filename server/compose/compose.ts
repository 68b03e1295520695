import path from 'node:path'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { createGitHubApp } from '../git-hosts/github-app.ts'
import { createPost } from '../http/outgoing/post.ts'
import { createHttpServer } from '../http/server/http-server.ts'
import { createMetrics, type Metrics } from '../metrics/metrics.ts'
import { metricsRoutes } from '../metrics/routes.ts'
import { checkRights } from '../storage/check-rights.ts'
import { migrate } from '../storage/migrate.ts'
import { checkPrograms } from '../write-back/git/access/check-programs.ts'
import { openGitAccess } from '../write-back/git/access/git-access.ts'
import { appTokens } from '../write-back/git/access/https-environment.ts'
import { composeApi } from './compose-api.ts'
import { composeWatching } from './compose-watching.ts'
import { openCoreServices } from './core-services.ts'
import { answerTo, rejectionReason } from './error-replies.ts'
import { type Settings, SettingsError } from './settings.ts'

const webFolder = path.join(import.meta.dirname, '..', '..', 'web', 'dist')

/**
 * Composes the service and starts it; the caller drains and closes it.
 * @throws {SettingsError} for what only a try shows
 */
export async function compose(given: Settings, warnings: readonly string[]) {
  await using opened = new AsyncDisposableStack()
  const { post } = opened.use(createPost())
  const gitHubApp = given.gitHubApp && createGitHubApp({ settings: given.gitHubApp, call: post, wallMs: Date.now })
  const settings: Settings = { ...given, secrets: () => [...given.secrets(), ...(gitHubApp?.secrets() ?? [])] }
  const metrics = createMetrics()
  const http = createHttpServer({ ...httpSettings(settings), webFolder, onError: countRejections(metrics) })
  http.addHook('onResponse', async ({ routeOptions: { url }, method }, { statusCode }) =>
    metrics.answered(url ?? 'none', method, statusCode),
  )
  opened.defer(() => http.close())
  const { log } = http
  for (const warning of warnings) log.warn(warning)

  await checkPrograms(process.env.PATH ?? '')
  const access = opened.use(
    await openGitAccess(settings.writeBack, process.env.PATH ?? '', gitHubApp && appTokens(gitHubApp)).catch(
      (error: unknown) => {
        throw unwritableCache(error, settings.writeBack.repoCachePath)
      },
    ),
  )
  const keyIssues = await access.checkKeys()
  if (keyIssues.length > 0) throw new SettingsError(keyIssues)

  await migrate(settings.database, {
    onRetry: (error) => log.warn({ err: error }, 'migration timed out waiting for a lock, retrying'),
  })
  await checkRights(settings.database, settings.retention !== undefined)
  const services = openCoreServices(settings, opened, { log, metrics })
  const watching = composeWatching(services, access)
  const stopping = new AbortController()
  const { probes } = await composeApi(services, watching, { post, gitHubApp }, http, stopping.signal)

  const { completions } = services
  const { host, port, metricsPort, maxConnections } = settings.http
  http.register(probes)
  if (metricsPort === undefined) http.register(metricsRoutes(metrics))
  // By default 511 wait to be accepted; a client whose connection finds no place tries again after 1, 3, 7 s.
  await http.listen({ host, port, backlog: maxConnections })
  // Last, since it says that the service is ready.
  if (metricsPort !== undefined)
    await listenForOperators(settings, metricsPort, [probes, metricsRoutes(metrics)], opened)

  const running = opened.move()
  return {
    log,
    noteUncaughtError(error: unknown) {
      metrics.uncaughtError()
      log.error({ err: error }, 'uncaught error, please report it')
    },
    /** Shows itself as not ready, gives load balancers time to see it, then ends what waits and takes no new request. */
    async drain() {
      stopping.abort()
      await new Promise((resolve) => setTimeout(resolve, settings.http.drainDelayMs))
      await completions[Symbol.asyncDispose]()
      await http.close()
    },
    close: () => running.disposeAsync(),
  }
}

/** Of the system, for a volume that is not mounted or belongs to another user. */
const unwritableCache = (error: unknown, folder: string): unknown =>
  error instanceof Error && 'syscall' in error
    ? new SettingsError([
        `REPO_CACHE_PATH: ${folder} is not writable (${error.message}): give user ${process.getuid?.()} write access, or set REPO_CACHE_PATH or DATA_DIR to another folder`,
      ])
    : error

const countRejections =
  ({ submissionRejected }: Metrics) =>
  (error: unknown, { method, routeOptions }: FastifyRequest, status: number): void => {
    const reason = rejectionReason(error, status)
    if (reason && method === 'POST' && routeOptions.url === '/api/v1/tasks') submissionRejected(reason)
  }

/** On a port of their own probes do not wait behind callers, who may open more connections than are accepted at once. */
async function listenForOperators(
  settings: Settings,
  port: number,
  routes: readonly FastifyPluginAsync[],
  opened: AsyncDisposableStack,
): Promise<void> {
  // Without the public address, which is that of the pages.
  const server = createHttpServer({ ...httpSettings(settings), publicUrl: undefined, webFolder: undefined })
  opened.defer(() => server.close())
  for (const one of routes) server.register(one)
  await server.listen({ host: settings.http.host, port })
}

const httpSettings = ({ log, http, secrets }: Settings) => ({
  answerTo,
  publicUrl: http.publicUrl,
  maxConnections: http.maxConnections,
  trustedProxies: http.trustedProxies,
  log: { level: log.level, destination: process.stdout, secrets },
})
