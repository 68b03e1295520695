import type { FastifyRequest } from 'fastify'
import { canonicalName } from '../../contract/application-name.ts'
import { createAuditStore } from '../audit/audit-store.ts'
import { auditRoutes } from '../audit/routes.ts'
import { openAuth } from '../auth/open-auth.ts'
import { systemClock } from '../concurrency/clock.ts'
import { repeat } from '../concurrency/repeat.ts'
import { singleFlight } from '../concurrency/single-flight.ts'
import { badgeRoutes } from '../deployments/api/badge-routes.ts'
import { overviewRoutes } from '../deployments/api/overview-routes.ts'
import { taskRoutes } from '../deployments/api/routes.ts'
import { versionsRoutes } from '../deployments/api/versions-routes.ts'
import { readBadgeTask } from '../deployments/badge/read-badge-task.ts'
import { createCancelTask } from '../deployments/own/cancel-task.ts'
import { createAppSummaries } from '../deployments/read/app-summaries.ts'
import { createDescribeTask, type TaskAudience } from '../deployments/read/describe-task.ts'
import { createReadHistory } from '../deployments/read/history.ts'
import { createRequireTask } from '../deployments/read/require-task.ts'
import { createReceiveSubmission } from '../deployments/submit/receive-submission.ts'
import { createSubmissionLimit } from '../deployments/submit/submission-limit.ts'
import { createFindSubmitted, createNormalizeSubmission, createSubmitTask } from '../deployments/submit/submit-task.ts'
import { createUnfinishedQuota } from '../deployments/submit/unfinished-quota.ts'
import type { Task } from '../deployments/task.ts'
import type { EndedTask } from '../deployments/task-row.ts'
import { createListVersions } from '../deployments/versions/list-versions.ts'
import { createReadTaskImages } from '../deployments/versions/read-task-images.ts'
import { addExplorer } from '../explorer/explorer.ts'
import type { GitHubApp } from '../git-hosts/github-app.ts'
import { createCheckParts } from '../health/check-parts.ts'
import { createDescribeStatus } from '../health/describe-status.ts'
import { probeRoutes } from '../health/probe-routes.ts'
import { renderServiceConfig } from '../health/render-service-config.ts'
import { serviceRoutes } from '../health/service-routes.ts'
import { version } from '../health/version.ts'
import { originOf } from '../http/limits/client-address.ts'
import { createClientQuota } from '../http/limits/client-quota.ts'
import { createRateLimit } from '../http/limits/rate-limit.ts'
import type { Post } from '../http/outgoing/post.ts'
import type { HttpServer } from '../http/server/http-server.ts'
import { createDeployLock } from '../locks/deploy-lock.ts'
import { createDeployLockStore, type DeployLockStore } from '../locks/deploy-lock-store.ts'
import { lockRoutes } from '../locks/routes.ts'
import type { MetricSources } from '../metrics/metric-sources.ts'
import { createReportCommit } from '../notify/hosts/report-commit.ts'
import { createNotificationStore } from '../notify/outbox/notification-store.ts'
import { deliveryRoutes } from '../notify/routes.ts'
import { startSender } from '../notify/sender.ts'
import { mattermostName, webhookName } from '../notify/targets/variable-targets.ts'
import { listReplicas } from '../ownership/list-replicas.ts'
import { imagesOf, isImageRunning } from '../rollout/judge/conditions/image-reference.ts'
import { isWeakSecret } from '../secrets/secret-rules.ts'
import { readServerVersion } from '../storage/database.ts'
import { createLiveStates } from '../timeline/live-states.ts'
import { timelineRoutes } from '../timeline/routes.ts'
import { commitUrl, compareUrl } from '../write-back/plan/commit-url.ts'
import type { Watching } from './compose-watching.ts'
import type { CoreServices } from './core-services.ts'
import type { Settings } from './settings.ts'

const api = { prefix: '/api/v1' }
/** Of all clients of a replica together. */
const maxStreams = 5_000
const lockEdgeIntervalMs = 2_000
const maxWaits = 2_000
const maxTraceEvents = 1_000

/** What requests to others go through. */
type Outgoing = { readonly post: Post; readonly gitHubApp: GitHubApp | undefined }

/** Puts together what callers ask for, and adds its routes, but for the probes. `stopping`: the service takes its leave. */
export async function composeApi(
  services: CoreServices,
  watching: Watching,
  outgoing: Outgoing,
  http: HttpServer,
  stopping: AbortSignal,
) {
  const {
    settings,
    opened,
    database,
    forReaders,
    events,
    submissions,
    tasks,
    completions,
    feed,
    wakeUps,
    metrics,
    log,
    onError,
  } = services
  const checkParts = createCheckParts({
    checkDatabase: async () => {
      await readServerVersion(database)
      return settings.database.isEmbedded ? 'embedded database: for trials only' : undefined
    },
    controllerState: watching.controllerState,
  })
  const { submissionsPerMinute, streamsPerClient, waitsPerClient, trustedProxies } = settings.http
  const client = (request: FastifyRequest) => originOf(request, trustedProxies.length > 0)
  const auth = openAuth({
    settings: settings.auth,
    idp: settings.identityProvider,
    ciRules: () => settings.config.current().ciRules,
    publicUrl: settings.http.publicUrl,
    database,
    wallMs: Date.now,
    monotonicMs: systemClock.nowMs,
    originOf: client,
    log,
  })
  const { requireUser } = auth
  const mayRead = (request: FastifyRequest, task: Task | undefined): task is Task => {
    const isShown = auth.mayRead(request, task) && task !== undefined
    const { url = '' } = request.routeOptions
    if (isShown && auth.isUnauthenticatedRead(request)) metrics.unauthenticatedRead(url, confirmedAppOf(task))
    return isShown
  }
  const requireTask = createRequireTask({ tasks, mayRead })
  const lockStore = createDeployLockStore(database, services.isTold)
  const lock = createDeployLock({
    schedule: settings.lock.schedule,
    read: lockStore.read,
    periods: createDeployLockStore(forReaders).periods,
  })
  opened.use(
    repeat(
      () => lockStore.tellEdge(lock.calendarAround),
      lockEdgeIntervalMs,
      (error) => onError('looking for a change of the deploy lock failed, retrying', error),
    ),
  )

  const deliveries = createNotificationStore(database)
  const streams = createClientQuota(streamsPerClient, maxStreams)
  measure(services, watching, {
    isDatabaseUnavailable: async () => (await checkParts()).database.status === 'down',
    openEventStreams: streams.taken,
    lockSource: async () => (await lock.details()).source,
    oldestDueDeliverySeconds: deliveries.oldestDueSeconds,
  })

  const states = opened.use(
    createLiveStates({
      readLock: lock.details,
      readArgoCd() {
        const { status, detail } = watching.controllerState()
        return status === 'down'
          ? { available: false, ...(detail === undefined ? {} : { detail }) }
          : { available: true }
      },
      wakeUps,
      nowMs: Date.now,
      onError,
    }),
  )

  const nameOf = (app: string) => canonicalName(app, settings.submission.controlPlaneNamespace)
  const audienceOf = (request: FastifyRequest): TaskAudience => ({
    canSeeTasksOf: (app) => auth.canSeeTasksOf(request, app),
    canSeeMoreOf: (app) => auth.isAllowed(request, 'read_private', app),
  })
  const describeTask = createDescribeTask({
    tasks,
    commitUrl: (repository, commit) => commitUrl(repository, commit, settings.gitWebUrls),
    compareUrl: (repository, from, to) => compareUrl(repository, from, to, settings.gitWebUrls),
    listedApps: watching.shownApplications.names,
  })
  const sender = opened.use(
    startSender({
      store: deliveries,
      notifications: () => settings.config.current().notifications,
      environment: process.env,
      readTask: async (id, withLogs) => {
        const task = await tasks.find(id)
        return task && describeTask(task, { canSeeTasksOf: () => true, canSeeMoreOf: async () => withLogs })
      },
      readTrace: async (id) => ({
        traceparent: await tasks.traceparent(id),
        events: await events.ofTask(id, maxTraceEvents),
      }),
      pageOf(id) {
        const { publicUrl } = settings.http
        return publicUrl === undefined ? '' : id === undefined ? `${publicUrl}/` : `${publicUrl}/task/${id}`
      },
      post: outgoing.post,
      reportCommit: createReportCommit({
        app: outgoing.gitHubApp,
        gitLab: settings.gitLab,
        call: outgoing.post,
        readFacts: tasks.reportFacts,
        readTaken: deliveries.takenDeployments,
        wallMs: Date.now,
      }),
      onBlocked: (target, reason) => log.warn({ target, reason }, 'notification blocked, retrying hourly'),
      wallMs: Date.now,
      random: Math.random,
      onError,
      onResult: metrics.delivered,
    }),
  )
  opened.defer(wakeUps.on('event', sender.wake))
  const { submitTask, cancelTask } = taskActions(services, watching, lock.calendarAround)
  await addExplorer(http, version, apiAccessOf(settings))
  auth.addRoutes(http, api)
  http.register(
    taskRoutes({
      submission: createReceiveSubmission({
        limit: createSubmissionLimit({
          limit: submissionsPerMinute > 0 ? createRateLimit(submissionsPerMinute, systemClock.nowMs) : undefined,
          originOf: client,
          hasValidCredential: auth.hasValidCredential,
        }),
        normalize: createNormalizeSubmission(settings.submission),
        submitTask,
        findSubmitted: createFindSubmitted(submissions),
        lockStatus: singleFlight(lock.status),
        isReadingOpen: auth.isReadingOpen,
        requireAccess: auth.requireAccess,
        readerDigestOf: auth.readerDigestOf,
      }),
      cancelTask,
      waits: createClientQuota(waitsPerClient, maxWaits),
      originOf: client,
      canonicalName: nameOf,
      tasks,
      describeTask,
      audienceOf,
      requireTask,
      completions,
      requireAccess: auth.requireAccess,
      expiredSubmitterOf: auth.expiredSubmitterOf,
      isAllowed: auth.isAllowed,
      recheckReadAccess: auth.recheckReadAccess,
    }),
    api,
  )
  http.register(
    overviewRoutes({
      tasks,
      canonicalName: nameOf,
      readHistory: createReadHistory({ read: tasks.history, lockedTimes: lock.lockedTimes, now: () => new Date() }),
      summaries: createAppSummaries(tasks.summarize, systemClock.nowMs),
      canSeeTasksOf: auth.canSeeTasksOf,
    }),
    api,
  )
  http.register(
    versionsRoutes({
      listVersions: listVersionsOf(services, watching),
      canonicalName: nameOf,
      audienceOf,
      originOf: client,
    }),
    api,
  )
  if (settings.http.hasPublicBadges)
    http.register(badgeRoutes({ readTask: (app) => readBadgeTask(database.query, app), canonicalName: nameOf }), api)
  http.register(
    timelineRoutes({
      events,
      feed,
      states,
      readTasks: tasks.listed,
      canSeeTasksOf: auth.canSeeTasksOf,
      requireTask,
      recheckReadAccess: auth.recheckReadAccess,
      streams,
      originOf: client,
      stopping,
    }),
    api,
  )
  http.register(lockRoutes(lock, settings.identityProvider && { ...telling(lockStore, wakeUps), requireUser }), api)
  http.register(
    deliveryRoutes({
      store: deliveries,
      targets: () => settings.config.current().notifications.targets,
      requireServiceReader: auth.requireServiceReader,
      requireUser: settings.identityProvider && requireUser,
      wake: sender.wake,
    }),
    api,
  )
  if (settings.identityProvider)
    http.register(auditRoutes({ audit: createAuditStore(forReaders), requireUser, originOf: client }), api)
  http.register(
    serviceRoutes({
      checkParts,
      config: renderServiceConfig(shownSettings(settings)),
      settings: { groups: settings.described },
      describeStatus: describeStatusOf(services, watching, checkParts, deliveries.blockedBy),
      requireServiceReader: auth.requireServiceReader,
      mayReadService: (request) => auth.isAllowed(request, 'read_service'),
    }),
    api,
  )
  return { probes: probeRoutes({ checkParts, isDraining: () => stopping.aborted }) }
}

const describeStatusOf = (
  { database, settings }: CoreServices,
  { controllerState, controllerFacts, readControllerVersion }: Watching,
  checkParts: ReturnType<typeof createCheckParts>,
  listBlocked: () => Promise<string[]>,
) =>
  createDescribeStatus({
    version,
    checkParts,
    controllerState,
    controllerFacts,
    readControllerVersion,
    readDatabaseVersion: () => readServerVersion(database),
    listReplicas: () => listReplicas(database),
    listBlocked,
    configState: settings.config.state,
    nowMs: systemClock.nowMs,
    wallMs: Date.now,
  })

const listVersionsOf = (
  { settings, forReaders }: CoreServices,
  { shownApplications, staleSinceMs }: Watching,
): ReturnType<typeof createListVersions> =>
  createListVersions({
    shown: shownApplications,
    staleSinceMs,
    readTasks: createReadTaskImages(forReaders.query),
    match: {
      isOfImage: (image, reference) => imagesOf({ image }, [reference], settings.rollout).length > 0,
      isRunning: (image, reference) => isImageRunning(image, [reference], settings.rollout),
    },
    nowMs: systemClock.nowMs,
    wallMs: Date.now,
  })

/** Tells the streams of all replicas that a user has changed the lock. */
const telling = ({ set, release }: DeployLockStore, { send }: CoreServices['wakeUps']) => {
  const told = async <Outcome>(change: Promise<Outcome>): Promise<Outcome> => {
    const outcome = await change
    send('lock', 'changed')
    return outcome
  }
  return {
    set: (...change: Parameters<typeof set>) => told(set(...change)),
    release: (...change: Parameters<typeof release>) => told(release(...change)),
  }
}

/** Names are free text until the delivery controller has shown the application, and with it the link to it. */
const confirmedAppOf = ({ app, appUrl }: Task) => (appUrl === undefined ? undefined : app)

/** Submitting and cancelling, and who is told of it. */
function taskActions(
  { settings, submissions, ownedTasks, tasks, wakeUps, notifyAccepted, reportFinished, onError }: CoreServices,
  { replicaId, accepting, watchNew, noteAmbiguousCommit }: Watching,
  calendarAround: ReturnType<typeof createDeployLock>['calendarAround'],
) {
  const tellCancelled = (ended: readonly EndedTask[]) => {
    reportFinished(ended)
    for (const { id } of ended) wakeUps.send('cancelled', id)
  }
  const submitTask = createSubmitTask(
    {
      tasks: submissions,
      owner: replicaId,
      accepting,
      announce: ({ task, created, claim }, superseded) => {
        notifyAccepted()
        if (superseded.length > 0) tellCancelled(superseded)
        if (claim) watchNew({ ...task, created }, claim)
        else wakeUps.send('task', task.id)
      },
      onAmbiguousCommit: noteAmbiguousCommit,
      enforceUnfinishedLimit: createUnfinishedQuota({
        maxUnfinished: settings.maxUnfinished,
        read: submissions.countUnfinished,
        nowMs: systemClock.nowMs,
        onError: (error) => onError('counting unfinished tasks failed, retrying', error),
      }),
      calendarAround,
      now: () => new Date(),
    },
    settings.submission,
  )
  return {
    submitTask,
    cancelTask: createCancelTask({
      tasks: { cancel: ownedTasks.cancel, find: tasks.find },
      announce: (cancelled) => tellCancelled([cancelled]),
    }),
  }
}

function measure(
  { settings, metrics, ownedTasks, database, forReaders }: CoreServices,
  { replicaId, watchedCount, streamState, controllerState, openWriteBacks }: Watching,
  sources: Pick<
    MetricSources,
    'isDatabaseUnavailable' | 'openEventStreams' | 'lockSource' | 'oldestDueDeliverySeconds'
  >,
): void {
  metrics.readFrom({
    ...sources,
    inProgressTasks: watchedCount,
    ownedTasks: () => ownedTasks.countOwned(replicaId()),
    isControllerUnavailable: () => controllerState().status === 'down',
    openWriteBacks,
    waitingForConnection: () => ({ main: database.waiting(), readers: forReaders.waiting() }),
    version,
    streamState: () => streamState().state,
    wasLastConfigGood: () => (settings.config.state()?.issues ?? []).length === 0,
    isJwtSecretWeak: () =>
      isWeakSecret(settings.auth.jwtSecret?.()) || isWeakSecret(settings.auth.jwtSecretPrevious?.()),
  })
}

const apiAccessOf = ({ auth, identityProvider }: Settings) => ({
  isReadingClosed: identityProvider?.requireReadAuth ?? false,
  isCredentialRequired: auth.requireCredential,
  hasUsers: identityProvider !== undefined,
})

const shownSettings = ({
  deliveryController,
  submission,
  rollout,
  log,
  lock,
  identityProvider,
  variableTargets,
}: Settings) => ({
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
  hasWebhook: variableTargets.has(webhookName),
  hasMattermost: variableTargets.has(mattermostName),
  identityProvider,
})
