import { z } from 'zod'
import { wholeNumber } from './field-schemas.ts'
import { taskStatuses } from './task-status.ts'

/** Of one status. More are not counted. */
export const maxCount = 10_000

export const TaskCounts = z
  .object({
    counts: z.record(z.enum(taskStatuses), wholeNumber).describe('Tasks of each status; exact up to 10,000'),
    capped: z.array(z.enum(taskStatuses)).describe('Statuses with more tasks than their count says'),
  })
  .meta({
    id: 'TaskCounts',
    examples: [
      {
        counts: { 'in progress': 4, deployed: 10_000, failed: 312, 'app not found': 7, aborted: 9, cancelled: 48 },
        capped: ['deployed'],
      },
    ],
  })
export type TaskCounts = z.infer<typeof TaskCounts>
