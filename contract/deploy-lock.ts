import { z } from 'zod'
import { epochSeconds } from './fields.ts'

export const DeployLockState = z
  .boolean()
  .meta({ id: 'DeployLockState', description: 'true while new tasks are refused', examples: [false] })

export const DeployLockDetails = z
  .object({
    active: z.boolean(),
    source: z.enum(['manual', 'schedule']).nullable().describe('Set manually or by a schedule'),
    since: epochSeconds.nullable(),
    until: epochSeconds.nullable().describe('Unix seconds; null while it is not known or never comes'),
    reason: z.string().nullable(),
    set_by: z.string().nullable().describe('Name of the user who has set it'),
    next_window: z
      .object({ from: epochSeconds, to: epochSeconds.nullable() })
      .nullable()
      .describe('The next lockdown window that has not begun'),
  })
  .meta({
    id: 'DeployLockDetails',
    examples: [
      {
        active: true,
        source: 'manual',
        since: 1_795_420_800.25,
        until: null,
        reason: 'database failover, OPS-2214',
        set_by: 'ada',
        next_window: { from: 1_795_798_800, to: 1_796_025_600 },
      },
    ],
  })
export type DeployLockDetails = z.infer<typeof DeployLockDetails>
