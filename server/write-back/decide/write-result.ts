import type { Cause } from '../../../contract/causes.ts'
import type { NewTaskEvent } from '../../timeline/task-event.ts'
import type { WriteBackPlan } from '../plan/plan-write-back.ts'
import type { WriteBackOutcome } from '../plan/write-back-outcome.ts'

/** What the owner of its repository learned of a task's write. */
export type WriteResult = {
  readonly taskId: string
  readonly outcome: WriteBackOutcome
  readonly events: readonly NewTaskEvent[]
  /** Where nothing had to be committed: what the file had already. */
  readonly found?: WriteBackPlan
}

type Write = { readonly taskId: string; readonly plan: WriteBackPlan }

/** `note` goes into the timeline, behind what was found. The repository is named as the application spells it. */
export function landedResult({ taskId, plan }: Write, commit: string, branch: string, note = ''): WriteResult {
  return {
    taskId,
    outcome: { kind: 'landed', commit, repository: plan.repository, branch },
    events: [
      { kind: 'commit_pushed', detail: `commit ${commit} pushed to ${branch}${note}`, data: { commit, branch } },
    ],
  }
}

/** `tip`: where the file has the tags. The task does not show it, as it may be another one's commit. */
export function unchangedResult({ taskId, plan }: Write, tip: string, branch: string): WriteResult {
  return {
    taskId,
    outcome: { kind: 'unchanged', commit: tip, repository: plan.repository, branch },
    events: [{ kind: 'commit_unchanged', detail: `${branch} has the tags already`, data: { branch } }],
    found: plan,
  }
}

type EndedWrite = { readonly taskId: string; readonly state: 'queued' | 'pushing' }

/** Of a task that has ended, mostly by being cancelled. */
export function droppedResult({ taskId, state }: EndedWrite): WriteResult {
  const detail =
    state === 'queued'
      ? 'nothing was committed: the task was cancelled before its push'
      : 'no commit was found on the branch: the task ended while it was pushed'
  return { taskId, outcome: { kind: 'dropped' }, events: [{ kind: 'write_back_skipped', detail }] }
}

/** A write whose push had no answer says so first. */
export function refusedResult({ taskId, state }: EndedWrite, cause: Cause, why: string): WriteResult {
  const reason = state === 'pushing' ? `whether the commit arrived is not known: ${why}` : why
  return {
    taskId,
    outcome: { kind: 'refused', cause, reason },
    events: [{ kind: 'write_back_skipped', detail: reason, data: { cause } }],
  }
}

/** `lastReason`: the last thing that happened to it; none where nothing was tried. `cause`: of that. */
export function overdueResult(
  write: EndedWrite & { readonly lastReason: string | undefined },
  cause: Cause = 'git_unreachable',
): WriteResult {
  const when = write.state === 'queued' ? 'nothing was committed before the timeout' : 'no answer before the timeout'
  return refusedResult(write, cause, `${when}: ${write.lastReason ?? 'still queued'}`)
}
