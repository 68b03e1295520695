import type { FastifyRequest } from 'fastify'
import type { Task } from '../task.ts'
import { TaskNotFoundError } from '../task-errors.ts'
import { parseTaskId } from '../task-id.ts'
import type { TaskReader } from './task-reader.ts'

type Dependencies = {
  readonly tasks: Pick<TaskReader, 'find'>
  /** Whether there is a task that a request may be shown; throws when its credential is not good enough. */
  readonly mayRead: (request: FastifyRequest, task: Task | undefined) => task is Task
}

/**
 * The task that a path names, if the request may be shown it.
 * @throws {TaskNotFoundError} with the id as it was written
 */
export const createRequireTask =
  ({ tasks, mayRead }: Dependencies) =>
  async (request: FastifyRequest, id: string): Promise<Task> => {
    const task = await findTask(tasks, id)
    if (!mayRead(request, task)) throw new TaskNotFoundError(id)
    return task
  }
export type RequireTask = ReturnType<typeof createRequireTask>

export async function findTask(tasks: Pick<TaskReader, 'find'>, id: string): Promise<Task | undefined> {
  const taskId = parseTaskId(id)
  return taskId === undefined ? undefined : tasks.find(taskId)
}
