import type { TaskStatus } from '../../../contract/task-status.ts'
import { type NotificationEvent, notificationEvents } from '../../../contract/text/notification-text.ts'
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
  /** What its application adds by annotations; without `events`: all of them. */
  readonly added:
    | {
        readonly targets: readonly string[]
        readonly events?: readonly NotificationEvent[] | undefined
      }
    | undefined
}

/** Names of the targets that are told of a change of the deploy lock, which concerns all applications. */
export const targetsForLock = ({ routes }: Notifications): readonly string[] => [
  ...new Set(routes.filter(({ events }) => events.includes('lock_changed')).flatMap(({ targets }) => targets)),
]

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

/**
 * Names of the targets that are told of an event, each once: those of routes, and those of the application's annotations
 * where the task came with a credential. A route for `succeeded` takes `recovered` too.
 */
export function targetsFor(
  event: NotificationEvent,
  task: RoutedTask,
  { targets, routes }: Notifications,
): readonly string[] {
  const isOfEvent = (events: readonly string[]) =>
    events.includes(event) || (event === 'recovered' && events.includes('succeeded'))
  const taken = routes.filter(
    ({ apps, events, anonymous }) =>
      isOfEvent(events) && (task.mayWrite || anonymous) && (apps === undefined || isInScope(task.app, apps)),
  )
  const { targets: added = [], events = notificationEvents } = task.added ?? {}
  const byApplication = task.mayWrite && isOfEvent(events) ? added.filter((name) => targets.has(name)) : []
  return [...new Set([...taken.flatMap((route) => route.targets), ...byApplication])]
}
