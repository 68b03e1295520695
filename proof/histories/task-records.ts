import type { Claim, TaskResult } from '../../server/deployments/task.ts'
import { rolloutTimes } from '../../server/rollout/judge/input/rollout-settings.ts'
import type { Baseline, WatchedTask } from '../../server/rollout/judge/input/watched-task.ts'
import type { WriteBackOutcome } from '../../server/write-back/plan/write-back-outcome.ts'
import type { ClockSide } from './history-clock.ts'
import type { TaskScript } from './history-script.ts'

/** What the database would hold of one task. */
export type TaskRow = {
  readonly id: string
  readonly script: TaskScript
  readonly acceptedAtMs: number
  /** Whether it may commit, its application is one to commit for, and there is time left for it. */
  writes: boolean
  readonly task: Omit<WatchedTask, 'claim' | 'baseline' | 'writeBackOutcome'>
  fence: number
  baseline: Baseline | undefined
  writeBackOutcome: WriteBackOutcome | undefined
  end: TaskResult | undefined
  /** When its owner decided; the record may have to wait. */
  decidedAtMs: number | undefined
  endedAtMs: number | undefined
  /** Whether an owner knows that its end is written: from then on it has nothing to say. */
  isEndKnown: boolean
}

export class RecordsDownError extends Error {
  override readonly name = 'RecordsDownError'
}

type RecordsDeps = {
  readonly clock: ClockSide
  readonly random: () => number
  readonly isDown: () => boolean
  onViolation(text: string): void
}

/** Tasks in memory, with the rule of the real ones: a write whose claim is gone, or whose task is over, changes nothing. */
export function createTaskRecords({ clock, random, isDown, onViolation }: RecordsDeps) {
  const rows = new Map<string, TaskRow>()

  /** The answer may get lost after the write was done. */
  const write = async (claim: Claim, change: (row: TaskRow) => void): Promise<boolean> => {
    await new Promise<void>((resolve) => void clock.setTimer(1 + random() * 8, resolve))
    const isLost = isDown()
    if (isLost && random() < 0.5) throw new RecordsDownError('the connection was closed')
    const row = rows.get(claim.taskId)
    if (row === undefined) return false
    const isHeld = claim.fence === String(row.fence)
    if (isHeld && row.isEndKnown) onViolation(`task ${row.id} was written to after its end was known`)
    const isDone = isHeld && row.end === undefined
    if (isDone) change(row)
    if (isLost) throw new RecordsDownError('the connection was closed')
    return isDone
  }

  return {
    rows,
    saveProgress: (claim: Claim, { baseline }: { readonly baseline?: Baseline }) =>
      write(claim, (row) => {
        row.baseline = baseline ?? row.baseline
      }),
    async finish(claim: Claim, end: TaskResult): Promise<boolean> {
      const row = rows.get(claim.taskId)
      if (row !== undefined && claim.fence === String(row.fence)) row.decidedAtMs ??= clock.nowMs()
      const isDone = await write(claim, (held) => {
        held.end = end
        held.endedAtMs = clock.nowMs()
      })
      if (isDone && row !== undefined) row.isEndKnown = true
      return isDone
    },
    /** A newer task ends this one, whoever watches it. */
    supersede(row: TaskRow): void {
      if (row.end !== undefined) return
      row.end = { status: 'cancelled', cause: 'superseded', reason: 'superseded by a newer task' }
      row.decidedAtMs = clock.nowMs()
      row.endedAtMs = clock.nowMs()
    },
    isHeld: (claim: Claim) => String(rows.get(claim.taskId)?.fence) === claim.fence,
    unfinished: (): readonly TaskRow[] => [...rows.values()].filter(({ end }) => end === undefined),
  }
}

export type TaskRecords = ReturnType<typeof createTaskRecords>

/** The task as an owner gets it that claims it then. */
export function claimed(row: TaskRow, nowMs: number): WatchedTask {
  const claim = { taskId: row.id, owner: 'replica', fence: String(row.fence) }
  const isOverdue = row.task.deadlineMs <= nowMs
  if (isOverdue && row.writeBackOutcome === undefined) row.writes = false
  const deadlineMs = isOverdue ? nowMs + rolloutTimes.overdueCheckMs : row.task.deadlineMs
  return { ...row.task, deadlineMs, isOverdue, claim, baseline: row.baseline, writeBackOutcome: row.writeBackOutcome }
}
