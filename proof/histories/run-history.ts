import { createApplicationStream } from '../../server/argo-cd/application-stream.ts'
import type { TaskResult } from '../../server/deployments/task.ts'
import { rolloutTimes } from '../../server/rollout/judge/input/rollout-settings.ts'
import { createCallLimiter } from '../../server/rollout/watch/call-limiter.ts'
import { createRolloutWatcher } from '../../server/rollout/watch/rollout-watcher.ts'
import type { WriteBackDecision } from '../../server/write-back/plan/plan-write-back.ts'
import type { WriteBackOutcome } from '../../server/write-back/plan/write-back-outcome.ts'
import { createDeliveryController } from '../../simulator/model/delivery-controller.ts'
import { seededRandom } from '../../simulator/model/random.ts'
import { demoTimes, type SimulatorTimes } from '../../simulator/model/simulator-times.ts'
import { aWriteDecision, noAnnotations } from '../../test/support/rollout-builder.ts'
import { defaultRolloutSettings } from '../../test/support/rollout-settings.ts'
import { createControllerSurface } from './controller-surface.ts'
import { type ExampleApplication, exampleApplication } from './example-application.ts'
import { happen } from './happen.ts'
import { createHistoryClock } from './history-clock.ts'
import { createHistoryGit } from './history-git.ts'
import type { ControllerScript, Fault, HistoryScript, TaskScript } from './history-script.ts'
import { type Finding, judgeVerdict } from './judge-verdict.ts'
import { createMemoryWriteBack } from './memory-write-back.ts'
import { createSurfaceFaults } from './surface-faults.ts'
import { claimed, createTaskRecords, RecordsDownError, type TaskRow } from './task-records.ts'
import { createTaskWitness, failureOf, type TaskWitness } from './task-witness.ts'

type HistoryVerdict = { readonly end: TaskResult; readonly finding: Finding; readonly isApart: boolean }

export type HistoryResult = {
  readonly verdicts: readonly HistoryVerdict[]
  /** What no history may show, in words. */
  readonly violations: readonly string[]
  readonly firstGreens: { readonly seen: number; readonly wrong: number }
  readonly steps: number
}

const startMs = Date.UTC(2026, 0, 5, 8)
/** After its deadline, and after the records can be written again. */
const endBoundMs = 10_000
const busyRefreshMs = 4_000
/** What could not be written is tried again after this time, and there may be more than one write. */
const writeRetryMs = 2_000
/** Settling does not cover custom resources that look well for longer than this after a change. */
const coveredLagMs = 5_000

const timesOf = (script: ControllerScript): SimulatorTimes => ({
  ...demoTimes,
  podReady: [script.podReadyMs, script.podReadyMs * 1.5],
  termination: script.terminationMs,
  progressDeadline: script.progressDeadlineMs,
  latePull: script.latePullMs,
  customResourceLag: script.customResourceLagMs,
  informerLag: [script.informerLagMs / 2, script.informerLagMs],
})

/** Plays one history to its end and compares every verdict with the truth. */
export async function runHistory(script: HistoryScript, judge = judgeVerdict): Promise<HistoryResult> {
  const history = createHistory(script)
  await history.play()
  return history.result(judge)
}

function createHistory(script: HistoryScript) {
  const clock = createHistoryClock(startMs)
  let isNews = false
  let steps = 0
  const modelClock = clock.side(() => {
    isNews = true
  })
  const serverClock = clock.side()
  const random = seededRandom(script.seed ^ 0x5eed)
  const violations: string[] = []
  const elapsedMs = () => clock.nowMs() - startMs
  const faults = createSurfaceFaults(script.faults, elapsedMs, random)
  const applications = script.applications.map((one, index) => exampleApplication(`app-${index}`, one))
  const git = createHistoryGit(applications, clock.nowMs, () => faults.isOn('git-steps-back'))
  const controller = createDeliveryController({
    clock: modelClock,
    git: git.view,
    random: seededRandom(script.seed),
    times: { ...timesOf(script.controller), informerLag: [0, 0] },
    version: script.controller.version,
    replicas: script.controller.replicas,
    staleLiveCache: script.controller.staleLiveCache,
  })
  const surface = createControllerSurface({
    controller,
    clock: modelClock,
    faults,
    burstGapMs: script.controller.burstGapMs,
  })
  const records = createTaskRecords({
    clock: modelClock,
    random,
    isDown: () => faults.isOn('records-down'),
    onViolation: (text) => violations.push(text),
  })
  const settings = { ...defaultRolloutSettings, isStrict: script.watcher.isStrict }
  const witnesses: TaskWitness[] = []
  const owners: ReturnType<typeof createOwner>[] = []
  /** `undefined`: no replica is there. */
  let owner: ReturnType<typeof createOwner> | undefined
  const applicationOf = (name: string) => {
    const application = applications.find((one) => one.name === name)
    if (application === undefined) throw new Error(`no application ${name}`)
    return application
  }
  const onError = (_message: string, error: unknown) => {
    if (!(error instanceof RecordsDownError))
      violations.push(`trouble: ${error instanceof Error ? error.stack : error}`)
  }
  const writeBack = createMemoryWriteBack({
    clock: modelClock,
    git,
    records,
    applicationOf,
    tell: (taskId: string, outcome: WriteBackOutcome) => {
      for (const { watcher } of owners) watcher.outcome(taskId, outcome)
    },
  })
  const later = async <Value>(value: () => Value): Promise<Value> => {
    await new Promise<void>((resolve) => void modelClock.setTimer(5 + random() * 100, resolve))
    return value()
  }

  function createOwner() {
    const limiter = createCallLimiter(serverClock, () => 1)
    const watcher = createRolloutWatcher({
      controller: surface,
      limiter,
      records,
      clock: serverClock,
      settings,
      annotations: () => noAnnotations,
      factsAtFirstSight: () => ({}),
      decideWriteBack: ({ id, app }) => decide(rowOf(id), applicationOf(app)),
      queueWriteBack: writeBack.queue,
      ancestry: (_, commit, revision) => later(() => ancestryOf(commit, revision)),
      overrideAt: ({ app }, revision) => later(() => overrideAt(applicationOf(app), revision)),
      onError,
    })
    const stream = createApplicationStream({
      clock: serverClock,
      random,
      openStream: surface.openStream,
      readLargeFrame: async () => ({ kind: 'unreadable' }),
      listApplications: () => surface.listApplications(),
      watchedApps: watcher.watchedApps,
      readWatched: watcher.readWatched,
      isUnreachable: () => watcher.unreachable() !== undefined,
      checkReachability: watcher.checkReachability,
      onUpdate: watcher.updated,
      onListed: watcher.listed,
      onError,
      onEnded: () => {},
    })
    return {
      watcher,
      async close() {
        await stream[Symbol.asyncDispose]()
        await watcher[Symbol.asyncDispose]()
      },
    }
  }

  const rowOf = (id: string): TaskRow => {
    const row = records.rows.get(id)
    if (row === undefined) throw new Error(`no task ${id}`)
    return row
  }
  const ancestryOf = (commit: string, revision: string) => {
    if (faults.isOn('history-unknown')) return 'unknown'
    if (commit === revision) return 'same'
    return git.isAncestor(commit, revision) ? 'descendant' : 'unrelated'
  }
  const overrideAt = (application: ExampleApplication, revision: string) => {
    const tags = git.tagsAt(application, revision)
    const { images } = application
    return tags === undefined
      ? undefined
      : new Map([
          [images.main, tags.main],
          [images.worker, tags.worker],
        ])
  }

  function accept(task: TaskScript, index: number): void {
    const application = applications[task.app % applications.length]
    if (application === undefined) return
    const id = String(index)
    for (const older of task.supersedes ? records.unfinished() : []) {
      if (older.task.app !== application.name || (older.script.hasCredential && !task.hasCredential)) continue
      records.supersede(older)
      modelClock.setTimer(20, () => dropEverywhere(older.id))
    }
    const row = newRow(id, task, application)
    records.rows.set(id, row)
    witnesses.push(
      createTaskWitness(row, {
        ...commitRules(row, application),
        isStrict: settings.isStrict,
        failureBefore: failureOf(controller.store.get({ namespace: controller.namespace, name: application.name })),
      }),
    )
    modelClock.setTimer(30, () => owner?.watcher.watch([claimed(row, clock.nowMs())]))
  }

  const dropEverywhere = (taskId: string) => {
    for (const { watcher } of owners) watcher.drop([taskId])
  }

  function newRow(id: string, task: TaskScript, application: ExampleApplication): TaskRow {
    const { name, images } = application
    const main = { image: images.main, tag: task.tag }
    const watched = {
      id,
      app: name,
      author: 'ada',
      project: 'shop',
      images: wantsWorker(task, application) ? [main, { image: images.worker, tag: task.tag }] : [main],
      mayWrite: task.hasCredential,
      refresh: task.mayRefresh,
      deadlineMs: clock.nowMs() + task.windowMs,
      isOverdue: false,
      acceptedAtMs: clock.nowMs(),
      appearByMs: clock.nowMs(),
      createdSeconds: clock.nowMs() / 1_000,
    }
    return {
      id,
      script: task,
      acceptedAtMs: clock.nowMs(),
      writes: application.script.isManaged && task.hasCredential,
      task: watched,
      fence: 1,
      baseline: undefined,
      writeBackOutcome: undefined,
      end: undefined,
      decidedAtMs: undefined,
      endedAtMs: undefined,
      isEndKnown: false,
    }
  }

  /**
   * Which commits count for a task: its own and later ones; where it has none, those from acceptance on. Where no commit of its
   * own is known and nobody may make the controller look, the service can tell by any.
   */
  function commitRules(row: TaskRow, { repository, script: { isMultiSource } }: ExampleApplication) {
    const headAtAcceptance = git.head(repository)
    const known = new Map<string, boolean>()
    const isWanted = (revisions: readonly string[]): boolean => {
      const revision = revisions[isMultiSource ? 1 : 0] ?? ''
      const outcome = row.writeBackOutcome
      const commit =
        outcome !== undefined && 'commit' in outcome ? outcome.commit : row.writes ? undefined : headAtAcceptance
      if (commit === undefined) return false
      const key = `${commit} ${revision}`
      const isThere = known.get(key) ?? git.isAncestor(commit, revision)
      known.set(key, isThere)
      return isThere
    }
    return {
      isWanted,
      canTell: (revisions: readonly string[]) => (!row.writes && !row.script.mayRefresh) || isWanted(revisions),
    }
  }

  function takeOver(): void {
    const former = owner
    startOwner()
    modelClock.setTimer(3_000, () => void former?.close())
  }

  function startOwner(): void {
    owner = createOwner()
    owners.push(owner)
    const unfinished = records.unfinished()
    for (const row of unfinished) {
      row.fence += 1
      row.decidedAtMs = undefined
    }
    owner.watcher.watch(unfinished.map((row) => claimed(row, clock.nowMs())))
  }

  function stopOwner(): void {
    void owner?.close()
    owner = undefined
  }

  /** An application of which little is told loses its events for long. */
  const lostForMs = ({ fromMs, forMs }: Fault): number =>
    Math.max(forMs, ...controller.replicas.map((replica) => (replica.lastLostAt() ?? fromMs) - fromMs))

  function startFault(fault: Fault): void {
    switch (fault.kind) {
      case 'cut-stream':
        surface.cutStreams(fault.how)
        return
      case 'stall-stream':
        surface.stallStreams()
        return
      case 'lose-events':
        for (const replica of controller.replicas) replica.loseEvents(fault.count)
        return
      case 'duplicate-events':
        for (const replica of controller.replicas) replica.duplicateEvents(fault.count)
        return
      case 'hold-replica':
        controller.replicas[fault.replica]?.hold()
        return
      case 'drop-refresh':
        refreshBusily(fault)
        return
      case 'hang-refresh':
        controller.faults.hangRefresh.add(`${controller.namespace}/app-${fault.app}`)
        return
      case 'skew-clock':
        controller.setClockSkew(fault.byMs)
        return
      case 'take-over':
        takeOver()
        return
      case 'restart':
        stopOwner()
        return
      default:
    }
  }

  /** Somebody else asks for slow refreshes all the time; before 3.6 one that is asked meanwhile is answered with theirs. */
  function refreshBusily({ forMs }: Fault): void {
    const untilMs = clock.nowMs() + forMs
    for (const { name } of applications) {
      const text = `${controller.namespace}/${name}`
      const again = () => {
        if (clock.nowMs() >= untilMs) return void controller.faults.refreshDelayMs.delete(text)
        controller.faults.refreshDelayMs.set(text, busyRefreshMs / 2)
        controller.annotateRefresh({ namespace: controller.namespace, name }, 'normal')
        modelClock.setTimer(busyRefreshMs, again)
      }
      again()
    }
  }

  function endFault(fault: Fault): void {
    if (fault.kind === 'hold-replica') controller.replicas[fault.replica]?.release(fault.release)
    if (fault.kind === 'hang-refresh') controller.faults.hangRefresh.delete(`${controller.namespace}/app-${fault.app}`)
    if (fault.kind === 'skew-clock') controller.setClockSkew(0)
    if (fault.kind === 'restart') takeOver()
  }

  const look = () => {
    steps += 1
    if (!isNews) return
    isNews = false
    for (const witness of witnesses) {
      const key = { namespace: controller.namespace, name: witness.row.task.app }
      witness.look(clock.nowMs(), controller.store.get(key), controller.managedAt(key))
    }
  }

  const isOver = () =>
    records.rows.size === script.tasks.length &&
    [...records.rows.values()].every(isSettled) &&
    owners.every(({ watcher }) => watcher.watchedCount() === 0)
  /** A task that failed early is looked at until its deadline: it may get well. */
  const isSettled = ({ end, task }: TaskRow) =>
    end !== undefined && (end.status === 'deployed' || end.status === 'cancelled' || clock.nowMs() >= task.deadlineMs)

  return {
    async play(): Promise<void> {
      for (const { spec, script: one } of applications)
        if (one.start !== 'missing') await controller.createApplication(spec)
      // What was there before the history is in the caches already.
      await clock.run(startMs, () => false, look)
      controller.setTimes(timesOf(script.controller))
      startOwner()
      for (const [index, task] of script.tasks.entries()) {
        const { app, atMs, rivalAfterMs, tag } = task
        modelClock.setTimer(atMs, () => accept(task, index))
        const kind = 'rival-tag'
        if (rivalAfterMs !== undefined)
          modelClock.setTimer(atMs + rivalAfterMs, () =>
            happen({ app, atMs, kind, tag }, { applications, controller, git, clock: modelClock }),
          )
      }
      for (const one of script.happenings)
        modelClock.setTimer(one.atMs, () => happen(one, { applications, controller, git, clock: modelClock }))
      for (const fault of script.faults) {
        modelClock.setTimer(fault.fromMs, () => startFault(fault))
        modelClock.setTimer(fault.fromMs + fault.forMs, () => endFault(fault))
      }
      const lastMs = Math.max(...script.tasks.map(({ atMs, windowMs }) => atMs + windowMs)) + 90_000
      const back = Math.max(0, ...backMs(script.faults)) + 30_000
      await clock.run(startMs + Math.max(lastMs, back), isOver, look)
      for (const { close } of owners) await close()
      await clock.run(clock.nowMs(), () => false, look)
      controller.close()
      for (const witness of witnesses) witness.close(clock.nowMs())
    },

    result(judge: typeof judgeVerdict): HistoryResult {
      if (serverClock.timerCount() > 0) violations.push(`${serverClock.timerCount()} timers are left`)
      const faultsOnClock = script.faults
        .map((fault) => ({ ...fault, fromMs: startMs + fault.fromMs }))
        .map((fault) => (fault.kind === 'lose-events' ? { ...fault, forMs: lostForMs(fault) } : fault))
      const verdicts = witnesses.flatMap((witness): readonly HistoryVerdict[] => {
        const { row } = witness
        const boundMs = Math.max(row.task.deadlineMs, ...backMs(faultsOnClock)) + endBoundMs
        if (row.end === undefined || row.endedAtMs === undefined || row.endedAtMs > boundMs)
          violations.push(`task ${row.id} had not ended ten seconds after its deadline`)
        if (row.end === undefined || row.endedAtMs === undefined) return []
        const application = applicationOf(row.task.app)
        const { shape, hasNarrowPaths } = application.script
        const { end } = row
        const isForeignImage = wantsWorker(row.script, application) && !application.hasWorker
        const findingAt = (atMs: number) => {
          const isOvertaken = isOvertakenBy(row, application, atMs)
          const subscribedAtMs = startMs + script.controller.burstGapMs
          return judge(
            { witness, settings, faults: faultsOnClock, subscribedAtMs, isOvertaken, isForeignImage },
            end,
            atMs,
          )
        }
        const writtenAtMs = row.decidedAtMs ?? row.endedAtMs
        const decided = momentsOfDecision(faultsOnClock, row.acceptedAtMs, writtenAtMs).map(findingAt)
        const finding = decided.find((one) => !isWrong(one)) ?? findingAt(writtenAtMs)
        const isApart = shape === 'custom-resource' && script.controller.customResourceLagMs > coveredLagMs
        if (!isApart && isWrong(finding))
          violations.push(
            `task ${row.id}: ${finding}: ${row.end.status} ${row.end.cause ?? ''} after ${row.endedAtMs - row.acceptedAtMs} ms: ${row.end.reason ?? ''}${hasNarrowPaths ? ' (narrow paths)' : ''}`,
          )
        return [{ end: row.end, finding, isApart }]
      })
      const greens = witnesses.map((witness) => witness.firstGreen()).filter(({ wasSeen }) => wasSeen)
      const firstGreens = { seen: greens.length, wrong: greens.filter(({ wasTrue }) => !wasTrue).length }
      return { verdicts, violations, firstGreens, steps }
    },
  }

  function isOvertakenBy(row: TaskRow, application: ExampleApplication, byMs: number): boolean {
    const outcome = row.writeBackOutcome
    if (outcome === undefined || !('commit' in outcome)) return false
    return git
      .commitsAfter(application, outcome.commit, byMs)
      .some(
        (tags) =>
          tags !== undefined &&
          (tags.main !== row.script.tag || (wantsWorker(row.script, application) && tags.worker !== row.script.tag)),
      )
  }
}

/** When tasks can end again that could not: their records were down, or no replica was there. */
const backMs = (faults: readonly Fault[]) =>
  faults.flatMap(({ kind, fromMs, forMs }) => {
    // A new owner gives what it finds overdue a check of its own.
    if (kind === 'restart' || kind === 'take-over')
      return [fromMs + forMs + rolloutTimes.overdueCheckMs + rolloutTimes.finalCheckMs]
    return kind === 'records-down' ? [fromMs + forMs] : []
  })

/** A decision waits behind what else was to be written while the records were down: it may be from any moment of that time. */
function momentsOfDecision(faults: readonly Fault[], acceptedAtMs: number, writtenAtMs: number): readonly number[] {
  const downMs = Math.max(acceptedAtMs, downSinceMs(faults, writtenAtMs))
  const seconds = Math.floor((writtenAtMs - downMs) / 1_000)
  return [writtenAtMs, ...Array.from({ length: seconds }, (_, second) => downMs + second * 1_000)]
}

/** One outage may begin before another one is over. */
function downSinceMs(faults: readonly Fault[], atMs: number): number {
  const outage = faults.find(
    ({ kind, fromMs, forMs }) => kind === 'records-down' && fromMs < atMs && fromMs + forMs + writeRetryMs > atMs,
  )
  return outage === undefined ? atMs : downSinceMs(faults, outage.fromMs)
}

const isWrong = (finding: Finding) => finding !== 'right' && finding !== 'recovered' && !finding.startsWith('excused: ')

const wantsWorker = ({ wants }: TaskScript, { hasWorker }: ExampleApplication) =>
  wants === 'both' || (wants === 'what there is' && hasWorker)

function decide(row: TaskRow, application: ExampleApplication): WriteBackDecision {
  const { tag } = row.script
  if (!application.script.isManaged) return { kind: 'monitor', why: 'not_managed', note: '' }
  if (!row.script.hasCredential) return { kind: 'monitor', why: 'no_credential', note: 'no credential' }
  const names = wantsWorker(row.script, application) ? (['main', 'worker'] as const) : (['main'] as const)
  return aWriteDecision({
    app: application.name,
    repository: application.repository,
    file: application.overrideFile,
    entries: names.map((name) => ({ name, value: tag, image: application.images[name] })),
  })
}
