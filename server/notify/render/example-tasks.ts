import { type Cause, causeCodes, causeOf } from '../../../contract/causes.ts'
import type { LockChange } from '../../../contract/notify/lock-change.ts'
import type { TaskRecord } from '../../../contract/task.ts'
import type { FinalStatus } from '../../../contract/task-status.ts'
import { exampleDiagnosis, exampleEndSeconds } from '../../../contract/text/example-diagnoses.ts'
import type { NotificationEvent } from '../../../contract/text/notification-text.ts'
import { renderReport } from '../../../contract/text/render-diagnosis.ts'

export const pageUrl = 'https://watcher.example/task/019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11'

export const exampleTask = (fields: Partial<TaskRecord> = {}): TaskRecord => ({
  id: '019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11',
  created: exampleEndSeconds - 48,
  updated: exampleEndSeconds,
  app: 'shop',
  author: 'ada',
  project: 'store',
  environment: 'production',
  images: [{ image: 'registry.example/shop', tag: '1.2.0' }],
  previous: { id: '1', ended: 0, images: [{ image: 'registry.example/shop', tag: '1.1.0' }] },
  status: 'deployed',
  app_url: 'https://argocd.example/applications/argocd/shop',
  commit_url: 'https://git.example/gitops/commit/4f3c1d2e',
  compare_url: 'https://git.example/shop/compare/1.1.0...1.2.0',
  ...fields,
})

const eventOf: Readonly<Record<FinalStatus, NotificationEvent>> = {
  deployed: 'succeeded',
  failed: 'failed',
  'app not found': 'failed',
  aborted: 'aborted',
  cancelled: 'cancelled',
}

const log = {
  pod: 'web-74796dcf9f-8ggf2',
  lines: ['starting', 'cannot open database: password `***` rejected', 'exit'],
}

export const endedTask = (cause: Cause, fields: Partial<TaskRecord> = {}): TaskRecord =>
  exampleTask({
    status: causeOf(cause).status,
    status_reason: renderReport(causeOf(cause).status, exampleDiagnosis(cause), exampleEndSeconds),
    cause,
    diagnosis: exampleDiagnosis(cause),
    ...(cause === 'crash_loop' ? { pod_log: log } : {}),
    ...fields,
  })

/** Each event, and each cause with the event that it has. */
export const exampleNotifications: readonly { name: string; event: NotificationEvent; task: TaskRecord }[] = [
  { name: 'started', event: 'started', task: exampleTask({ status: 'in progress' }) },
  { name: 'succeeded', event: 'succeeded', task: exampleTask() },
  { name: 'recovered', event: 'recovered', task: exampleTask() },
  ...causeCodes.map((cause) => {
    const event = eventOf[causeOf(cause).status]
    return { name: `${event}: ${cause}`, event, task: endedTask(cause) }
  }),
]

const unlocked: LockChange = {
  active: false,
  source: null,
  since: null,
  until: null,
  reason: null,
  set_by: null,
  override_until: null,
  changed_by: null,
}
const set = { active: true, source: 'manual', since: exampleEndSeconds, set_by: 'ada', changed_by: 'ada' } as const

/** Each way in which the deploy lock changes. */
export const exampleLocks: readonly (readonly [name: string, lock: LockChange])[] = [
  ['set', { ...unlocked, ...set }],
  ['set with a reason of a stranger', { ...unlocked, ...set, reason: '@channel *see* <https://evil.example|here>' }],
  ['set until a time', { ...unlocked, ...set, until: exampleEndSeconds + 3_600, reason: 'failover, OPS-2214' }],
  ['a window begins', { ...unlocked, active: true, source: 'schedule', until: exampleEndSeconds + 86_400 }],
  ['a window ends', unlocked],
  ['released', { ...unlocked, changed_by: 'ada' }],
  ['a window is opened', { ...unlocked, changed_by: 'ada', override_until: exampleEndSeconds + 900 }],
]
