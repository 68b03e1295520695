import { createApplicationStream } from '../argo-cd/application-stream.ts'
import { type ArgoCdClient, createArgoCdClient } from '../argo-cd/argo-cd-client.ts'
import { countCalls } from '../argo-cd/count-calls.ts'
import { createShownApplications, type ShownApplications } from '../argo-cd/shown-applications.ts'
import { systemClock } from '../concurrency/clock.ts'
import { createSemaphore } from '../concurrency/semaphore.ts'
import { environmentFor } from '../config/parse-config.ts'
import { type Claim, hasEarlierOwner, type NewTask } from '../deployments/task.ts'
import type { ClaimedTask } from '../deployments/task-row.ts'
import { describeController } from '../health/describe-health.ts'
import { unknownTargets } from '../notify/targets/target.ts'
import { removeDeadReplicas } from '../ownership/remove-dead-replicas.ts'
import { createReplica } from '../ownership/replica.ts'
import { startClaiming } from '../ownership/start-claiming.ts'
import { wakeUpChannel } from '../ownership/wake-ups.ts'
import { watchedTaskOf } from '../rollout/judge/input/watched-task.ts'
import type { ObservedApplication } from '../rollout/observed/observed-application.ts'
import { createCallLimiter } from '../rollout/watch/call-limiter.ts'
import { createHeldRecords } from '../rollout/watch/held-records.ts'
import { createReadPodLog } from '../rollout/watch/read-pod-log.ts'
import { createRolloutWatcher } from '../rollout/watch/rollout-watcher.ts'
import { createRedactor } from '../secrets/redactor.ts'
import type { openGitAccess } from '../write-back/git/access/git-access.ts'
import { createCommitHistory } from '../write-back/git/history/commit-history.ts'
import { parseAnnotations } from '../write-back/plan/parse-annotations.ts'
import { planWriteBack } from '../write-back/plan/plan-write-back.ts'
import { createWriteBack } from '../write-back/queue/write-back.ts'
import type { CoreServices } from './core-services.ts'
import type { Settings } from './settings.ts'

/** Reading the applications of so many tasks one by one takes half a second. */
const manyClaimed = 20

type GitAccess = Awaited<ReturnType<typeof openGitAccess>>
export type Watching = ReturnType<typeof composeWatching>

const { nowMs } = systemClock

/** Puts together what owns tasks, watches them in the delivery controller, and writes tags back; starts it. */
export function composeWatching(services: CoreServices, access: GitAccess) {
  const { settings, opened, database, ownedTasks, wakeUps, metrics, log, onError } = services
  const replica = opened.use(createReplica(settings.database, wakeUpChannel(settings.database.schema)))
  const controller = opened.use(countCalls(createArgoCdClient(settings.deliveryController), metrics.argoCdCalled))
  const shown = createShownApplications(settings.submission.controlPlaneNamespace, nowMs)
  const history = createCommitHistory({
    access,
    nowMs,
    onError: (message, error, repository) => log.warn({ err: error, repository }, message),
  })
  const writeBack = opened.use(
    createWriteBack({
      database,
      settings: settings.writeBack,
      access,
      history,
      replicaId: replica.id,
      wakeUps: withEventNumbering(services),
      log,
      measures: metrics,
      nowMs,
      random: Math.random,
    }),
  )

  const release = async () => {
    const owner = replica.id()
    if (owner) for (const id of await ownedTasks.release(owner)) wakeUps.send('task', id)
  }
  // Released as soon as they are not watched here: a slow push does not keep other replicas from watching.
  opened.defer(() => release().catch((error: unknown) => onError('releasing tasks failed', error)))
  // Thousands of tasks may have something to write at once; requests and verdicts must not wait behind them.
  const background = createSemaphore(Math.max(1, Math.floor(settings.database.maxConnections / 2)))
  const limiter = createCallLimiter(systemClock, replica.registered)
  const annotationsOf = ({ annotations }: ObservedApplication) =>
    parseAnnotations(annotations, settings.rollout.annotationPrefixes)
  const watcher = opened.use(
    createRolloutWatcher({
      controller: notingReads(controller, shown),
      limiter,
      records: createHeldRecords({
        tasks: { saveProgress: ownedTasks.saveProgress, finish: services.finishTask },
        replicaId: replica.id,
        onEvents: services.feed.written,
        onFinished: services.reportFinished,
      }),
      clock: systemClock,
      settings: settings.rollout,
      annotations(application) {
        const annotations = annotationsOf(application)
        const unknown = unknownTargets(annotations.notify?.targets ?? [], settings.config.current().notifications)
        return { ...annotations, notes: [...annotations.notes, ...unknown] }
      },
      factsAtFirstSight(app, application) {
        const {
          environment = environmentFor(settings.config.current(), app),
          notify,
          onFailure,
        } = annotationsOf(application)
        return {
          ...(environment === undefined ? {} : { environment }),
          ...(notify === undefined ? {} : { notify }),
          ...(onFailure === undefined ? {} : { onFailure }),
        }
      },
      decideWriteBack: (task, application) => planWriteBack(task, application, settings.writeBack),
      queueWriteBack: (claim, plan) => background.use(() => writeBack.queue(claim, plan)),
      ancestry: history.ancestry,
      overrideAt: history.overrideAt,
      readPodLog: podLogReader(settings, controller),
      onError: (message, error, facts) => log.warn({ err: error, ...facts }, message),
      onRefreshAnswered: (app, durationMs) => metrics.refreshEnded(app, durationMs / 1000),
      onDeployed: (sinceChangeMs) => metrics.verdictWritten(sinceChangeMs / 1000),
      onUnvalidated: metrics.writeBackSkipped,
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
      readWatched: watcher.readWatched,
      isUnreachable: () => watcher.unreachable() !== undefined,
      checkReachability: watcher.checkReachability,
      onUpdate(type, seen) {
        if (type === 'seen') shown.see(seen)
        else shown.remove(seen)
        watcher.updated(type, seen)
      },
      onListed(list, askedAtMs) {
        shown.replace(list.applications, askedAtMs)
        watcher.listed(list, askedAtMs)
      },
      onError,
      onEnded: (facts) => log.info(facts, 'application stream ended, reconnecting'),
    }),
  )

  const watch = async (claimed: readonly ClaimedTask[]) => {
    const claimedAtMs = nowMs()
    const known = claimed.map(async (one) => {
      // Only an earlier owner can have left an outcome.
      const outcome = hasEarlierOwner(one.claim)
        ? await background.use(() => writeBack.outcomeOf(one.task.id))
        : undefined
      return watchedTaskOf(one, claimedAtMs, outcome)
    })
    watcher.watch(await Promise.all(known))
    if (claimed.length >= manyClaimed) stream.listSoon()
  }
  replica.start({
    onRegistered: async (id, former) => {
      if (former) await watch(await ownedTasks.takeBack(former, id))
    },
    onLost: () => watcher.drop(watcher.watchedIds()),
    onNotification: wakeUps.receive,
    onError,
  })
  const accepting = new Set<string>()
  const owned = opened.use(
    startClaiming({
      replica,
      tasks: ownedTasks,
      watcher: {
        watch(claimed) {
          metrics.takenOver(claimed.filter(({ claim }) => hasEarlierOwner(claim)).length)
          return watch(claimed)
        },
        drop: watcher.drop,
        watchedIds: watcher.watchedIds,
      },
      isHeld: (id) => accepting.has(id) || watcher.isWatched(id),
      removeDead: async () => {
        const removed = await removeDeadReplicas(database, replica)
        if (removed > 0) await replica.recount()
        return removed
      },
      wakeUps,
      onError,
    }),
  )

  return {
    replicaId: replica.id,
    accepting,
    /** Watches a task that this replica has just accepted for itself. */
    watchNew(task: NewTask & { readonly created: Date }, claim: Claim) {
      const remainingMs = task.timeoutSeconds * 1000
      watcher.watch([watchedTaskOf({ task, claim, remainingMs, baseline: undefined }, nowMs(), undefined)])
    },
    noteAmbiguousCommit: owned.noteAmbiguousCommit,
    watchedCount: watcher.watchedCount,
    openWriteBacks: writeBack.open,
    shownApplications: shown,
    /** Since when what is shown may be outdated: Argo CD does not answer, or its stream has brought nothing for 20 s. */
    staleSinceMs: () => watcher.unreachable()?.sinceMs ?? stream.silentSinceMs(),
    streamState: stream.streamState,
    readControllerVersion: controller.readVersion,
    controllerFacts: () => ({
      lastMessageMs: stream.streamState().lastByteAtMs,
      unreachableSinceMs: watcher.unreachable()?.sinceMs,
      applications: shown.count(),
    }),
    controllerState: () => describeController(stream.streamState(), watcher.unreachable()),
  }
}

/** A direct read shows an application as an event does. */
function notingReads(controller: ArgoCdClient, { see }: ShownApplications): ArgoCdClient {
  const noted = <Outcome extends Awaited<ReturnType<ArgoCdClient['refreshApplication']>>>(outcome: Outcome) => {
    if (outcome.kind === 'read') see(outcome.value)
    return outcome
  }
  return {
    ...controller,
    readApplication: async (address) => noted(await controller.readApplication(address)),
    refreshApplication: async (address) => noted(await controller.refreshApplication(address)),
  }
}

/** Events that a write-back wrote still need their place in the order. */
const withEventNumbering = ({ wakeUps, feed }: CoreServices): CoreServices['wakeUps'] => ({
  ...wakeUps,
  send: (topic, id) => (topic === 'event' ? feed.written() : wakeUps.send(topic, id)),
})

function podLogReader({ podLogLines, secrets }: Settings, { readPodLog }: ArgoCdClient) {
  if (podLogLines === 0) return undefined
  return createReadPodLog({ readLog: readPodLog, lines: podLogLines, redact: createRedactor(secrets) })
}
