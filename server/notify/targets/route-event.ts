import type { TaskStatus } from '../../../contract/task-status.ts'
import type { NotificationEvent } from '../../../contract/text/notification-text.ts'
import { isInScope } from '../../auth/access/scope.ts'
import type { Notifications } from './target.ts'

/** What the outbox holds of a task: Argo CD has shown its application, or it has an end. */
export type OutboxChange = 'started' | 'ended'

/** What routes look at of a task. `previousStatus`: of the last deployed or failed task of its application before it. */
export type RoutedTask = {
  readonly app: string
  readonly status: TaskStatus
  readonly mayWrite: boolean
  readonly previousStatus: TaskStatus | undefined
}

/** What is told of a change; undefined: nothing, as of a start after whose record the task has ended. */
export function eventOf(change: OutboxChange, { status, previousStatus }: RoutedTask): NotificationEvent | undefined {
  if (change === 'started') return status === 'in progress' ? 'started' : undefined
  switch (status) {
    case 'deployed':
      return previousStatus === undefined || previousStatus === 'deployed' ? 'succeeded' : 'recovered'
    case 'failed':
    case 'app not found':
      return 'failed'
    case 'aborted':
    case 'cancelled':
      return status
    default:
      return undefined
  }
}

/** Names of the targets that are told of an event, each once. A route for `succeeded` takes `recovered` too. */
export function targetsFor(event: NotificationEvent, task: RoutedTask, { routes }: Notifications): readonly string[] {
  const isOfEvent = (events: readonly NotificationEvent[]) =>
    events.includes(event) || (event === 'recovered' && events.includes('succeeded'))
  const taken = routes.filter(
    ({ apps, events, anonymous }) =>
      isOfEvent(events) && (task.mayWrite || anonymous) && (apps === undefined || isInScope(task.app, apps)),
  )
  return [...new Set(taken.flatMap(({ targets }) => targets))]
}
