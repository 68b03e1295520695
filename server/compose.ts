import path from 'node:path'
import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { createAuditStore } from './audit/audit-store.ts'
import { auditRoutes } from './audit/routes.ts'
import { openAuth } from './auth/open-auth.ts'
import { createAppSummaries } from './deployments/app-summaries.ts'
import { createCancelTask } from './deployments/cancel-task.ts'
import { taskRoutes } from './deployments/routes.ts'
import { createCheckSubmission, createFindSubmitted, createSubmitTask } from './deployments/submit-task.ts'
import type { Claim, NewTask, Task } from './deployments/task.ts'
import { createTaskEndings } from './deployments/task-endings.ts'
import { TaskNotFoundError } from './deployments/task-errors.ts'
import { isTaskId } from './deployments/task-id.ts'
import type { ClaimedTask, EndedTask } from './deployments/task-row.ts'
import { createTaskStore } from './deployments/task-store.ts'
import { addExplorer } from './explorer/explorer.ts'
import { createCommitHistory } from './gitops/commit-history.ts'
import { openGitAccess } from './gitops/git-access.ts'
import { parseAnnotations } from './gitops/parse-annotations.ts'
import { planWriteBack } from './gitops/plan-write-back.ts'
import { createSlots } from './gitops/slots.ts'
import { createWriteBack } from './gitops/write-back.ts'
import { createCheckParts } from './health/check-parts.ts'
import { judgeController } from './health/judge-controller.ts'
import { probeRoutes } from './health/probe-routes.ts'
import { renderServiceConfig } from './health/render-service-config.ts'
import { serviceRoutes } from './health/service-routes.ts'
import { version } from './health/version.ts'
import { clientAddress } from './http/client-address.ts'
import { createHttpServer, type HttpServer } from './http/http-server.ts'
import { createRedactor } from './http/redactor.ts'
import { addRequestLimits } from './http/request-limit.ts'
import { createDeployLock } from './locks/deploy-lock.ts'
import { createDeployLockStore } from './locks/deploy-lock-store.ts'
import { lockRoutes } from './locks/routes.ts'
import { createMetrics } from './metrics/metrics.ts'
import { metricsRoutes } from './metrics/routes.ts'
import { buryDeadReplicas } from './ownership/bury-dead-replicas.ts'
import { ownTasks } from './ownership/own-tasks.ts'
import { repeat } from './ownership/repeat.ts'
import { createReplica } from './ownership/replica.ts'
import { createWakeUps, wakeUpChannel } from './ownership/wake-ups.ts'
import { createApplicationStream } from './rollout/application-stream.ts'
import { createArgoCdClient } from './rollout/argo-cd-client.ts'
import { linkBaseOf } from './rollout/delivery-controller-settings.ts'
import { createReadPodLog } from './rollout/read-pod-log.ts'
import { rolloutTimes } from './rollout/rollout-settings.ts'
import { createRolloutWatcher } from './rollout/rollout-watcher.ts'
import { systemClock } from './rollout/system-clock.ts'
import type { WatchedTask } from './rollout/watched-task.ts'
import { type Settings, SettingsError } from './settings.ts'
import { openDatabase } from './storage/database.ts'
import { migrate } from './storage/migrate.ts'
import { shareReads } from './storage/share-reads.ts'
import { createEventFeed } from './timeline/event-feed.ts'
import { createEventStore } from './timeline/event-store.ts'
import { timelineRoutes } from './timeline/routes.ts'
import { createStreamPlaces } from './timeline/stream-places.ts'

const api = { prefix: '/api/v1' }
const webFolder = path.join(import.meta.dirname, '..', 'web', 'dist')
const weakSecretBytes = 32
const keySweepIntervalMs = 60_000

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
  const onTrouble = (error: unknown) => log.warn({ err: error }, 'something failed and will be tried again')

  const access = opened.use(await openGitAccess(settings.writeBack, process.env.PATH ?? ''))
  const keyMistake = await access.checkSshKey()
  if (keyMistake !== undefined) throw new SettingsError([keyMistake])

  await migrate(settings.database)
  const database = opened.use(openDatabase(settings.database, onTrouble))
  const wakeUps = opened.use(createWakeUps(database, onTrouble))
  const events = createEventStore(database)
  const feed = opened.use(createEventFeed({ events, wakeUps, onTrouble }))
  const tasks = createTaskStore(database)
  const endings = opened.use(createTaskEndings({ tasks, wakeUps, onTrouble }))
  opened.use(repeat(tasks.dropExpiredKeys, keySweepIntervalMs, onTrouble))
  const metrics = createMetrics()
  const tellEnds = (ended: readonly EndedTask[]) => {
    feed.written()
    for (const { confirmedApp, status, seconds } of ended)
      metrics.taskEnded({ app: confirmedApp, result: status, seconds })
  }

  const replica = opened.use(createReplica(settings.database, wakeUpChannel(settings.database.schema)))
  const release = async () => {
    const owner = replica.id()
    if (owner) for (const id of await tasks.release(owner)) wakeUps.send('task', id)
  }

  const controller = opened.use(createArgoCdClient(settings.deliveryController))
  const nowMs = systemClock.nowMs
  const readPodLog =
    settings.podLogLines === 0
      ? undefined
      : createReadPodLog({
          readLog: controller.readPodLog,
          lines: settings.podLogLines,
          redact: createRedactor(settings.secrets),
        })
  const history = createCommitHistory({ access, nowMs })
  const writeBack = opened.use(
    createWriteBack({
      database,
      settings: settings.writeBack,
      access,
      history,
      replicaId: replica.id,
      // Events that a write-back wrote still need their place in the order.
      wakeUps: { ...wakeUps, send: (topic, id) => (topic === 'event' ? feed.written() : wakeUps.send(topic, id)) },
      log,
      nowMs,
      random: Math.random,
    }),
  )

  // Given up as soon as nobody watches them here: a push that still takes its time does not keep others from watching.
  opened.defer(() => release().catch(onTrouble))
  // Thousands of tasks may have something to write at once; requests and verdicts must not wait behind them.
  const background = createSlots(Math.max(1, Math.floor(settings.database.maxConnections / 2)))
  const watcher = opened.use(
    createRolloutWatcher({
      controller,
      records: {
        // A replica that is not registered writes nothing, even if nobody has taken its tasks yet.
        saveBaseline: (claim, baseline) =>
          background.use(async () => claim.owner === replica.id() && tasks.saveBaseline(claim, baseline)),
        saveProgress: async (claim, change, news) => {
          const isHeld = claim.owner === replica.id() && (await tasks.saveProgress(claim, change, news))
          if (isHeld && news.length > 0) feed.written()
          return isHeld
        },
        finish: async (claim, end) => {
          const ended = claim.owner === replica.id() ? await tasks.finish(claim, end) : undefined
          if (ended) tellEnds([ended])
          return ended !== undefined
        },
      },
      clock: systemClock,
      settings: settings.rollout,
      linkBase: linkBaseOf(settings.deliveryController),
      annotations: (application) => parseAnnotations(application.annotations, settings.rollout.annotationPrefixes),
      decideWriteBack: (task, application) => planWriteBack(task, application, settings.writeBack),
      queueWriteBack: (claim, plan) => background.use(() => writeBack.queue(claim, plan)),
      relation: history.relation,
      overrideAt: history.overrideAt,
      readPodLog,
      onTrouble: (error, task) => log.warn({ err: error, task }, 'watching a task failed and will be tried again'),
      onRefreshAnswered: (app, durationMs) => metrics.refreshEnded(app, durationMs / 1000),
    }),
  )
  opened.defer(writeBack.onOutcome((taskId, outcome) => watcher.outcome(taskId, outcome)))

  const stream = opened.use(
    createApplicationStream({
      clock: systemClock,
      random: Math.random,
      openStream: controller.openStream,
      listApplications: () => controller.listApplications(),
      readLargeFrame: controller.readLargeFrame,
      watchedApps: watcher.watchedApps,
      readDirectly: watcher.readDirectly,
      isUnreachable: () => watcher.unreachable() !== undefined,
      suspect: watcher.suspect,
      onSighted: watcher.sighted,
      onListed: watcher.listed,
      onTrouble,
      log: (message) => log.info(message),
    }),
  )

  const watch = async (claimed: readonly ClaimedTask[]) => {
    const claimedAtMs = nowMs()
    const known = claimed.map(
      async (one): Promise<WatchedTask> => ({
        ...watchedTaskOf(one, claimedAtMs),
        // Only an earlier owner can have left an outcome.
        writeBackOutcome:
          one.claim.fence === '1' ? undefined : await background.use(() => writeBack.outcomeOf(one.task.id)),
      }),
    )
    watcher.watch(await Promise.all(known))
  }
  const watchNew = (task: NewTask & { readonly created: Date }, claim: Claim) => {
    const remainingMs = task.timeoutSeconds * 1000
    const accepted = watchedTaskOf({ task, claim, remainingMs, baseline: undefined }, nowMs())
    watcher.watch([{ ...accepted, writeBackOutcome: undefined }])
  }
  replica.start({
    onRegistered: async (id, former) => {
      if (former) await watch(await tasks.takeBack(former, id))
    },
    onLost: () => watcher.drop(watcher.watchedIds()),
    onNotification: wakeUps.receive,
    onTrouble: (message, error) => log.warn({ err: error }, message),
  })
  const owned = opened.use(
    ownTasks({
      replica,
      tasks,
      watcher: { watch, drop: watcher.drop, watchedIds: watcher.watchedIds },
      buryDead: () => buryDeadReplicas(database, replica),
      wakeUps,
      onTrouble,
    }),
  )

  const stopping = new AbortController()
  const checkParts = createCheckParts({
    checkDatabase: async () => {
      await sql`SELECT 1`.execute(database.query)
      return settings.database.isEmbedded ? 'embedded database: for trials only' : undefined
    },
    controllerState: () => judgeController(stream.streamState(), watcher.unreachable(), nowMs()),
  })
  metrics.readFrom({
    inProgressTasks: watcher.watchedCount,
    isControllerUnavailable: () =>
      judgeController(stream.streamState(), watcher.unreachable(), nowMs()).status === 'down',
    isDatabaseUnavailable: async () => (await checkParts()).database.status === 'down',
    streamState: () => stream.streamState().state,
    isJwtSecretWeak: () =>
      Buffer.byteLength(settings.auth.jwtSecret?.() ?? 'x'.repeat(weakSecretBytes)) < weakSecretBytes,
  })

  const auth = openAuth({
    settings: settings.auth,
    idp: settings.identityProvider,
    publicUrl: settings.http.publicUrl,
    database,
    nowMs: Date.now,
    onTrouble: (error) => log.warn({ err: error }, 'a sign-in did not work'),
  })
  const lockStore = createDeployLockStore(database)
  const lock = createDeployLock({ schedule: settings.lock.schedule, read: lockStore.read })
  const tellCancelled = (ended: readonly EndedTask[]) => {
    tellEnds(ended)
    for (const { id } of ended) wakeUps.send('cancelled', id)
  }
  const submitTask = createSubmitTask(
    {
      tasks,
      owner: replica.id,
      announce: ({ task, created, claim }, superseded) => {
        metrics.taskAccepted()
        tellCancelled(superseded)
        if (claim) watchNew({ ...task, created }, claim)
        else wakeUps.send('task', task.id)
      },
      onUnanswered: owned.noteUnanswered,
      closedTimes: lock.closedTimes,
      now: () => new Date(),
    },
    settings.submission,
  )
  const cancelTask = createCancelTask({ tasks, announce: (cancelled) => tellCancelled([cancelled]) })
  await addExplorer(http, version)
  addRequestLimits(http)
  auth.addRoutes(http, api)
  http.register(
    taskRoutes({
      submissionsPerMinute: settings.http.submissionsPerMinute,
      checkSubmission: createCheckSubmission(settings.submission),
      submitTask,
      findSubmitted: createFindSubmitted(tasks),
      cancelTask,
      tasks,
      endings,
      summaries: createAppSummaries({ read: tasks.summarize, nowMs, onTrouble }),
      lockStatus: shareReads(lock.status),
      identifyCaller: auth.identifyDeployer,
      readerDigestOf: auth.readerDigestOf,
      mayRead: auth.mayRead,
      mayReadPodLog: auth.mayReadPodLog,
    }),
    api,
  )
  const requireTask = async (request: FastifyRequest, id: string) => {
    const task = isTaskId(id) ? await tasks.find(id) : undefined
    if (!task || !auth.mayRead(request, task)) throw new TaskNotFoundError(id)
  }
  http.register(
    timelineRoutes({
      events,
      feed,
      requireTask,
      places: createStreamPlaces(settings.http.streamsPerClient),
      clientOf: (request) => clientAddress(request, settings.http.trustedProxies.length > 0),
      stopping: stopping.signal,
    }),
    api,
  )
  const { requireUser } = auth
  http.register(lockRoutes(lock, settings.identityProvider && { ...lockStore, requireUser }), api)
  if (settings.identityProvider) http.register(auditRoutes({ audit: createAuditStore(database), requireUser }), api)
  http.register(serviceRoutes({ checkParts, config: renderServiceConfig(shownSettings(settings)) }), api)
  http.register(probeRoutes({ checkParts, isDraining: () => stopping.signal.aborted }))
  const { host, port, metricsPort } = settings.http
  if (metricsPort === undefined) http.register(metricsRoutes(metrics))
  else await listenForMetrics(settings, metricsPort, metrics, opened)
  await http.listen({ host, port })

  const running = opened.move()
  return {
    log,
    noteStrayError(error: unknown) {
      metrics.strayError()
      log.error({ err: error }, 'nobody caught this: please report it')
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

async function listenForMetrics(
  settings: Settings,
  port: number,
  metrics: ReturnType<typeof createMetrics>,
  opened: AsyncDisposableStack,
): Promise<void> {
  const server: HttpServer = createHttpServer({ ...httpSettings(settings), webFolder: undefined })
  opened.defer(() => server.close())
  server.register(metricsRoutes(metrics))
  await server.listen({ host: settings.http.host, port })
}

type OwnTask = Omit<ClaimedTask, 'task'> & { readonly task: Pick<Task, (keyof Task & keyof WatchedTask) | 'created'> }

const watchedTaskOf = ({ task, claim, remainingMs, baseline }: OwnTask, claimedAtMs: number) => ({
  id: task.id,
  app: task.app,
  author: task.author,
  project: task.project,
  images: task.images,
  mayWrite: task.mayWrite,
  refresh: task.refresh,
  claim,
  deadlineMs: claimedAtMs + (remainingMs > 0 ? remainingMs : rolloutTimes.overdueLookMs),
  isOverdue: remainingMs <= 0,
  baseline,
  createdSeconds: task.created.getTime() / 1000,
})

function httpSettings({ log, http, auth, identityProvider, deliveryController, database, writeBack }: Settings) {
  return {
    publicUrl: http.publicUrl,
    trustedProxies: http.trustedProxies,
    log: {
      level: log.level,
      destination: process.stdout,
      secrets: () =>
        [
          deliveryController.token(),
          auth.deployToken?.(),
          auth.jwtSecret?.(),
          auth.jwtSecretPrevious?.(),
          identityProvider?.clientSecret?.(),
          writeBack.sshKeyPass,
          ...[...writeBack.gitCredentials.values()].map(({ password }) => password),
          typeof database.connection.password === 'string' ? database.connection.password : undefined,
        ].filter((secret) => secret !== undefined),
    },
  }
}

const shownSettings = ({ deliveryController, submission, rollout, log, lock, identityProvider }: Settings) => ({
  argoUrl: deliveryController.url,
  argoUrlAlias: deliveryController.urlAlias,
  argoApiTimeoutSeconds: deliveryController.apiTimeoutMs / 1000,
  argoApiRetries: deliveryController.apiRetries,
  deploymentTimeoutSeconds: submission.defaultTimeoutSeconds,
  acceptSuspended: rollout.acceptSuspended,
  refreshByDefault: submission.refreshByDefault,
  registryProxy: rollout.registryProxy,
  skipTlsVerify: deliveryController.skipTlsVerify,
  logLevel: log.level,
  lockdownSchedule: lock.text,
  identityProvider,
})
