import { z } from 'zod'
import { epochSeconds, extensibleEnum, wholeNumber } from './field-schemas.ts'
import { largestId } from './fields.ts'
import { ListedTask } from './task.ts'

/** What can happen to a task, in the order it usually does. One word per observed step; `detail` says it in a sentence. */
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

export const TaskEvent = z
  .object({
    id: wholeNumber.describe('Position in the order of all events; assigned after commit'),
    task_id: z.string(),
    at: epochSeconds,
    kind: extensibleEnum(taskEventKinds).describe('What happened; more may be added'),
    detail: z.string().describe('The same in a sentence'),
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
          detail: '4f3c1d2 on main',
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
