import { z } from 'zod'
import { wholeNumber } from './field-schemas.ts'

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
    webhook: z.object({ enabled: z.boolean() }).describe('WEBHOOK_ENABLED'),
    mattermost: z.object({ enabled: z.boolean() }).describe('MATTERMOST_ENABLED'),
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
