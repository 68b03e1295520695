import { z } from 'zod'
import { epochSeconds, extensibleEnum, wholeNumber } from '../field-schemas.ts'

const deliveryStates = ['due', 'sent', 'dead'] as const

const example = {
  id: '7b0c9f6e-5a0d-4f0e-9d0a-6c1f0b3f8a11',
  task_id: '019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11',
  target: 'audit',
  event: 'failed',
  state: 'dead',
  attempts: 3,
  last_error: 'the receiver answered 404',
  created: 1_795_420_831.5,
}

/** What one target is told of one task. */
export const Delivery = z
  .object({
    id: z.string().describe('`webhook-id` of the request'),
    task_id: z.string(),
    target: z.string().describe('Name of the target in the configuration file'),
    event: z.string().describe('started, succeeded, recovered, failed, aborted or cancelled; more may be added'),
    state: extensibleEnum(deliveryStates).describe('`dead`: the receiver rejected it, or did not take it for 24 hours'),
    attempts: wholeNumber,
    next_attempt: epochSeconds.optional().describe('Of one that is due'),
    last_error: z.string().optional(),
    created: epochSeconds,
  })
  .meta({ id: 'Delivery', examples: [{ ...example, state: 'due', attempts: 0, next_attempt: 1_795_420_900 }] })
export type Delivery = z.infer<typeof Delivery>

export const Deliveries = z.object({ deliveries: z.array(Delivery).describe('Newest first, 1,000 at most') }).meta({
  id: 'Deliveries',
  examples: [{ deliveries: [example] }],
})
export type Deliveries = z.infer<typeof Deliveries>

export const DeliveryFilter = z.object({
  state: z
    .enum(deliveryStates, `must be one of ${deliveryStates.join(', ')}`)
    .optional()
    .describe('Only deliveries of this state'),
})
