import type { TaskRecord, TaskSubmission } from '../../../contract/task.ts'

/** The submission that deploys these images of a task's application, in the name of the reader. */
export function resubmissionOf(
  { app, project, environment, timeout, refresh }: TaskRecord,
  images: TaskRecord['images'],
  author: string,
): TaskSubmission {
  return {
    app,
    author,
    project,
    images: images.map(({ image, tag }) => ({ image, tag })),
    ...(environment === undefined ? {} : { environment }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(refresh === undefined ? {} : { refresh }),
  }
}
