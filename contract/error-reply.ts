import { z } from 'zod'
import { epochSeconds } from './field-schemas.ts'

export const ErrorReply = z
  .object({ error: z.string().describe('The error and, if there is one, the field and its rule') })
  .meta({ id: 'Error', examples: [{ error: 'app: must not be empty' }] })
export type ErrorReply = z.infer<typeof ErrorReply>

/** Why a submission or a cancellation was refused. */
export const RejectedReply = ErrorReply.extend({ status: z.string() }).meta({
  id: 'Refusal',
  examples: [{ status: 'invalid payload', error: 'app: must not be empty' }],
})

/** Why a submission was not accepted; what follows `code` is of the deploy lock. */
export const RejectedSubmission = RejectedReply.extend({
  code: z.literal('locked').optional().describe('`locked`: the deploy lock is active'),
  until: epochSeconds.optional().describe('Unix seconds; absent while the end is not known or never comes'),
  reason: z.string().optional().describe('Why deployments are locked, for callers who may read `/deploy-lock/details`'),
  set_by: z.string().optional().describe('Who locked them, for the same callers'),
}).meta({
  id: 'RejectedSubmission',
  examples: [
    {
      status: 'rejected',
      error: 'lockdown is active, deployments are not accepted',
      code: 'locked',
      until: 1_795_424_400,
      reason: 'database failover, OPS-2214',
      set_by: 'ada',
    },
  ],
})
