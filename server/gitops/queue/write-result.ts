import type { Cause } from '../../../contract/causes.ts'
import type { NewTaskEvent } from '../../timeline/task-event.ts'
import type { WriteBackOutcome } from '../plan/write-back-outcome.ts'

/** What the drainer learned of a task's write. */
export type WriteResult = {
  readonly taskId: string
  readonly outcome: WriteBackOutcome
  readonly events: readonly NewTaskEvent[]
}

/** The branch that an outcome is about. */
type Place = { readonly repository: string; readonly branch: string }

/** `note` goes into the timeline, behind what was found. */
export function writtenFinding(
  taskId: string,
  kind: 'landed' | 'unchanged',
  commit: string,
  { repository, branch }: Place,
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

export function droppedFinding({ taskId }: { readonly taskId: string }): WriteResult {
  const detail = 'nothing was committed: the task was cancelled before its push'
  return { taskId, outcome: { kind: 'dropped' }, events: [{ kind: 'write_back_skipped', detail }] }
}

export function refusedFinding(taskId: string, cause: Cause, reason: string): WriteResult {
  return {
    taskId,
    outcome: { kind: 'refused', cause, reason },
    events: [{ kind: 'write_back_skipped', detail: reason }],
  }
}

/** `state` tells whether a push had been begun, `lastReason` why nothing came of it. */
export function overdueFinding(
  { taskId, state }: { readonly taskId: string; readonly state: 'queued' | 'pushing' },
  lastReason: string,
): WriteResult {
  const why = lastReason === '' ? 'still queued' : lastReason
  const what = state === 'pushing' ? 'whether the commit arrived is not known' : 'nothing was committed'
  return refusedFinding(taskId, 'git_unreachable', `${what} before the timeout: ${why}`)
}
