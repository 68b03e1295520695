import { oneLine } from '../../../contract/one-line.ts'

export const taskTrailer = 'Watcher-Task'

/** The message of a write-back's commit (spec 2.7). The trailer lets an owner recognise a commit whose push got no answer. */
export function commitMessage(task: { id: string; app: string }, withTrailer: boolean): string {
  const subject = `watcher(${oneLine(task.app)}): update image tag`
  return withTrailer ? `${subject}\n\n${taskTrailer}: ${oneLine(task.id)}\n` : `${subject}\n`
}
