import type { Cause } from '../../contract/cause.ts'
import type { Image, PodLog } from '../../contract/task.ts'
import type { Claim, TaskEnd } from '../deployments/task.ts'
import type { WriteBackOutcome } from '../gitops/write-back-outcome.ts'
import type { NewTaskEvent } from '../timeline/task-event.ts'
import { isNamed, parseApplicationReference } from './application-reference.ts'
import type {
  ApplicationAddress,
  ApplicationList,
  Clock,
  DeliveryController,
  PodAddress,
  ReadOutcome,
} from './delivery-controller.ts'
import { findBadPods } from './judge-pods.ts'
import { judgeRollout } from './judge-rollout.ts'
import type { Judgement } from './judgement.ts'
import { mergeSighting, type Sighting } from './newest-snapshots.ts'
import type { ObservedApplication } from './observed-application.ts'
import { createReachability } from './reachability.ts'
import type { ObservedPod } from './resource-tree.ts'
import { startMemory } from './rollout-memory.ts'
import {
  answerRefresh,
  askRefresh,
  observeRefresh,
  observeRefreshDirectly,
  type Reading,
  type Relation,
  relationKey,
  type WantedAction,
} from './rollout-observation.ts'
import type { RolloutSettings } from './rollout-settings.ts'
import { hasCommitsOnTheirWay, sharingWaitMs } from './sharing-wait.ts'
import { createTaskWrites, type TaskNews } from './task-writes.ts'
import {
  addressOf,
  observationOf,
  type TaskState,
  type WatchedApplication,
  watchedApplication,
} from './watched-application.ts'
import type { Baseline, RolloutAnnotations, WatchedTask, WriteBackState } from './watched-task.ts'

/** What is to be committed for a task, decided from its application. */
export type WriteBackDecision<Plan> =
  | { readonly kind: 'write'; readonly plan: Plan; readonly warnings: readonly string[] }
  | { readonly kind: 'monitor'; readonly why: 'not_managed' | 'no_credential' | 'no_alias'; readonly note: string }
  | { readonly kind: 'refused'; readonly cause: Cause; readonly reason: string }

type DecidedTask = {
  readonly id: string
  readonly app: string
  readonly author: string
  readonly project: string
  readonly images: readonly Image[]
  readonly mayWrite: boolean
}

/** Every answer `false` means that the claim is gone: the task is somebody else's and is dropped without a word. */
type TaskRecords = {
  saveBaseline(claim: Claim, baseline: Baseline): Promise<boolean>
  saveProgress(
    claim: Claim,
    change: { readonly progress?: string; readonly appUrl?: string },
    events: readonly NewTaskEvent[],
  ): Promise<boolean>
  /** Also where it says that the claim is gone, the task is over for this watcher. */
  finish(claim: Claim, end: TaskEnd): Promise<unknown>
}

export type RolloutWatcherDeps<Plan> = {
  readonly controller: DeliveryController
  readonly records: TaskRecords
  readonly clock: Clock
  readonly settings: RolloutSettings
  /** Base of the links to applications. */
  readonly linkBase: string
  annotations(application: ObservedApplication): RolloutAnnotations
  decideWriteBack(task: DecidedTask, application: ObservedApplication): WriteBackDecision<Plan>
  queueWriteBack(claim: Claim, plan: Plan): Promise<boolean>
  relation(repository: string, commit: string, revision: string): Promise<Relation>
  overrideAt(plan: Plan, revision: string): Promise<ReadonlyMap<string, string> | undefined>
  /** What a Pod that does not start wrote last; absent: nobody wants to know. */
  readonly readPodLog?: ((address: ApplicationAddress, pod: ObservedPod) => Promise<PodLog | undefined>) | undefined
  /** Something failed that a person may want to know of; the task goes on. Never holds a secret. */
  onTrouble(error: unknown, taskId: string | undefined): void
  /** For metrics: how long a refresh took to be answered. */
  onRefreshAnswered?(app: string, durationMs: number): void
}

/** Tasks are looked at again after this long at the latest, should a wake-up have been lost. */
const lookAgainMs = 15_000
const sharedReadMs = 1_000

/** Watches applications until the verdict on each task is confirmed. Observes and acts; judging is `judgeRollout`. */
export function createRolloutWatcher<Plan>(deps: RolloutWatcherDeps<Plan>) {
  const { clock, controller, settings } = deps
  const applications = new Map<string, WatchedApplication<Plan>>()
  const appOfTask = new Map<string, WatchedApplication<Plan>>()
  const reachability = createReachability(controller, clock, () => judgeEverything())
  let isClosed = false

  const judgeEverything = () => {
    for (const application of [...applications.values()]) judgeAll(application)
  }
  const judgeAll = (application: WatchedApplication<Plan>) => {
    for (const state of [...application.tasks.values()]) judge(application, state)
  }

  /** One task's trouble is nobody else's. */
  const judge = (application: WatchedApplication<Plan>, state: TaskState<Plan>) => {
    if (state.isOver || isClosed) return
    state.cancelTimer()
    state.lookAtMs = Number.POSITIVE_INFINITY
    try {
      planAgain(application, state)
      const observation = observationOf(application, state, deps.annotations, reachability.state())
      apply(application, state, judgeRollout(state.task, state.memory, observation, clock.nowMs(), settings))
    } catch (error) {
      deps.onTrouble(error, state.task.id)
      lookAgain(application, state, lookAgainMs)
    }
  }

  /** The soonest of the times asked for since the last look counts. */
  const lookAgain = (application: WatchedApplication<Plan>, state: TaskState<Plan>, wantedDelayMs: number) => {
    const delayMs = Math.max(1, Math.min(wantedDelayMs, lookAgainMs))
    if (clock.nowMs() + delayMs >= state.lookAtMs) return
    state.cancelTimer()
    state.lookAtMs = clock.nowMs() + delayMs
    state.cancelTimer = clock.setTimer(delayMs, () => judge(application, state))
  }

  const apply = (application: WatchedApplication<Plan>, state: TaskState<Plan>, judgement: Judgement) => {
    state.memory = judgement.memory
    saveWhatChanged(application, state, judgement)
    if (judgement.end !== undefined) return finish(state, withPodLog(application, state.task, judgement.end))
    lookAgain(application, state, judgement.againAtMs - clock.nowMs())
    for (const action of judgement.wanted) perform(application, state, action)
  }

  const saveWhatChanged = (application: WatchedApplication<Plan>, state: TaskState<Plan>, judgement: Judgement) => {
    const { claim } = state.task
    const { baseline } = judgement.memory
    if (baseline !== undefined && baseline !== state.savedBaseline) {
      state.savedBaseline = baseline
      state.writes.add(() => deps.records.saveBaseline(claim, baseline))
    }
    const appUrl = newAppUrl(application, state)
    const isNews = judgement.progress !== '' && judgement.progress !== state.progress
    if (!isNews && appUrl === undefined && judgement.events.length === 0) return
    if (isNews) state.progress = judgement.progress
    const change = { ...(isNews ? { progress: judgement.progress } : {}), ...(appUrl === undefined ? {} : { appUrl }) }
    tellReaders(state, { change, events: judgement.events })
  }

  const newAppUrl = ({ known }: WatchedApplication<Plan>, state: TaskState<Plan>): string | undefined => {
    if (known.newest === undefined || state.hasAppUrl) return undefined
    state.hasAppUrl = true
    return `${deps.linkBase.replace(/(?<!\/)\/+$/, '')}/applications/${known.newest.namespace}/${known.newest.name}`
  }

  /** A log is told only of a Pod that stands in the way of this very task. */
  const withPodLog = ({ tree, podLog }: WatchedApplication<Plan>, { images }: WatchedTask, end: TaskEnd): TaskEnd => {
    if (end.status !== 'failed' || podLog === undefined || tree?.value === undefined) return end
    const isToBlame = findBadPods(tree.value, images, settings).some(({ pod }) => pod.uid === podLog.uid)
    return isToBlame ? { ...end, podLog: podLog.log } : end
  }

  const finish = (state: TaskState<Plan>, end: TaskEnd) => {
    state.isOver = true
    state.cancelTimer()
    state.writes.add(async () => {
      await deps.records.finish(state.task.claim, end)
      return false // either finished or taken: nothing is left to write
    })
  }

  const forget = (taskId: string) => {
    const application = appOfTask.get(taskId)
    const state = application?.tasks.get(taskId)
    if (application === undefined || state === undefined) return
    state.isOver = true
    state.cancelTimer()
    state.writes.close()
    appOfTask.delete(taskId)
    application.tasks.delete(taskId)
    if (application.tasks.size === 0) applications.delete(application.app)
  }

  /** Does what a judgement wants, unless just that is under way. What it finds wakes all tasks of the application. */
  const perform = (application: WatchedApplication<Plan>, state: TaskState<Plan>, action: WantedAction) => {
    const isOfTask = action.kind === 'decide_write_back' || action.kind === 'override_at'
    const key = JSON.stringify(isOfTask ? [state.task.id, action] : { ...action, why: undefined })
    if (application.inFlight.has(key) || (needsController(action) && reachability.state() !== undefined)) return
    const waitMs = Math.max(application.throttle.waitMs(key), sharingWaitMs(application, action, clock.nowMs()))
    if (waitMs > 0) {
      if (action.kind === 'refresh') application.refreshHeldSinceMs ??= clock.nowMs()
      return lookAgain(application, state, waitMs)
    }
    application.throttle.started(key)
    application.inFlight.add(key)
    act(application, state, action)
      .catch((error: unknown) => {
        application.throttle.failed(key)
        deps.onTrouble(error, state.task.id)
      })
      .finally(() => {
        application.inFlight.delete(key)
        judgeAll(application)
      })
  }

  const act = async (
    application: WatchedApplication<Plan>,
    state: TaskState<Plan>,
    action: WantedAction,
  ): Promise<void> => {
    switch (action.kind) {
      case 'read':
        return read(application)
      case 'refresh':
        return refresh(application, state, action.why)
      case 'list':
        return listOne(application)
      case 'tree':
        application.tree = await reading(application, controller.readResourceTree)
        return
      case 'managed_resources':
        application.managed = await reading(application, controller.readManagedResources)
        return
      case 'sync_windows':
        application.windows = await reading(application, controller.readSyncWindows)
        return
      case 'pod_events':
        await Promise.all([readPodEvents(application, action), readPodLog(application, action)])
        return
      case 'decide_write_back':
        return decideWriteBack(application, state)
      case 'relation':
        return lookUpRelation(application, action)
      case 'override_at':
        state.overrides.set(action.revision, undefined)
        if (state.plan !== undefined)
          state.overrides.set(action.revision, await deps.overrideAt(state.plan, action.revision))
    }
  }

  const read = async (application: WatchedApplication<Plan>) => {
    const askedAtMs = clock.nowMs()
    const knownVersion = application.known.newest?.version ?? 0
    const outcome = await controller.readApplication(addressOf(application)).catch(unexpected)
    // A direct read is never older than what was known when it was asked: such an answer says nothing.
    const isCredible =
      outcome.kind !== 'read' || (isWatched(application, outcome.value) && outcome.value.version >= knownVersion)
    application.directRead = { askedAtMs, result: isCredible ? readResult(outcome) : 'failed' }
    if (outcome.kind === 'read' && isCredible) {
      application.refresh = observeRefreshDirectly(application.refresh, outcome.value, askedAtMs)
      see(application, { kind: 'seen', application: outcome.value, isComplete: true })
    }
    if (outcome.kind === 'not_found' && application.known.newest !== undefined) see(application, { kind: 'not_found' })
    suspectOn(outcome)
  }

  const refresh = async (application: WatchedApplication<Plan>, state: TaskState<Plan>, why: string) => {
    const askedAtMs = clock.nowMs()
    application.refresh = askRefresh(application.refresh, askedAtMs)
    application.refreshHeldSinceMs = undefined
    tell(state, [{ kind: 'refresh_requested', detail: `refresh asked ${why}` }])
    const outcome = await controller.refreshApplication(addressOf(application)).catch(unexpected)
    if (outcome.kind === 'asked') return noteAccepted(application)
    if (outcome.kind !== 'read') {
      if (outcome.kind !== 'unreachable') application.refresh = { ...application.refresh, pending: undefined }
      return suspectOn(outcome)
    }
    application.refresh = answerRefresh(application.refresh, askedAtMs, outcome.value)
    deps.onRefreshAnswered?.(application.app, clock.nowMs() - askedAtMs)
    see(application, { kind: 'seen', application: outcome.value, isComplete: true })
  }

  const noteAccepted = (application: WatchedApplication<Plan>) => {
    const { pending } = application.refresh
    if (pending === undefined) return
    application.refresh = { ...application.refresh, pending: { ...pending, acceptedAtMs: clock.nowMs() } }
  }

  /** By name first; where only a namesake elsewhere is found, all are looked through. */
  const listOne = async (application: WatchedApplication<Plan>) => {
    const askedAtMs = clock.nowMs()
    application.lastListAtMs = askedAtMs
    const { name, namespace } = application.reference
    const named = await controller.listApplications({ name, namespace }).catch(unexpected)
    const isNamesake =
      named.kind === 'read' && named.value.applications.length > 0 && findIn(application, named.value) === undefined
    const outcome = isNamesake ? await controller.listApplications().catch(unexpected) : named
    if (outcome.kind === 'read') seeInList(application, outcome.value, askedAtMs)
    suspectOn(outcome)
  }

  const reading = async <Value>(
    application: WatchedApplication<Plan>,
    call: (address: ApplicationAddress) => Promise<ReadOutcome<Value>>,
  ): Promise<Reading<Value>> => {
    const asked = { askedAtMs: clock.nowMs(), version: application.known.newest?.version ?? 0 }
    const outcome = await call(addressOf(application)).catch(unexpected)
    suspectOn(outcome)
    return { ...asked, value: outcome.kind === 'read' ? outcome.value : undefined }
  }

  const readPodEvents = async (application: WatchedApplication<Plan>, pod: PodAddress) => {
    application.podEvents = await reading(application, async (address) => {
      const outcome = await controller.readPodEvents(address, pod)
      return outcome.kind === 'read' ? { kind: 'read', value: { uid: pod.uid, lines: outcome.value } } : outcome
    })
  }

  const readPodLog = async (application: WatchedApplication<Plan>, { uid }: PodAddress) => {
    const pod = application.tree?.value?.pods.find((one) => one.uid === uid)
    const log = pod && (await deps.readPodLog?.(addressOf(application), pod))
    if (log !== undefined) application.podLog = { uid, log }
  }

  const lookUpRelation = async (application: WatchedApplication<Plan>, action: WantedAction & { kind: 'relation' }) => {
    const relation = await deps.relation(action.repository, action.commit, action.revision).catch((error: unknown) => {
      deps.onTrouble(error, undefined)
      return 'unknown' as const
    })
    application.relations.set(relationKey(action.commit, action.revision), { relation, atMs: clock.nowMs() })
  }

  const decideWriteBack = async (application: WatchedApplication<Plan>, state: TaskState<Plan>) => {
    const { newest } = application.known
    if (newest === undefined || state.writeBack.kind !== 'undecided') return
    const decision = deps.decideWriteBack(state.task, newest)
    state.writeBack = stateOf(decision, clock.nowMs())
    if (decision.kind === 'monitor') return tell(state, skippedEvents(decision.note))
    if (decision.kind === 'refused') return
    state.plan = decision.plan
    tell(
      state,
      decision.warnings.map((detail) => ({ kind: 'note', detail })),
    )
    state.writes.add(() => deps.queueWriteBack(state.task.claim, decision.plan))
  }

  /** After a change of owner the commit may be there already; what it was made from is still needed to read override files. */
  const planAgain = (application: WatchedApplication<Plan>, state: TaskState<Plan>) => {
    if (state.plan !== undefined || state.writeBack.kind !== 'ended' || application.known.newest === undefined) return
    const decision = deps.decideWriteBack(state.task, application.known.newest)
    if (decision.kind === 'write') state.plan = decision.plan
  }

  const tell = (state: TaskState<Plan>, events: readonly NewTaskEvent[]) => {
    if (events.length > 0 && !state.isOver) tellReaders(state, { change: {}, events })
  }

  const tellReaders = ({ task, writes }: TaskState<Plan>, news: TaskNews) =>
    writes.tell(news, ({ change, events }) => deps.records.saveProgress(task.claim, change, events))

  const suspectOn = (outcome: { readonly kind: string }) => {
    if (outcome.kind === 'unreachable' || outcome.kind === 'unauthorized') reachability.suspect()
  }

  const see = (application: WatchedApplication<Plan>, sighting: Sighting) => {
    if ('application' in sighting && !isWatched(application, sighting.application)) return
    const before = application.known
    application.known = mergeSighting(before, sighting, clock.nowMs())
    const { newest } = application.known
    if (newest === undefined || newest === before.newest) return
    application.changedAtMs = clock.nowMs()
    application.refresh = observeRefresh(application.refresh, newest)
  }

  const isWatched = ({ reference }: WatchedApplication<Plan>, seen: ObservedApplication) =>
    isNamed(seen, reference, settings.controlPlaneNamespace)

  const findIn = (application: WatchedApplication<Plan>, list: ApplicationList) =>
    list.applications.find((listed) => isWatched(application, listed))

  const seeInList = (application: WatchedApplication<Plan>, list: ApplicationList, askedAtMs: number) => {
    const found = findIn(application, list)
    if (found === undefined) see(application, { kind: 'absent', askedAtMs, version: list.version })
    else see(application, { kind: 'seen', application: found, isComplete: false })
  }

  const watchOne = (task: WatchedTask) => {
    const claimed = appOfTask.get(task.id)?.tasks.get(task.id)?.task.claim
    if (claimed !== undefined && BigInt(claimed.fence) > BigInt(task.claim.fence)) return // its answer was overtaken
    forget(task.id)
    const application =
      applications.get(task.app) ?? watchedApplication<Plan>(task.app, parseApplicationReference(task.app), clock)
    applications.set(task.app, application)
    appOfTask.set(task.id, application)
    const nowMs = clock.nowMs()
    const writes = createTaskWrites(
      clock,
      () => forget(task.id),
      (error) => deps.onTrouble(error, task.id),
    )
    const state: TaskState<Plan> = {
      task,
      memory: startMemory(task.baseline, nowMs),
      savedBaseline: task.baseline,
      writeBack: initialWriteBack(task, nowMs),
      plan: undefined,
      overrides: new Map(),
      progress: '',
      hasAppUrl: false,
      isOver: false,
      lookAtMs: Number.POSITIVE_INFINITY,
      cancelTimer: () => {},
      writes,
    }
    application.tasks.set(task.id, state)
    if (!wasReadLately(application, nowMs)) perform(application, state, { kind: 'read' })
    judge(application, state)
  }

  return {
    watch(tasks: readonly WatchedTask[]) {
      for (const task of tasks) watchOne(task)
    },
    drop(taskIds: readonly string[]) {
      for (const id of taskIds) forget(id)
    },
    /** What became of a task's commit. */
    outcome(taskId: string, outcome: WriteBackOutcome) {
      const application = appOfTask.get(taskId)
      const state = application?.tasks.get(taskId)
      if (application === undefined || state === undefined || state.writeBack.kind === 'ended') return
      state.writeBack = { kind: 'ended', outcome, atMs: clock.nowMs() }
      // A refresh that others want may have waited for the last of them.
      if (hasCommitsOnTheirWay(application)) judge(application, state)
      else judgeAll(application)
    },
    /** An event of the stream. */
    sighted(type: 'seen' | 'deleted', seen: ObservedApplication) {
      for (const application of watchedAs(applications, seen)) {
        if (type === 'seen') see(application, { kind: 'seen', application: seen, isComplete: true })
        else see(application, { kind: 'deleted', application: seen })
        judgeAll(application)
      }
    },
    /** A List of all applications that was asked at `askedAtMs`. */
    listed(list: ApplicationList, askedAtMs: number) {
      for (const application of [...applications.values()]) {
        seeInList(application, list, askedAtMs)
        judgeAll(application)
      }
    },
    /** Names of the applications that unfinished tasks wait for. */
    watchedApps: (): readonly string[] => [...applications.keys()],
    /** Reads one application directly, for when the stream is not to be trusted. */
    async readDirectly(app: string): Promise<void> {
      const application = applications.get(app)
      if (application === undefined || reachability.state() !== undefined) return
      await read(application)
      judgeAll(application)
    },
    unreachable: () => reachability.state(),
    /** Somebody else could not reach the delivery controller either. */
    suspect: () => reachability.suspect(),
    watchedIds: (): readonly string[] => [...appOfTask.keys()],
    watchedCount: () => appOfTask.size,
    async [Symbol.asyncDispose]() {
      isClosed = true
      reachability.close()
      for (const id of [...appOfTask.keys()]) forget(id)
    },
  }
}

function* watchedAs<Plan>(
  applications: ReadonlyMap<string, WatchedApplication<Plan>>,
  { name, namespace }: ObservedApplication,
) {
  const candidates = [applications.get(name), applications.get(`${namespace}/${name}`)]
  for (const application of candidates) if (application !== undefined) yield application
}

/** Tasks for one application often come together; what one of them has just read serves them all. */
const wasReadLately = ({ known, directRead }: WatchedApplication<unknown>, nowMs: number) =>
  known.newest !== undefined && directRead?.result === 'read' && nowMs - directRead.askedAtMs < sharedReadMs

const needsController = ({ kind }: WantedAction) => !['decide_write_back', 'relation', 'override_at'].includes(kind)

/** What nobody waits for any more is not committed. */
function initialWriteBack({ writeBackOutcome, isOverdue }: WatchedTask, nowMs: number): WriteBackState {
  if (writeBackOutcome !== undefined) return { kind: 'ended', outcome: writeBackOutcome, atMs: nowMs }
  return isOverdue ? { kind: 'monitor', why: 'overdue', note: '' } : { kind: 'undecided' }
}

function stateOf(decision: WriteBackDecision<unknown>, nowMs: number): WriteBackState {
  if (decision.kind === 'write') return { kind: 'pending' }
  if (decision.kind === 'monitor') return decision
  return { kind: 'ended', outcome: decision, atMs: nowMs }
}

const skippedEvents = (note: string): readonly NewTaskEvent[] =>
  note === '' ? [] : [{ kind: 'write_back_skipped', detail: note }]

function readResult(outcome: ReadOutcome<unknown>): 'read' | 'missing' | 'not_found' | 'failed' {
  if (outcome.kind === 'read' || outcome.kind === 'not_found') return outcome.kind
  return outcome.kind === 'refused' ? 'missing' : 'failed'
}

const unexpected = (error: unknown): { readonly kind: 'unreachable'; readonly why: string } => ({
  kind: 'unreachable',
  why: error instanceof Error ? error.name : 'unexpected failure',
})
