import { z } from 'zod'
import { epochSeconds, extensibleEnum, wholeNumber } from './fields.ts'

export const ErrorReply = z
  .object({ error: z.string().describe('What is wrong and, where there is one, the field and its rule') })
  .meta({ id: 'Error', examples: [{ error: 'app: must not be empty' }] })
export type ErrorReply = z.infer<typeof ErrorReply>

/** Why a submission or a cancellation was refused. */
export const Refusal = ErrorReply.extend({ status: z.string() }).meta({
  id: 'Refusal',
  examples: [{ status: 'invalid payload', error: 'app: must not be empty' }],
})

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

const Part = z.object({ status: z.enum(['up', 'degraded', 'down']), detail: z.string().optional() })

/** Of the stream of applications; `proven` is the one that brings events now. */
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

/** What a client may know of the settings. Never a secret. Names as argo-watcher's clients read them. */
export const ServiceConfig = z
  .object({
    argo_cd_url: z.string().describe('ARGO_URL'),
    argo_cd_url_alias: z.string().optional().describe('ARGO_URL_ALIAS, which links lead to'),
    argo_api_timeout: wholeNumber.describe('ARGO_API_TIMEOUT, seconds'),
    argo_api_retries: wholeNumber.describe('ARGO_API_RETRIES'),
    deployment_timeout: wholeNumber.describe('DEPLOYMENT_TIMEOUT, seconds'),
    accept_suspended_app: z.boolean().describe('ACCEPT_SUSPENDED_APP'),
    argo_refresh_app: z.boolean().describe('ARGO_REFRESH_APP'),
    registry_proxy_url: z.string().optional().describe('DOCKER_IMAGES_PROXY'),
    state_type: z.literal('postgres').describe('Where tasks are kept'),
    skip_tls_verify: z.boolean().describe('SKIP_TLS_VERIFY'),
    log_level: z.string().describe('LOG_LEVEL'),
    oidc: z
      .object({
        enabled: z.boolean(),
        issuer_url: z.string().optional(),
        client_id: z.string().optional(),
        privileged_groups: z.array(z.string()).optional(),
      })
      .describe('The identity provider'),
    lockdown_schedule: z.string().optional().describe('LOCKDOWN_SCHEDULE'),
    webhook: z.object({ enabled: z.boolean() }).describe('Not built yet: always false'),
    mattermost: z.object({ enabled: z.boolean() }).describe('Not built yet: always false'),
  })
  .meta({
    id: 'ServiceConfig',
    examples: [
      {
        argo_cd_url: 'https://argocd.example',
        argo_api_timeout: 60,
        argo_api_retries: 3,
        deployment_timeout: 900,
        accept_suspended_app: false,
        argo_refresh_app: true,
        state_type: 'postgres',
        skip_tls_verify: false,
        log_level: 'info',
        oidc: { enabled: false },
        webhook: { enabled: false },
        mattermost: { enabled: false },
      },
    ],
  })
export type ServiceConfig = z.infer<typeof ServiceConfig>

export const Reachability = z
  .object({ available: z.boolean(), reason: z.enum(['argocd', 'database', 'both']).optional() })
  .meta({ id: 'Reachability', examples: [{ available: false, reason: 'argocd' }] })
