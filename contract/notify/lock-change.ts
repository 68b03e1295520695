import { z } from 'zod'
import { DeployLockDetails } from '../deploy-lock.ts'

/** The deploy lock as a change of it left it, and who changed it. */
export const LockChange = DeployLockDetails.pick({
  active: true,
  source: true,
  since: true,
  until: true,
  reason: true,
  set_by: true,
  override_until: true,
})
  .extend({
    changed_by: z
      .string()
      .nullable()
      .describe('Name of the user who set or released it; null: its time began or ended'),
  })
  .meta({
    id: 'LockChange',
    examples: [
      {
        active: true,
        source: 'manual',
        since: 1_795_420_800.25,
        until: null,
        reason: 'database failover, OPS-2214',
        set_by: 'ada',
        override_until: null,
        changed_by: 'ada',
      },
    ],
  })
export type LockChange = z.infer<typeof LockChange>
