import { z } from 'zod'
import { causeCodes } from './causes.ts'
import { conditionNames } from './conditions.ts'
import { epochSeconds, extensibleEnum, wholeNumber } from './field-schemas.ts'
import { largestId } from './fields.ts'
import { ListedTask } from './task.ts'

/**
 * What can happen to a task, in the order it usually does. What Argo CD shows of an application at one time is one event: of
 * what changed together, the first of sync, operation, health and images names it. `waiting_for`: another condition is not
 * met, or something else holds the task up.
 */
const taskEventKinds = [
  'accepted',
  'superseded_others',
  'application_confirmed',
  'write_back_skipped',
  'write_back_queued',
  'commit_pushed',
  'commit_unchanged',
  'write_back_retry',
  'refresh_requested',
  'sync_changed',
  'health_changed',
  'operation_changed',
  'images_changed',
  'waiting_for',
  'note',
  'taken_over',
  'verdict',
] as const
export type TaskEventKind = (typeof taskEventKinds)[number]

const TaskEventData = z
  .object({
    status: z.string().describe('How the task ended'),
    cause: extensibleEnum(causeCodes).describe('Why it ended, what holds it up, or why nothing was committed'),
    condition: extensibleEnum(conditionNames).describe('The first condition that is not met'),
    application: z.string().describe('`namespace/name`'),
    sync: z.string().describe('The sync status'),
    revisions: z.array(z.string()).describe('What it was compared with'),
    operation: z.string().describe('Phase of the sync operation'),
    health: z.string().describe('The health status'),
    images: z.array(z.string()).describe('Requested by the task, or shown by Argo CD; 20 at most'),
    refresh: z.boolean().describe('This service requested an Argo CD refresh'),
    commit: z.string(),
    branch: z.string(),
    superseded: z.array(z.string()).describe('Tasks that this one supersedes'),
    rule: z.string().describe('The rule of ci_identities by which a CI submitted the task'),
    issuer: z.string().describe('Issuer of its ID token'),
    subject: z.string().describe('sub of its ID token'),
    rollback_of: z.string().describe('The failed task that this one rolls back'),
    rolled_back_by: z.string().describe('The task that rolls this one back'),
    run_url: z.string().describe('The job of the CI that submitted the task'),
  })
  .partial()
  .meta({ id: 'TaskEventData' })
export type TaskEventData = z.infer<typeof TaskEventData>

export const TaskEvent = z
  .object({
    id: wholeNumber.describe('Position in the order of all events; assigned after commit'),
    task_id: z.string(),
    at: epochSeconds,
    kind: extensibleEnum(taskEventKinds).describe('What happened; more may be added'),
    detail: z.string().describe('The same in a sentence'),
    data: TaskEventData.optional().describe(
      'The same as values; more may come. Absent from what older versions stored',
    ),
    task: ListedTask.optional().describe('In a stream of all events: the task as it was when the event was read'),
  })
  .meta({ id: 'TaskEvent' })
export type TaskEvent = z.infer<typeof TaskEvent>

const MoreTaskEvents = wholeNumber
  .optional()
  .describe('Present if more events follow: pass it as `after`. A page holds 1,000 events, or 2 MiB.')

export const TaskEvents = z.object({ events: z.array(TaskEvent), next_after: MoreTaskEvents }).meta({
  id: 'TaskEvents',
  examples: [
    {
      events: [
        {
          id: 1042,
          task_id: '019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11',
          at: 1_795_420_801.5,
          kind: 'commit_pushed',
          detail: 'commit 4f3c1d2 pushed to main',
          data: { commit: '4f3c1d2', branch: 'main' },
        },
      ],
    },
  ],
})
export type TaskEvents = z.infer<typeof TaskEvents>

export const EventsAfter = z.object({
  after: z
    .string()
    .regex(/^\d{1,15}$/, 'must be the id of an event')
    .transform(Number)
    .optional()
    .meta({ type: 'integer', format: 'int64', minimum: 0, maximum: largestId })
    .describe('Only events with a higher id'),
})
