import type { Cause } from '../../../contract/causes.ts'
import type { NewTaskEvent } from '../../timeline/task-event.ts'
import type { WriteBackPlan } from '../plan/plan-write-back.ts'
import type { WriteBackOutcome } from '../plan/write-back-outcome.ts'

/** What the owner of its repository learned of a task's write. */
export type WriteResult = {
  readonly taskId: string
  readonly outcome: WriteBackOutcome
  readonly events: readonly NewTaskEvent[]
}

/** `note` goes into the timeline, behind what was found. The repository is named as the application spells it. */
export function writtenResult(
  { taskId, plan: { repository } }: { readonly taskId: string; readonly plan: WriteBackPlan },
  kind: 'landed' | 'unchanged',
  commit: string,
  branch: string,
  note = '',
): WriteResult {
  const detail =
    kind === 'landed'
      ? `commit ${commit} pushed to ${branch}${note}`
      : `${branch} has the tags already, at commit ${commit}${note}`
  return {
    taskId,
    outcome: { kind, commit, repository, branch },
    events: [{ kind: kind === 'landed' ? 'commit_pushed' : 'commit_unchanged', detail }],
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
    events: [{ kind: 'write_back_skipped', detail: reason }],
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
