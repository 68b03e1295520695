import { z } from 'zod'
import { epochSeconds, extensibleEnum, wholeNumber } from '../field-schemas.ts'

export const deliveryStates = ['due', 'sent', 'dead', 'off'] as const

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

/** What one target is told of one task, or of a change of the deploy lock. */
export const Delivery = z
  .object({
    id: z.string().describe('`webhook-id` of the request'),
    task_id: z.string().optional().describe('Absent of a change of the deploy lock'),
    target: z.string().describe('Name of the target in the configuration file'),
    event: z
      .string()
      .describe('started, succeeded, recovered, failed, aborted, cancelled or lock_changed; more may be added'),
    state: extensibleEnum(deliveryStates).describe(
      '`dead`: the receiver rejected it, or did not take it for 24 hours; `off`: its target answered 410 and is told nothing',
    ),
    attempts: wholeNumber,
    next_attempt: epochSeconds.optional().describe('Of one that is due'),
    last_error: z.string().optional().describe('Of one that is `sent`: why there was nothing to send'),
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

const lastExample = { state: 'dead', event: 'failed', at: 1_795_420_831.5, error: 'the receiver answered 404' }

/** A target as the configuration has it, without secrets and addresses. */
export const NotificationTarget = z
  .object({
    name: z.string(),
    kind: z
      .string()
      .describe('webhook, slack, mattermost, teams, github or gitlab, and those of variables; more may be added'),
    disabled: z
      .object({ since: epochSeconds, error: z.string() })
      .optional()
      .describe('It answered 410: it is told nothing until its entry changes or one delivery is retried'),
    last: z
      .object({
        state: extensibleEnum(deliveryStates),
        event: z.string(),
        at: epochSeconds,
        error: z.string().optional(),
      })
      .optional()
      .describe('The delivery that ended last'),
  })
  .meta({ id: 'NotificationTarget', examples: [{ name: 'audit', kind: 'webhook', last: lastExample }] })
export type NotificationTarget = z.infer<typeof NotificationTarget>

export const NotificationTargets = z.object({ targets: z.array(NotificationTarget).describe('By name') }).meta({
  id: 'NotificationTargets',
  examples: [{ targets: [{ name: 'audit', kind: 'webhook', last: lastExample }] }],
})
export type NotificationTargets = z.infer<typeof NotificationTargets>
