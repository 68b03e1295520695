import { isFinal } from '../../../contract/task-status.ts'
import { actorOf, type Principal } from '../../auth/access/principal.ts'
import type { Task } from '../task.ts'
import { TaskOverError } from '../task-errors.ts'
import type { EndedTask } from '../task-row.ts'
import type { OwnedTasks } from './owned-tasks.ts'

type Dependencies = {
  readonly tasks: Pick<OwnedTasks, 'cancel'> & { find(id: string): Promise<Task | undefined> }
  /** Notifies the task's watcher, after the commit. */
  readonly announce: (cancelled: EndedTask) => void
}

/**
 * Cancels an unfinished task for a caller with a credential. What was committed for it stays.
 * @throws {TaskOverError} when it has ended meanwhile
 */
export const createCancelTask =
  ({ tasks, announce }: Dependencies) =>
  async (task: Task, caller: Principal): Promise<Task> => {
    const cancelled = await tasks.cancel(task.id, actorOf(caller, task.app))
    if (cancelled) announce(cancelled)
    const now = (await tasks.find(task.id)) ?? task
    if (!cancelled && isFinal(now.status)) throw new TaskOverError(now.status)
    return now
  }
export type CancelTask = ReturnType<typeof createCancelTask>
