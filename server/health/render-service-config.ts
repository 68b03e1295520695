import type { ServiceConfig } from '../../contract/service-config.ts'
import { withoutUserinfo } from '../settings/address-text.ts'

/** The settings that GET /config may show, by name; nothing else gets there. */
export type ShownSettings = {
  readonly argoUrl: string
  readonly argoUrlAlias: string | undefined
  readonly argoApiTimeoutSeconds: number
  readonly argoApiRetries: number
  readonly deploymentTimeoutSeconds: number
  readonly acceptSuspended: boolean
  readonly refreshByDefault: boolean
  readonly registryProxy: string | undefined
  readonly skipTlsVerify: boolean
  readonly logLevel: string
  readonly lockdownSchedule: string | undefined
  readonly hasWebhook: boolean
  readonly hasMattermost: boolean
  readonly identityProvider:
    | { readonly issuerUrl: string; readonly clientId: string; readonly privilegedGroups: readonly string[] }
    | undefined
}

/** Renders GET /config in the shape that argo-watcher's clients read. Addresses lose user and password. */
export function renderServiceConfig(shown: ShownSettings): ServiceConfig {
  return {
    argo_cd_url: withoutUserinfo(shown.argoUrl),
    ...(shown.argoUrlAlias === undefined ? {} : { argo_cd_url_alias: withoutUserinfo(shown.argoUrlAlias) }),
    argo_api_timeout: Math.ceil(shown.argoApiTimeoutSeconds),
    argo_api_retries: shown.argoApiRetries,
    deployment_timeout: Math.ceil(shown.deploymentTimeoutSeconds),
    accept_suspended_app: shown.acceptSuspended,
    argo_refresh_app: shown.refreshByDefault,
    ...(shown.registryProxy === undefined ? {} : { registry_proxy_url: withoutUserinfo(shown.registryProxy) }),
    state_type: 'postgres',
    skip_tls_verify: shown.skipTlsVerify,
    log_level: shown.logLevel,
    oidc: renderIdentityProvider(shown.identityProvider),
    ...(shown.lockdownSchedule === undefined ? {} : { lockdown_schedule: shown.lockdownSchedule }),
    webhook: { enabled: shown.hasWebhook },
    mattermost: { enabled: shown.hasMattermost },
  }
}

function renderIdentityProvider(provider: ShownSettings['identityProvider']): ServiceConfig['oidc'] {
  if (!provider) return { enabled: false }
  const { issuerUrl, clientId, privilegedGroups } = provider
  return { enabled: true, issuer_url: issuerUrl, client_id: clientId, privileged_groups: [...privilegedGroups] }
}
