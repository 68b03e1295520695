import { type BranchMemory, type OpenWrite, type Outcome, triesOf } from '../decide/branch-memory.ts'
import { isTooLate } from '../decide/next-step.ts'
import { landedResult, refusedResult, unchangedResult, type WriteResult } from '../decide/write-result.ts'
import type { CommitHistory } from '../git/history/commit-history.ts'
import type { GitRepository, PushOutcome, Tip } from '../git/push/git-repository.ts'
import type { PendingWriteStore, ReplacedByTask, WriteQueue } from './pending-write-store.ts'
import { type BatchPlan, filesToRead, planBatch } from './plan-batch.ts'

type PushDeps = {
  readonly store: PendingWriteStore
  readonly history: Pick<CommitHistory, 'recordPush'>
  readonly canContinue: (queue: WriteQueue) => boolean
  readonly measures: { pushed(commits: number): void }
  readonly nowMs: () => number
  /** False: another replica owns the repository now. */
  readonly record: (results: readonly WriteResult[]) => Promise<boolean>
  readonly publish: (results: readonly WriteResult[]) => void
}

type Batch = {
  readonly batch: readonly OpenWrite[]
  readonly readAtMs: number
  readonly memory: BranchMemory
  /** Where the branch must be, if it has to be at one commit. */
  readonly tip: string | undefined
}

/**
 * Edits the files of a batch and pushes a commit for each change.
 * @returns the outcome; undefined: another replica owns the repository now
 */
export async function pushBatch(
  queue: WriteQueue,
  repository: GitRepository,
  deps: PushDeps,
  { batch, readAtMs, memory, tip: wantedTip }: Batch,
): Promise<Outcome | undefined> {
  const { store, record, nowMs } = deps

  /** The push itself checks a remembered tip; that a file needs no change is concluded from a fresh one only. */
  async function planOnTip(): Promise<{ tip: Tip; plan: BatchPlan }> {
    const planAt = async (tip: Tip) => planBatch(batch, await repository.readFiles(tip, filesToRead(batch)))
    const tip = await repository.readTip('known')
    const plan = await planAt(tip)
    if (tip.isFresh || plan.unchanged.length + plan.refused.length === 0) return { tip, plan }
    const fresh = await repository.readTip('fresh')
    return { tip: fresh, plan: fresh.commit === tip.commit ? plan : await planAt(fresh) }
  }

  /** An earlier push of the others had no answer, and may still arrive. */
  const queueUnsent = (writes: readonly OpenWrite[]) =>
    store.queueAgain(queue, idsOf(writes.filter(({ state }) => state === 'queued')))

  async function mayStillPush(writes: readonly OpenWrite[], tip: Tip, replaced: ReplacedByTask): Promise<boolean> {
    if (isTooLate(writes, memory, readAtMs, nowMs())) return false
    const begun = await store.beginPush(queue, tip.commit, idsOf(writes), replaced)
    if (begun.size === writes.length && deps.canContinue(queue)) return true
    await queueUnsent(writes.filter(({ taskId }) => begun.has(taskId)))
    return false
  }

  async function afterPush(outcome: PushOutcome, writes: readonly OpenWrite[], tip: Tip): Promise<Outcome | undefined> {
    switch (outcome.kind) {
      case 'pushed':
        return recordLanding(outcome.commits, writes, tip)
      case 'withdrawn':
        return (await store.owns(queue)) ? { kind: 'withdrawn' } : undefined
      case 'unknown':
        return { kind: 'unanswered', writes, reason: outcome.reason }
    }
    await queueUnsent(writes)
    if (outcome.kind === 'refused') return { kind: 'refused', writes, reason: outcome.reason }
    if (outcome.kind === 'not_sent')
      return { kind: 'failed', error: outcome.error, writes, readAtMs, failedAtMs: nowMs(), wasMoving: false }
    // a host that could not move the branch reports the same as a lost race
    const isWhereItWas = (await repository.readTip('fresh')).commit === tip.commit
    return isWhereItWas ? { kind: 'stuck', writes, reason: outcome.reason } : { kind: 'lost_race', writes }
  }

  async function recordLanding(commits: readonly string[], writes: readonly OpenWrite[], tip: Tip) {
    deps.history.recordPush(queue.address, tip.commit, commits)
    deps.measures.pushed(commits.length)
    const results = writes.map((write, at) => {
      const { losses } = triesOf(memory, write)
      return landedResult(write, commits[at] ?? '', queue.branch, losses === 0 ? '' : `, at try ${losses + 1}`)
    })
    if (await record(results)) return { kind: 'landed' as const, writes }
    await store.recordLatePush(results)
    deps.publish(results)
    return undefined
  }

  const { tip, plan } = await planOnTip()
  if (wantedTip !== undefined && tip.commit !== wantedTip) return { kind: 'withdrawn' }
  if (!(await record(resultsOf(plan, batch, tip.commit, queue.branch)))) return undefined
  if (plan.commits.length === 0) return { kind: 'read' }
  const commits = new Map(plan.commits.map(({ taskId, commit }) => [taskId, commit]))
  const writes = batch.filter(({ taskId }) => commits.has(taskId))
  const outcome = await repository.push(tip, [...commits.values()], () => mayStillPush(writes, tip, replacedBy(plan)))
  return afterPush(outcome, writes, tip)
}

const replacedBy = ({ commits }: BatchPlan): ReplacedByTask =>
  Object.fromEntries(
    commits.map(({ taskId, replaced }) => [
      taskId,
      Object.fromEntries([...replaced].map(([name, value]) => [name, value ?? null])),
    ]),
  )

/** What is over without a push. */
function resultsOf(plan: BatchPlan, batch: readonly OpenWrite[], tip: string, branch: string): readonly WriteResult[] {
  const unchanged = new Set(plan.unchanged)
  const refused = new Map(plan.refused.map((refusal) => [refusal.taskId, refusal]))
  return batch.flatMap((write) => {
    if (unchanged.has(write.taskId)) return [unchangedResult(write, tip, branch)]
    const refusal = refused.get(write.taskId)
    return refusal === undefined ? [] : [refusedResult(write, refusal.cause, refusal.reason)]
  })
}

const idsOf = (writes: readonly OpenWrite[]): readonly string[] => writes.map(({ taskId }) => taskId)
