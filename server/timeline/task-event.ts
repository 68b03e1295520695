import type { TaskEventData, TaskEventKind } from '../../contract/task-event.ts'

/** Something that happened to a task, not yet stored; the store gives it its time and place. */
export type NewTaskEvent = {
  readonly kind: TaskEventKind
  readonly detail: string
  readonly data?: Readonly<TaskEventData>
}
