import { z } from 'zod'

export const ErrorReply = z
  .object({ error: z.string().describe('The error and, if there is one, the field and its rule') })
  .meta({ id: 'Error', examples: [{ error: 'app: must not be empty' }] })
export type ErrorReply = z.infer<typeof ErrorReply>

/** Why a submission or a cancellation was refused. */
export const RejectedReply = ErrorReply.extend({ status: z.string() }).meta({
  id: 'Refusal',
  examples: [{ status: 'invalid payload', error: 'app: must not be empty' }],
})
