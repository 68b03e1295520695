import { z } from 'zod'
import { epochSeconds, extensibleEnum } from './field-schemas.ts'

const Part = z.object({ status: z.enum(['up', 'degraded', 'down']), detail: z.string().optional() })

/** Of the stream of applications; `live` is the one that brings events now. */
export const streamStates = ['connecting', 'open', 'live', 'refused', 'closed'] as const

export const Health = z
  .object({
    status: z.enum(['up', 'down']).describe('`down` only while the database does not answer'),
    database: Part,
    delivery_controller: Part.extend({ stream: extensibleEnum(streamStates).optional() }),
  })
  .meta({
    id: 'Health',
    examples: [{ status: 'up', database: { status: 'up' }, delivery_controller: { status: 'up', stream: 'live' } }],
  })
export type Health = z.infer<typeof Health>

export const Reachability = z
  .object({ available: z.boolean(), reason: z.enum(['argocd', 'database', 'both']).optional() })
  .meta({ id: 'Reachability', examples: [{ available: false, reason: 'argocd' }] })

/** `data` of `event: service`. */
export const ServiceState = z.object({
  argo_cd: z.object({
    available: z.boolean(),
    since: epochSeconds.describe('When the replica noticed'),
    detail: z.string().optional(),
  }),
})
export type ServiceState = z.infer<typeof ServiceState>
