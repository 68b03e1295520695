import { z } from 'zod'
import { line } from '../../../contract/field-schemas.ts'

/** What can be told of a task. `recovered`: the first success of an application after a failure, in place of `succeeded`. */
const notificationEvents = ['started', 'succeeded', 'recovered', 'failed', 'aborted', 'cancelled'] as const
export type NotificationEvent = (typeof notificationEvents)[number]

/** Where a secret stands: never in the configuration file itself. */
const SecretForm = z
  .union([z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })])
  .describe('{ env: NAME } or { file: /path }')
export type SecretReference = z.infer<typeof SecretForm>

const WebhookForm = z.strictObject({
  kind: z.literal('webhook').describe('Standard Webhooks'),
  url: z
    .union([z.string().refine(isWebAddress, 'must be an https:// or http:// address'), SecretForm])
    .describe('Address; as a secret where it holds one'),
  secret: SecretForm.describe('whsec_… of the signature; two lines during a rotation'),
  allow_private: z.boolean().default(false).describe('Also send to private and loopback addresses'),
})
/** Whom something is told. */
export type Target = z.infer<typeof WebhookForm>

const RouteForm = z.strictObject({
  apps: z
    .array(line(255))
    .min(1, 'must be a list with at least one entry')
    .optional()
    .describe('Applications: names or globs; absent: all'),
  events: z.array(z.enum(notificationEvents)).min(1, 'must be a list with at least one entry').describe('What is told'),
  targets: z.array(z.string()).min(1, 'must be a list with at least one entry').describe('Names of targets'),
  anonymous: z.boolean().default(false).describe('Also tasks without a credential'),
})
type Route = z.infer<typeof RouteForm>

/** The section `notifications`. */
export const NotificationsForm = z
  .strictObject({
    targets: z.record(
      z.string().regex(/^[\w.-]{1,100}$/, 'must be a name of letters, digits, ., _ and -'),
      WebhookForm,
    ),
    routes: z.array(RouteForm).max(1_000),
  })
  .superRefine(({ targets, routes }, context) => {
    for (const [at, route] of routes.entries())
      for (const [index, name] of route.targets.entries())
        if (!Object.hasOwn(targets, name))
          context.addIssue({
            code: 'custom',
            path: ['routes', at, 'targets', index],
            message: `names no target: ${name}`,
          })
  })

export type Notifications = {
  readonly targets: ReadonlyMap<string, Target>
  readonly routes: readonly Route[]
}
export const noNotifications: Notifications = { targets: new Map(), routes: [] }

function isWebAddress(text: string): boolean {
  const address = URL.parse(text)
  return address !== null && /^https?:$/.test(address.protocol) && address.username === '' && address.password === ''
}
