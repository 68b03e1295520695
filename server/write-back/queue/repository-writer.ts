import type { Cause } from '../../../contract/causes.ts'
import { causeOfFailure, causeOfRejection, GitError } from '../git/access/git-error.ts'
import type { CommitHistory } from '../git/history/commit-history.ts'
import type { GitRepository, PushOutcome, Tip } from '../git/push/git-repository.ts'
import { defaultBranch } from '../plan/branch-name.ts'
import { createHandOver } from './hand-over.ts'
import type { OpenWrite, PendingWriteStore, WriteQueue } from './pending-write-store.ts'
import { type BatchPlan, filesToRead, type PlannedWrite, planBatch } from './plan-batch.ts'
import { createPushTracer } from './push-tracer.ts'
import { retryPauseMs } from './retry-pause.ts'
import { createWriteBackTimes, type WriteBackMeasures } from './write-back-times.ts'
import {
  droppedResult,
  landedResult,
  overdueResult,
  refusedResult,
  unchangedResult,
  type WriteResult,
} from './write-result.ts'

export type WriterDeps = {
  readonly store: PendingWriteStore
  readonly history: CommitHistory
  /** False once the replica may own nothing any more, or is closing. */
  readonly canContinue: (queue: WriteQueue) => boolean
  /** Limits who works with the branch's cache, and how many on one host at once. */
  readonly inTurn: <Result>(work: () => Promise<Result>) => Promise<Result>
  readonly onRecorded: (results: readonly WriteResult[]) => void
  readonly onEvents: (taskIds: readonly string[]) => void
  /** `run` has something to do again. */
  readonly onReady: () => void
  readonly measures: WriteBackMeasures
  readonly nowMs: () => number
  readonly pause: (ms: number) => Promise<void>
  readonly random: () => number
}

/** What to do after one step: look at the queue again, perhaps after a while, or stop. */
export type Step = { readonly kind: 'again'; readonly afterMs: number } | { readonly kind: 'stop' }

const maxBatch = 500
/** A task whose time is nearly over gets its true reason instead of a bare timeout. */
const marginSeconds = 2
/** Less than that does not suffice for a try on a busy host. */
const minTryMs = 2_000
/** How long after its deadline a cancelled task's push is looked for on a host that does not answer. */
const maxLateSeconds = 600
/** So many commits refused in a row, each alone and in the same words: the branch takes none. */
const maxRefusals = 5
/** Words that are not known may come again and again, and making the cache costs the host a fetch. */
const minCacheAgeMs = 60_000
/** How long the name of the default branch is used without asking again. */
const defaultBranchHoldsMs = 60_000
/** How often `run` is called while a write is open. */
export const sweepMs = 3_000

/** How often another writer was faster, how many pushes had no answer, and the cause of the last failure. */
type Tries = { readonly losses: number; readonly unanswered: number; readonly cause: Cause }

const again: Step = { kind: 'again', afterMs: 0 }
const stop: Step = { kind: 'stop' }
const noRefusals = { words: '', inARow: 0 }
const untried: Tries = { losses: 0, unanswered: 0, cause: 'git_unreachable' }

/** Writes back to one branch of one repository by one address, for as long as this replica owns the repository. */
export function createRepositoryWriter(queue: WriteQueue, repository: GitRepository, deps: WriterDeps) {
  const { branch } = queue
  const { store, history, measures } = deps
  const times = createWriteBackTimes(measures, deps.nowMs)
  const { pause, random, onReady: onIdle } = deps
  const tracer = createPushTracer(queue, {
    store,
    history,
    planAt: (tip, batch) => deps.inTurn(() => planAt(tip, batch)),
    pause,
    random,
    onIdle,
  })
  let batchLimit = maxBatch
  let failures = 0
  let stepBeganMs = 0
  /** When the first of the open writes is overdue. */
  let nextEndMs = Number.POSITIVE_INFINITY
  const handOver = createHandOver(queue, store, deps.nowMs)
  let refusals = noRefusals
  /** The branch is gone; that of `HEAD` may have another name by now. */
  let lostBranch: GitError | undefined
  let cacheRenewedAtMs = Number.NEGATIVE_INFINITY
  /** By task. */
  const tries = new Map<string, Tries>()
  const triesOf = ({ taskId }: OpenWrite) => tries.get(taskId) ?? untried

  /** Works until nothing is open, or everything waits for the tracer. */
  async function run(): Promise<void> {
    refusals = noRefusals
    while (deps.canContinue(queue)) {
      const step = await deps.inTurn(nextStep)
      if (step.kind === 'stop') return
      if (step.afterMs > 0) await deps.pause(step.afterMs)
    }
  }

  async function nextStep(): Promise<Step> {
    if (!(await recordLookups())) return stop
    const writes = await store.openWrites(queue, maxBatch)
    if (writes.length === 0) {
      tries.clear()
      return stop
    }
    stepBeganMs = deps.nowMs()
    try {
      if (!(await settle(writes))) return stop
      const open = writes.filter((write) => !isOverdue(write) && !isAbandoned(write))
      const seconds = open.flatMap(({ isWanted, secondsLeft }) => (isWanted ? [secondsLeft - marginSeconds] : []))
      nextEndMs = stepBeganMs + Math.min(...seconds) * 1_000
      endCommandsWith(open)
      if (open.length > 0 && (branch === defaultBranch || lostBranch !== undefined))
        return await moveToDefaultBranch(open)
      const ready = await readyWrites(open)
      if (ready === undefined) return stop
      const batch = nextBatch(ready.writes)
      if (batch.length > 0) return await pushBatch(batch, ready.tip)
      return open.length === 0 ? again : waitForTracer()
    } catch (error) {
      if (error instanceof GitError) return handleFailure(error, writes)
      throw error
    }
  }

  /** A write whose deadline comes before the next sweep is ended in time all the same. */
  function waitForTracer(): Step {
    const leftMs = nextEndMs - deps.nowMs()
    if (leftMs > 0 && leftMs < sweepMs) void deps.pause(leftMs).then(deps.onReady)
    return stop
  }

  async function recordLookups(): Promise<boolean> {
    const { results, absent, failure } = tracer.take()
    if (!(await record(results))) return false
    await store.queueAgain(queue, absent)
    if (failure === undefined) return true
    if (!(failure.error instanceof GitError)) throw failure.error
    deps.onEvents(await store.recordReason(queue, failure.taskIds, failure.error.message))
    return true
  }

  function isOverdue(write: OpenWrite): boolean {
    return write.isWanted && write.secondsLeft < marginSeconds
  }

  /** A cancelled task's push without an answer is looked for on the branch, but not for ever. */
  function isAbandoned(write: OpenWrite): boolean {
    return !write.isWanted && (write.state === 'queued' || write.secondsLeft < -maxLateSeconds)
  }

  /** Ends what needs no look at the repository. */
  async function settle(writes: readonly OpenWrite[]): Promise<boolean> {
    const dropped = writes.filter(isAbandoned).map(droppedResult)
    const overdue = writes.filter(isOverdue).map((write) => overdueResult(write, triesOf(write).cause))
    return record([...dropped, ...overdue])
  }

  /** A command that outlives the last of its tasks is of no use; what it did is told before that. */
  function endCommandsWith(writes: readonly OpenWrite[]): void {
    const secondsLeft = Math.max(...writes.filter(({ isWanted }) => isWanted).map((write) => write.secondsLeft))
    const limitMs = Number.isFinite(secondsLeft) ? (secondsLeft - marginSeconds / 2) * 1_000 : Number.POSITIVE_INFINITY
    repository.endCommandsAt(deps.nowMs() + limitMs)
  }

  /** Nothing is pushed for `HEAD`: its writes go to the branch that the host names. */
  async function moveToDefaultBranch(open: readonly OpenWrite[]): Promise<Step> {
    const name = await repository.readDefaultBranch(lostBranch === undefined ? defaultBranchHoldsMs : 0)
    if (lostBranch !== undefined && name === branch) throw lostBranch
    await store.moveToBranch(queue, idsOf(open.filter(isForDefaultBranch)), name)
    lostBranch = undefined
    failures = 0
    handOver.succeeded()
    deps.onReady()
    return (await store.owns(queue)) ? again : stop
  }

  /**
   * The writes that may be pushed now. One that was sent and not answered may be sent again while the branch still stands
   * where it was built, because the branch takes one of the two at most. Once it has moved on, the tracer has to say what
   * became of the push, and the write waits with those of its file.
   */
  async function readyWrites(open: readonly OpenWrite[]) {
    const sent = open.filter(({ state }) => state === 'pushing')
    const tip = sent.length > 0 && !tracer.isBusy() ? await repository.readTip('fresh') : undefined
    const unknown = sent.filter(({ base }) => base !== tip?.commit)
    const mayYetArrive = sent.filter(({ base, isWanted }) => !isWanted && base === tip?.commit)
    if (tip !== undefined && unknown.length > 0) tracer.begin(unknown, tip)
    else if (mayYetArrive.length > 0) tracer.retryLater()
    const late = mayYetArrive.filter(({ secondsLeft }) => secondsLeft < 0)
    if (!(await record(late.map(droppedResult)))) return undefined
    const waiting = new Set(unknown)
    const files = new Set(unknown.filter(({ isWanted }) => isWanted).map(({ plan }) => plan.file))
    const writes = open.filter((write) => write.isWanted && !waiting.has(write) && !files.has(write.plan.file))
    return { writes, tip }
  }

  /** The writes of one file stay in order; those of files whose pushes had no answer come after all others. */
  function nextBatch(ready: readonly OpenWrite[]): readonly OpenWrite[] {
    const byFile = Map.groupBy(ready, ({ plan }) => plan.file)
    if (refusals.inARow === maxRefusals) return ready.filter(isUnsent)
    if (refusals.inARow > 0) {
      const oldest = [...byFile.values()].flatMap(([first]) => first ?? [])
      return oldest.slice(Math.floor((oldest.length * refusals.inARow) / maxRefusals)).slice(0, 1)
    }
    const unanswered = new Map(
      [...byFile].map(([file, writes]) => [file, Math.max(...writes.map((write) => triesOf(write).unanswered))]),
    )
    const fewest = Math.min(...unanswered.values())
    return ready.filter(({ plan }) => unanswered.get(plan.file) === fewest).slice(0, batchLimit)
  }

  async function record(results: readonly WriteResult[]): Promise<boolean> {
    if (results.length === 0) return true
    const isRecorded = await store.record(queue, results)
    if (isRecorded) tell(results)
    return isRecorded
  }

  function tell(results: readonly WriteResult[]): void {
    for (const { taskId } of results) tries.delete(taskId)
    times.ended(results)
    deps.onRecorded(results)
  }

  async function planAt(tip: Tip, batch: readonly PlannedWrite[]): Promise<BatchPlan> {
    return planBatch(batch, await repository.readFiles(tip, filesToRead(batch)))
  }

  async function pushBatch(batch: readonly OpenWrite[], freshTip: Tip | undefined): Promise<Step> {
    times.began(batch)
    endCommandsWith(batch)
    let tip = freshTip ?? (await repository.readTip('known'))
    let plan = await planAt(tip, batch)
    // a remembered tip is good enough to push onto, the push itself checks it; it is not to conclude anything from
    if (!tip.isFresh && plan.unchanged.length + plan.refused.length > 0) {
      const fresh = await repository.readTip('fresh')
      if (fresh.commit !== tip.commit) plan = await planAt(fresh, batch)
      tip = fresh
    }
    if (!(await record(resultsOf(plan, tip, batch)))) return stop
    if (plan.commits.length === 0) {
      handOver.succeeded()
      return again
    }
    const committed = new Map(plan.commits.map(({ taskId, commit }) => [taskId, commit]))
    const writes = batch.filter(({ taskId }) => committed.has(taskId))
    const outcome = await repository.push(tip, [...committed.values()], () => beginPush(tip, writes))
    return afterPush(outcome, tip, writes)
  }

  /** A push that is cut off has no answer: where the reason why the last one failed is known, none begins so late. */
  function msLeftIfTooLate(writes: readonly OpenWrite[]): number | undefined {
    const lastEndMs = stepBeganMs + (Math.max(...writes.map(({ secondsLeft }) => secondsLeft)) - marginSeconds) * 1_000
    const leftMs = Math.max(0, lastEndMs - deps.nowMs())
    return leftMs < minTryMs && writes.every(({ lastReason }) => lastReason !== undefined) ? leftMs : undefined
  }

  async function beginPush(tip: Tip, writes: readonly OpenWrite[]): Promise<boolean> {
    if (msLeftIfTooLate(writes) !== undefined) return false
    const begun = await store.beginPush(queue, tip.commit, idsOf(writes))
    if (begun.size === writes.length && deps.canContinue(queue)) return true
    await queueUnsent(writes.filter(({ taskId }) => begun.has(taskId)))
    return false
  }

  /** An earlier push of the others had no answer, and may still arrive. */
  const queueUnsent = (writes: readonly OpenWrite[]) =>
    store.queueAgain(queue, idsOf(writes.filter(({ state }) => state === 'queued')))

  function resultsOf(plan: BatchPlan, tip: Tip, batch: readonly OpenWrite[]): readonly WriteResult[] {
    const unchanged = new Set(plan.unchanged)
    const refused = new Map(plan.refused.map(({ taskId, reason }) => [taskId, reason]))
    return batch.flatMap((write) => {
      if (unchanged.has(write.taskId)) return [unchangedResult(write, tip.commit, branch)]
      const reason = refused.get(write.taskId)
      return reason === undefined ? [] : [refusedResult(write, 'override_file_invalid', reason)]
    })
  }

  async function afterPush(outcome: PushOutcome, tip: Tip, writes: readonly OpenWrite[]): Promise<Step> {
    switch (outcome.kind) {
      case 'pushed':
        return afterLanding(outcome.commits, tip, writes)
      case 'lost_race':
        return afterLostRace(outcome.reason, tip, writes)
      case 'withdrawn':
        return (await store.owns(queue)) ? { kind: 'again', afterMs: msLeftIfTooLate(writes) ?? 0 } : stop
      case 'refused':
        return afterRefusal(outcome.reason, tip, writes)
      case 'not_sent':
        await queueUnsent(writes)
        return handleFailure(outcome.error, writes)
      case 'unknown':
        note(writes, ({ unanswered }) => ({ unanswered: unanswered + 1, cause: 'git_unreachable' }))
        batchLimit = Math.max(1, Math.floor(writes.length / 2))
        return waitAfter(outcome.reason, writes)
    }
  }

  function note(writes: readonly OpenWrite[], changes: (tried: Tries) => Partial<Tries>): void {
    for (const write of writes) tries.set(write.taskId, { ...triesOf(write), ...changes(triesOf(write)) })
  }

  async function afterLanding(commits: readonly string[], tip: Tip, writes: readonly OpenWrite[]): Promise<Step> {
    handOver.succeeded()
    history.recordPush(queue.address, tip.commit, commits)
    measures.pushed(commits.length)
    const results = writes.map((write, at) => {
      const { losses } = triesOf(write)
      const note = losses === 0 ? '' : `, at try ${losses + 1}`
      return landedResult(write, commits[at] ?? '', branch, note)
    })
    failures = 0
    refusals = noRefusals
    batchLimit = Math.min(maxBatch, batchLimit * 2)
    if (await record(results)) return again
    await store.recordLatePush(results)
    tell(results)
    return stop
  }

  /** A host that could not move the branch, which still is where it was, reports the same as a lost race. */
  async function afterLostRace(reason: string, tip: Tip, writes: readonly OpenWrite[]): Promise<Step> {
    await queueUnsent(writes)
    const { commit } = await repository.readTip('fresh')
    if (commit === tip.commit) return waitAfter(reason, writes)
    note(writes, ({ losses }) => ({ losses: losses + 1, cause: 'git_unreachable' }))
    for (const [losses, lost] of Map.groupBy(writes, (write) => triesOf(write).losses)) {
      const races = losses === 1 ? '1 push race' : `${losses} push races`
      await store.keepReason(queue, idsOf(lost), `lost ${races}`)
    }
    batchLimit = Math.max(1, Math.floor(writes.length / 2))
    const losses = Math.max(...writes.map((write) => triesOf(write).losses))
    return { kind: 'again', afterMs: losses <= 3 ? 0 : deps.random() * Math.min(50 * losses, 1_000) }
  }

  /**
   * One bad commit must not fail the others of its push: they are tried one by one then, from all over the queue. When
   * enough of them are refused in the same words, and the rest together too, the host refuses the branch.
   */
  async function afterRefusal(reason: string, tip: Tip, writes: readonly OpenWrite[]): Promise<Step> {
    await queueUnsent(writes)
    const wereSentBefore = writes.some(({ state }) => state === 'pushing')
    // the push before this one, which had no answer, may have arrived meanwhile: the tracer looks for it
    if (wereSentBefore && (await repository.readTip('fresh')).commit !== tip.commit) return again
    batchLimit = 1
    const words = reason.replace(/[0-9a-f]{7,}|\d+/g, '')
    const isSame = words === refusals.words
    const wereRest = refusals.inARow === maxRefusals
    const isOver = writes.length === 1 || (wereRest && isSame)
    if (wereRest || !isOver) refusals = noRefusals
    else refusals = { words, inARow: isSame ? refusals.inARow + 1 : 1 }
    const refused = isOver ? writes : []
    return (await record(refused.map((write) => refusedResult(write, causeOfRejection(reason), reason)))) ? again : stop
  }

  /** A cache that may be damaged is thrown away; what will not pass ends all tasks; anything else is tried again. */
  async function handleFailure(error: GitError, writes: readonly OpenWrite[]): Promise<Step> {
    const isNameKnown = branch === defaultBranch || lostBranch !== undefined
    lostBranch = undefined
    if (error.code === 'broken' && deps.nowMs() - cacheRenewedAtMs > minCacheAgeMs) {
      cacheRenewedAtMs = deps.nowMs()
      await repository.discardCache()
      return again
    }
    if (error.retry === 'soon') return waitOrHandOver(error, writes)
    const cause = causeOfFailure[error.code]
    const open = await store.openWrites(queue, maxBatch) // more may have come since, and from `HEAD`
    if (error.code === 'branch_missing' && !isNameKnown && open.some(isForDefaultBranch)) {
      lostBranch = error
      return again
    }
    const results = open.map((write) =>
      write.isWanted ? refusedResult(write, cause, error.message) : droppedResult(write),
    )
    return (await record(results)) ? again : stop
  }

  async function waitOrHandOver(error: GitError, writes: readonly OpenWrite[]): Promise<Step> {
    note(writes, () => ({ cause: causeOfFailure[error.code] }))
    const ending = await handOver.failed(error, stepBeganMs, writes)
    if (ending === 'handed_over') return stop
    const results = ending.map((write) => refusedResult(write, causeOfFailure[error.code], error.message))
    // what the end of the task cut off says less than what was told before
    const isCutOff = error.code === 'timed_out' && deps.nowMs() > nextEndMs
    const told = isCutOff ? writes.filter(({ lastReason }) => lastReason === undefined) : writes
    return (await record(results)) ? waitAfter(error.message, told) : stop
  }

  async function waitAfter(reason: string, writes: readonly OpenWrite[]): Promise<Step> {
    failures += 1
    deps.onEvents(await store.recordReason(queue, idsOf(writes), reason))
    const leftMs = Math.max(0, nextEndMs - deps.nowMs())
    const pauseMs = retryPauseMs(failures, deps.random)
    // a push that begins later is cut off, and whether it arrived would not be known
    return { kind: 'again', afterMs: pauseMs > leftMs - minTryMs ? leftMs : pauseMs }
  }

  return { run }
}

export type RepositoryWriter = ReturnType<typeof createRepositoryWriter>

const idsOf = (writes: readonly OpenWrite[]): readonly string[] => writes.map(({ taskId }) => taskId)

const isForDefaultBranch = ({ plan }: OpenWrite): boolean => plan.branch === defaultBranch

const isUnsent = ({ isWanted, state }: OpenWrite): boolean => isWanted && state === 'queued'
