import { z } from 'zod'
import { line } from '../../../contract/field-schemas.ts'
import { quote } from '../../../contract/fields.ts'
import { notificationEvents } from '../../../contract/text/notification-text.ts'
import type { Template } from '../../../gotemplate/template.ts'

/** `lock_changed`: the deploy lock has begun or ended, or a user has changed it. */
const routedEvents = [...notificationEvents, 'lock_changed'] as const

/** Where a secret stands: never in the configuration file itself. */
const SecretForm = z
  .union([z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })])
  .describe('{ env: NAME } or { file: /path }')
export type SecretReference = z.infer<typeof SecretForm>

const address = z
  .union([z.string().refine(isWebAddress, 'must be an https:// or http:// address without user'), SecretForm])
  .describe('Address; as a secret where it holds one')
const common = {
  allow_private: z.boolean().default(false).describe('Also send to private and loopback addresses'),
  logs: z.boolean().default(false).describe('Also the last log lines of a Pod that failed'),
}
const channel = z.string().min(1, 'must not be empty').max(100, 'must be at most 100 characters long')

const devlakeEnvironments = ['PRODUCTION', 'STAGING', 'TESTING', 'DEVELOPMENT'] as const
const repositories = z
  .array(
    z.string().regex(/^[\w.-]+(\/[\w.*?-]+)+$/, 'must be a repository such as owner/name, or a glob such as owner/*'),
  )
  .default([])
  .describe('Repositories whose commits tasks may be reported on that no CI submitted: names or globs')

const forms = [
  z.strictObject({
    kind: z.literal('webhook').describe('Standard Webhooks'),
    url: address,
    secret: SecretForm.describe('whsec_… of the signature; two of them during a rotation'),
    ...common,
  }),
  z.strictObject({
    kind: z.literal('slack').describe('One message for a deployment, which is edited; details in its thread'),
    channel: channel.describe('Id of the channel, such as C0123456'),
    token: SecretForm.describe('Bot token, xoxb-…, with the scope chat:write'),
    url: address.default('https://slack.com/api').describe('Address of the API'),
    ...common,
  }),
  z.strictObject({
    kind: z.literal('mattermost').describe('One post for a deployment, which is edited; details in its thread'),
    url: address,
    channel: channel.describe('Id of the channel'),
    token: SecretForm.describe('Access token of a bot'),
    mention_author: z.boolean().default(false).describe('Begin the post with @ and the author'),
    ...common,
  }),
  z.strictObject({
    kind: z.literal('teams').describe('One card at the end of a deployment'),
    url: SecretForm.describe('Address of the workflow, which holds its signature'),
    ...common,
  }),
  z.strictObject({
    kind: z.literal('devlake').describe('Deployments for Apache DevLake'),
    url: address.describe('Address of the deployments of a webhook: …/plugins/webhook/connections/<id>/deployments'),
    token: SecretForm.describe('API key of the webhook'),
    environments: z
      .record(line(255), z.enum(devlakeEnvironments, `must be one of ${devlakeEnvironments.join(', ')}`))
      .describe('Environments of deployments, with what DevLake calls them; others are not sent'),
    allow_private: common.allow_private,
  }),
  z.strictObject({
    kind: z.literal('cdevents').describe('A CDEvent for each image that was deployed'),
    url: address.describe('Address that takes CloudEvents'),
    authorization: SecretForm.optional().describe('Value of the header Authorization'),
    allow_private: common.allow_private,
  }),
  z.strictObject({
    kind: z.literal('otlp').describe('A trace of each deployment, as OTLP/HTTP with JSON'),
    url: address.describe('Address that takes traces: …/v1/traces'),
    authorization: SecretForm.optional().describe('Value of the header Authorization'),
    allow_private: z
      .boolean()
      .default(true)
      .describe('Also send to private and loopback addresses, where collectors are'),
  }),
  z.strictObject({
    kind: z.literal('github').describe('Deployments of the commit, by the GitHub App of GITHUB_APP_ID'),
    repositories,
  }),
  z.strictObject({
    kind: z.literal('gitlab').describe('Deployments of the commit, by GITLAB_TOKEN'),
    repositories,
    commit_status: z.boolean().default(false).describe('Also a status of the commit, which is a job of its pipeline'),
  }),
] as const
const TargetForm = z.discriminatedUnion('kind', forms)

/** Targets that argo-watcher's variables make. Their secrets are settings, which are redacted with all others. */
export type FormatTarget = {
  readonly kind: 'webhook_format'
  readonly url: string
  readonly format: Template | undefined
  readonly contentType: string
  readonly header: { readonly name: string; readonly value: string } | undefined
  readonly allowedCodes: readonly number[]
  readonly allow_private: true
  readonly logs: false
}
export type FormatPost = {
  readonly kind: 'mattermost_format'
  readonly url: string
  readonly bearer: string
  readonly channel: string
  readonly format: Template | undefined
  readonly mention_author: boolean
  readonly allow_private: true
  readonly logs: false
}

/** Whom something is told. */
export type Target = z.infer<typeof TargetForm> | FormatTarget | FormatPost
/** Hosts of the commits that are deployed. */
export type HostTarget = Extract<Target, { readonly kind: 'github' | 'gitlab' }>
export type MessageTarget = Exclude<Target, HostTarget>

export const isHostTarget = (target: Target): target is HostTarget =>
  target.kind === 'github' || target.kind === 'gitlab'

const RouteForm = z.strictObject({
  apps: z
    .array(line(255))
    .min(1, 'must be a list with at least one entry')
    .optional()
    .describe('Applications: names or globs; absent: all'),
  events: z
    .array(z.enum(routedEvents, `must be one of ${routedEvents.join(', ')}`))
    .min(1, 'must be a list with at least one entry')
    .describe('What is told'),
  targets: z.array(z.string()).min(1, 'must be a list with at least one entry').describe('Names of targets'),
  anonymous: z.boolean().default(false).describe('Also tasks without a credential'),
})
type Route = z.infer<typeof RouteForm>

/** The section `notifications`. */
export const NotificationsForm = z
  .strictObject({
    targets: z.record(z.string().regex(/^[\w.-]{1,100}$/, 'must be a name of letters, digits, ., _ and -'), TargetForm),
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
/** Fields of a target that may be secrets, by name. */
export function secretsOf(target: Target): readonly (readonly [field: string, reference: SecretReference])[] {
  const { url, secret, token, authorization } = {
    url: undefined,
    secret: undefined,
    token: undefined,
    authorization: undefined,
    ...target,
  }
  return Object.entries({ url, secret, token, authorization }).flatMap(([field, value]) =>
    value === undefined || typeof value === 'string' ? [] : [[field, value] as const],
  )
}

/** Whether it is sent the last log lines of a Pod that failed. */
export const wantsLogs = (target: Target): boolean => 'logs' in target && target.logs

/** What is wrong with the names of targets that an application's annotation has, in words for the timeline. */
export const unknownTargets = (names: readonly string[], { targets }: Notifications): readonly string[] =>
  names
    .filter((name) => !targets.has(name))
    .map((name) => `annotation notify: ${quote(name)} is ignored: the configuration file names no such target`)

/** Targets that no route names: only applications may add them. */
export function unroutedTargets({ targets, routes }: Notifications): readonly string[] {
  const routed = new Set(routes.flatMap((route) => route.targets))
  return [...targets.keys()].filter((name) => !routed.has(name))
}

export const noNotifications: Notifications = { targets: new Map(), routes: [] }

function isWebAddress(text: string): boolean {
  const address = URL.parse(text)
  return address !== null && /^https?:$/.test(address.protocol) && address.username === '' && address.password === ''
}
