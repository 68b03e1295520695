import type { CommitHistory } from '../git/commit-history.ts'
import { GitError } from '../git/git-error.ts'
import type { GitRepository, PushOutcome, Tip } from '../git/git-repository.ts'
import { taskTrailer } from '../plan/commit-message.ts'
import type { OpenWrite, PendingWriteStore, RepositoryClaim } from './pending-write-store.ts'
import { type FlushPlan, filesToRead, type PlannedWrite, planFlush } from './plan-flush.ts'
import { createWriteBackTimes, type WriteBackMeasures } from './write-back-times.ts'
import { droppedFinding, overdueFinding, refusedFinding, type WriteResult, writtenFinding } from './write-result.ts'

export type DrainDeps = {
  readonly store: PendingWriteStore
  readonly history: CommitHistory
  /** False once the replica may own nothing any more, or is closing. */
  readonly canContinue: (claim: RepositoryClaim) => boolean
  /** Limits how many turns run on one host at once. */
  readonly inSlot: (work: () => Promise<Turn>) => Promise<Turn>
  readonly onRecorded: (findings: readonly WriteResult[]) => void
  readonly onEvents: (taskIds: readonly string[]) => void
  readonly measures: WriteBackMeasures
  readonly nowMs: () => number
  readonly pause: (ms: number) => Promise<void>
  readonly random: () => number
}

/** What to do after one turn: look at the queue again, perhaps after a while, or stop. */
export type Turn = { readonly kind: 'again'; readonly afterMs: number } | { readonly kind: 'stop' }

const maxBatch = 500
/** A task whose time is nearly over gets its true reason instead of a bare time-out. */
const marginSeconds = 2
const lateWindowSeconds = 600

const again: Turn = { kind: 'again', afterMs: 0 }
const stop: Turn = { kind: 'stop' }

/** Writes back to one branch of one repository, one push at a time, for as long as this replica owns it. */
export function createRepositoryWriter(claim: RepositoryClaim, repository: GitRepository, deps: DrainDeps) {
  const { store, history, measures } = deps
  const times = createWriteBackTimes(measures, deps.nowMs)
  let batchLimit = maxBatch
  let losses = 0
  let failures = 0
  let isCacheRenewed = false
  let lastReason = ''
  /** Who has heard the last reason. */
  const told = new Set<string>()

  /** Works until nothing is open. */
  async function run(): Promise<void> {
    while (deps.canContinue(claim)) {
      const turn = await deps.inSlot(acquireLease)
      if (turn.kind === 'stop') return
      if (turn.afterMs > 0) await deps.pause(turn.afterMs)
    }
  }

  async function acquireLease(): Promise<Turn> {
    const writes = await store.openWrites(claim, maxBatch)
    if (writes.length === 0) return stop
    try {
      if (!(await settleOverdue(writes))) return stop
      const unknown = writes.filter((write) => write.state === 'pushing' && !isOverdue(write) && !isAbandoned(write))
      if (unknown.length > 0) return (await resolveUnknown(unknown)) ? again : stop
      const batch = writes.filter((write) => write.isWanted && !isOverdue(write)).slice(0, batchLimit)
      return batch.length === 0 ? again : await flush(batch)
    } catch (error) {
      if (error instanceof GitError) return handleFailure(error, writes)
      throw error
    }
  }

  function isOverdue(write: OpenWrite): boolean {
    return write.isWanted && write.secondsLeft < marginSeconds
  }

  /** A cancelled task's push without an answer is looked for on the branch, but not for ever. */
  function isAbandoned(write: OpenWrite): boolean {
    return !write.isWanted && (write.state === 'queued' || write.secondsLeft < -lateWindowSeconds)
  }

  /** Ends what needs no look at the repository. */
  async function settleOverdue(writes: readonly OpenWrite[]): Promise<boolean> {
    const dropped = writes.filter(isAbandoned).map(droppedFinding)
    const overdue = writes.filter(isOverdue).map((write) => overdueFinding(write, lastReason))
    return record([...dropped, ...overdue])
  }

  async function record(findings: readonly WriteResult[], branch = claim.branch): Promise<boolean> {
    if (findings.length === 0) return true
    const isRecorded = await store.record(claim, branch, findings)
    if (!isRecorded) return false
    times.ended(findings)
    deps.onRecorded(findings)
    return true
  }

  async function planAt(tip: Tip, batch: readonly PlannedWrite[]): Promise<FlushPlan> {
    return planFlush(batch, await repository.readFiles(tip, filesToRead(batch)))
  }

  async function flush(batch: readonly OpenWrite[]): Promise<Turn> {
    times.began(batch)
    let tip = await repository.readTip('known')
    let plan = await planAt(tip, batch)
    // a remembered tip is good enough to push onto, the push itself checks it; it is not to conclude anything from
    if (!tip.isFresh && plan.unchanged.length + plan.refused.length > 0) {
      tip = await repository.readTip('fresh')
      plan = await planAt(tip, batch)
    }
    if (!(await record(findingsOf(plan, tip), tip.branch))) return stop
    if (plan.commits.length === 0) return again
    const taskIds = plan.commits.map(({ taskId }) => taskId)
    const outcome = await repository.push(
      tip,
      plan.commits.map(({ commit }) => commit),
      () => beginPush(tip, taskIds),
    )
    return afterPush(outcome, tip, taskIds, batch)
  }

  async function beginPush(tip: Tip, taskIds: readonly string[]): Promise<boolean> {
    const begun = await store.beginPush(claim, tip.commit, taskIds)
    if (begun.size === taskIds.length && deps.canContinue(claim)) return true
    await store.queueAgain(claim, [...begun])
    return false
  }

  const placeOf = ({ branch }: Tip) => ({ repository: claim.repository, branch })

  function findingsOf(plan: FlushPlan, tip: Tip): readonly WriteResult[] {
    return [
      ...plan.unchanged.map((taskId) => writtenFinding(taskId, 'unchanged', tip.commit, placeOf(tip))),
      ...plan.refused.map(({ taskId, reason }) => refusedFinding(taskId, 'override_file_invalid', reason)),
    ]
  }

  async function afterPush(
    outcome: PushOutcome,
    tip: Tip,
    taskIds: readonly string[],
    batch: readonly OpenWrite[],
  ): Promise<Turn> {
    switch (outcome.kind) {
      case 'pushed':
        return afterLanding(outcome, tip, taskIds)
      case 'lost_race':
        await store.queueAgain(claim, taskIds)
        losses += 1
        batchLimit = Math.max(1, Math.floor(taskIds.length / 2))
        return { kind: 'again', afterMs: losses <= 3 ? 0 : deps.random() * Math.min(50 * losses, 1_000) }
      case 'withdrawn':
        return (await store.owns(claim)) ? again : stop
      case 'refused':
        return afterRefusal(outcome.reason, taskIds)
      case 'not_sent':
        await store.queueAgain(claim, taskIds)
        return handleFailure(outcome.error, batch)
      case 'unknown':
        return waitAfter(outcome.reason, batch)
    }
  }

  async function afterLanding(
    { commits }: Extract<PushOutcome, { kind: 'pushed' }>,
    tip: Tip,
    taskIds: readonly string[],
  ): Promise<Turn> {
    history.recordPush(claim.repository, tip.commit, commits)
    measures.pushed(commits.length)
    const tries = losses === 0 ? '' : `, at try ${losses + 1}`
    const findings = taskIds.map((taskId, at) =>
      writtenFinding(taskId, 'landed', commits[at] ?? '', placeOf(tip), tries),
    )
    losses = 0
    failures = 0
    lastReason = ''
    isCacheRenewed = false
    batchLimit = Math.min(maxBatch, batchLimit * 2)
    return (await record(findings, tip.branch)) ? again : stop
  }

  /** One bad commit must not fail the others of its push: they are tried one by one then. */
  async function afterRefusal(reason: string, taskIds: readonly string[]): Promise<Turn> {
    await store.queueAgain(claim, taskIds)
    batchLimit = 1
    const [only] = taskIds
    if (only === undefined || taskIds.length > 1) return again
    const text = `the Git host refused the commit: ${reason}`
    return (await record([refusedFinding(only, 'git_refused', text)])) ? again : stop
  }

  /** A damaged cache is thrown away once; what will not pass ends all tasks; anything else is tried again. */
  async function handleFailure(error: GitError, writes: readonly OpenWrite[]): Promise<Turn> {
    if (error.code === 'broken' && !isCacheRenewed) {
      isCacheRenewed = true
      await repository.discardCache()
      return again
    }
    if (error.retry === 'soon') return waitAfter(error.message, writes)
    const cause = error.code === 'branch_missing' ? 'not_followed' : 'git_refused'
    const open = await store.openWrites(claim, maxBatch)
    return (await record(open.map(({ taskId }) => refusedFinding(taskId, cause, error.message)))) ? again : stop
  }

  async function waitAfter(reason: string, writes: readonly OpenWrite[]): Promise<Turn> {
    failures += 1
    await tellReason(reason, writes)
    isCacheRenewed = false
    const backoffMs = Math.min(4_000, 125 * 2 ** failures) * (0.75 + deps.random() / 2)
    const untilMs = Math.min(...writes.map(({ secondsLeft }) => (secondsLeft - marginSeconds) * 1_000))
    return { kind: 'again', afterMs: untilMs > 0 ? Math.min(backoffMs, untilMs) : backoffMs }
  }

  /** Each task hears each reason once, also one that was queued after the others had heard it. */
  async function tellReason(reason: string, writes: readonly OpenWrite[]): Promise<void> {
    if (reason !== lastReason) told.clear()
    lastReason = reason
    const taskIds = writes.map(({ taskId }) => taskId).filter((taskId) => !told.has(taskId))
    if (taskIds.length === 0) return
    await store.appendEvents(taskIds, { kind: 'write_back_retry', detail: reason })
    for (const taskId of taskIds) told.add(taskId)
    deps.onEvents(taskIds)
  }

  /** For pushes without an answer: ours that broke off, or those of an owner that died. */
  async function resolveUnknown(writes: readonly OpenWrite[]): Promise<boolean> {
    const tip = await repository.readTip('fresh')
    const trailers = rememberingTrailers(tip)
    for (const write of writes) {
      const landed = (await trailers(write.base)).get(write.taskId)
      if (landed !== undefined && !write.isWanted && !(await repair(write, landed, tip))) continue
      const finding = landed === undefined ? await judgeWithoutTrailer(write, tip) : landedFinding(write, landed, tip)
      if (finding === 'push again') await store.queueAgain(claim, [write.taskId])
      else if (!(await record([finding], tip.branch))) return false
    }
    failures = 0
    return true
  }

  function landedFinding(write: OpenWrite, commit: string, tip: Tip): WriteResult {
    const note = ', found on the branch after its push had no answer'
    return writtenFinding(write.taskId, 'landed', commit, placeOf(tip), note)
  }

  /** The trailers since a push was begun; the writes of one push share their base. */
  function rememberingTrailers(tip: Tip) {
    const read = new Map<string, Promise<ReadonlyMap<string, string>>>()
    return async (base: string | undefined): Promise<ReadonlyMap<string, string>> => {
      if (base === undefined || base === tip.commit) return new Map()
      const reading = read.get(base) ?? history.trailersBetween(claim.repository, base, tip.commit)
      read.set(base, reading)
      return reading
    }
  }

  async function judgeWithoutTrailer(write: OpenWrite, tip: Tip): Promise<WriteResult | 'push again'> {
    if (!write.isWanted) return droppedFinding(write)
    const plan = await planAt(tip, [write])
    if (plan.unchanged.length === 0 || (await store.hasNewerTask(write.taskId))) return 'push again'
    const commit = (await history.lastChange(claim.repository, tip.commit, write.plan.file)) ?? tip.commit
    return writtenFinding(write.taskId, 'unchanged', commit, placeOf(tip))
  }

  /** Looks for commits of cancelled tasks that arrived late, after their push had been given up. */
  async function repairLate(): Promise<void> {
    const late = await store.lateWrites(claim, lateWindowSeconds)
    if (late.length === 0 || !deps.canContinue(claim)) return
    const tip = await repository.readTip('fresh')
    const trailers = rememberingTrailers(tip)
    for (const write of late) {
      const landed = (await trailers(write.base)).get(write.taskId)
      if (landed === undefined || !(await repair(write, landed, tip))) continue
      await record(
        [writtenFinding(write.taskId, 'landed', landed, placeOf(tip), ' after the task had been cancelled')],
        tip.branch,
      )
    }
  }

  /**
   * Puts the tag of the newest accepted task on top of a cancelled task's commit, if that commit is still the last word on
   * the file: a commit of anybody else is never undone. False: another writer came between, look again.
   */
  async function repair(late: PlannedWrite, commit: string, tip: Tip): Promise<boolean> {
    if (!late.plan.message.includes(`${taskTrailer}: ${late.taskId}`)) return true
    if ((await history.lastChange(claim.repository, tip.commit, late.plan.file)) !== commit) return true
    const newest = await store.newestWritten(claim, late.plan.app)
    if (newest === undefined || !sharesParameter(newest.plan, late.plan)) return true
    const plan = await planAt(tip, [newest])
    if (plan.commits.length === 0) return true
    const outcome = await repository.push(
      tip,
      plan.commits.map((planned) => planned.commit),
      () => store.owns(claim),
    )
    if (outcome.kind !== 'pushed') return false
    history.recordPush(claim.repository, tip.commit, outcome.commits)
    const note = ` again, on top of commit ${commit} of a cancelled task`
    await record([writtenFinding(newest.taskId, 'landed', outcome.commits[0] ?? '', placeOf(tip), note)], tip.branch)
    return true
  }

  return { run, repairLate }
}

export type RepositoryWriter = ReturnType<typeof createRepositoryWriter>

function sharesParameter(one: PlannedWrite['plan'], other: PlannedWrite['plan']): boolean {
  return (
    one.file === other.file && one.parameters.some(({ name }) => other.parameters.some((entry) => entry.name === name))
  )
}
