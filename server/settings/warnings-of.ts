import { findScheduleWarning } from '../locks/lockdown-window.ts'
import { isWeakSecret } from '../secrets/secret-rules.ts'
import type { DatabaseSettings } from '../storage/database.ts'
import { isLoopback } from './address-text.ts'
import type { Texts } from './cross-field-issues.ts'
import type { Values } from './definitions.ts'
import { isUnprotected } from './parse-database-connection.ts'
import type { Environment } from './setting-texts.ts'

/** What works but a person should know, a line each. */
export function warningsOf(
  values: Values,
  texts: Texts,
  environment: Environment,
  connection: DatabaseSettings['connection'],
): string[] {
  const warnings = migrationWarnings(values, texts, environment)
  for (const name of ['JWT_SECRET', 'JWT_SECRET_PREVIOUS'] as const) {
    if (isWeakSecret(values[name])) {
      warnings.push(`${name} is weak: use at least 32 bytes, for instance from "openssl rand -hex 32"`)
    }
  }
  const credentials = [values.WATCHER_DEPLOY_TOKEN, values.JWT_SECRET, values.IDP_ENABLED, values.CONFIG]
  if (values.REQUIRE_CREDENTIAL && !credentials.some(Boolean)) {
    const ways = 'set WATCHER_DEPLOY_TOKEN, JWT_SECRET, IDP_ENABLED or ci_identities in CONFIG_FILE'
    warnings.push(`REQUIRE_CREDENTIAL: no credential is configured, so every submission is rejected: ${ways}`)
  }
  if (values.OVERRIDE_FILE_PREFIX !== 'argocd') {
    warnings.push('OVERRIDE_FILE_PREFIX is not argocd: Argo CD itself reads override files of the prefix argocd only')
  }
  if (values.ARGO_URL.startsWith('http:') && !isLoopback(new URL(values.ARGO_URL).hostname)) {
    warnings.push('ARGO_URL is http: the token and all responses cross the network unencrypted')
  }
  if (/^[^/]*\/\/[^/]*@/.test(texts.ARGO_URL ?? '')) warnings.push('ARGO_URL holds a user name, which is not used')
  if (values.SKIP_TLS_VERIFY) warnings.push('SKIP_TLS_VERIFY: TLS certificates are not verified; use ARGO_CA_FILE')
  const lockdown = findScheduleWarning(values.LOCKDOWN_SCHEDULE)
  if (lockdown !== undefined) warnings.push(`LOCKDOWN_SCHEDULE ${lockdown}`)
  if (values.IDP_ENABLED) {
    warnings.push(
      'IDP_ENABLED: opaque access tokens are verified by the provider alone, which may have issued them to another client',
    )
  }
  const issuer = URL.parse(values.IDP_ENABLED ? (values.IDP_ISSUER_URL ?? '') : '')
  if (issuer?.protocol === 'http:' && !isLoopback(issuer.hostname))
    warnings.push('IDP_ALLOW_HTTP_ISSUER: tokens, client secret and signing keys cross the network unencrypted')
  if (values.IDP_REQUIRE_READ_AUTH && values.METRICS_PORT === undefined)
    warnings.push(
      'IDP_REQUIRE_READ_AUTH: /metrics on PORT names applications and needs no credential; set METRICS_PORT',
    )
  if (values.EMBEDDED_DATABASE) warnings.push('embedded database: for trials only; set DATABASE_URL')
  const insecure = insecureDefaults(values, connection)
  return insecure.length === 0 ? warnings : [...warnings, `insecure settings: ${insecure.join('; ')}`]
}

/** Where the same settings mean something else in argo-watcher. */
function migrationWarnings(values: Values, texts: Texts, environment: Environment): string[] {
  const warnings: string[] = []
  const { TZ = '' } = environment
  const hasZone = 'LOCKDOWN_TIMEZONE' in texts || /^(Etc\/)?UTC$/i.test(TZ)
  if (values.LOCKDOWN_SCHEDULE.length > 0 && TZ !== '' && !hasZone)
    warnings.push('LOCKDOWN_SCHEDULE is in UTC although TZ is set: set LOCKDOWN_TIMEZONE to that zone')
  const hasOlderNames = Object.keys(environment).some((name) => name.startsWith('OIDC_') && environment[name] !== '')
  if (!values.IDP_ENABLED || !hasOlderNames) return warnings
  if (values.IDP_PRIVILEGED_GROUPS === undefined)
    warnings.push('OIDC_PRIVILEGED_GROUPS is not set: every signed-in user may set the deploy lock and deploy')
  if (!values.IDP_REQUIRE_READ_AUTH)
    warnings.push('OIDC_REQUIRE_TASK_READ_AUTH is not set: tasks can be read without signing in')
  return warnings
}

/** Defaults that suit a first start, and that an installation should change. */
function insecureDefaults(values: Values, connection: DatabaseSettings['connection']): string[] {
  const facts: readonly (readonly [boolean, string])[] = [
    [!values.REQUIRE_CREDENTIAL, 'submissions need no credential (REQUIRE_CREDENTIAL)'],
    [!values.JWT_ENFORCE_ALLOWED_APPS, 'allowed_apps of a JWT is not enforced (JWT_ENFORCE_ALLOWED_APPS)'],
    [values.DEPLOY_TOKEN_IN_QUERY, 'the deploy token is accepted in the query (DEPLOY_TOKEN_IN_QUERY)'],
    [isUnprotected(connection), 'the connection to the database has no TLS (DB_SSL_MODE)'],
    [values.WRITE_BACK_ALLOWED_REPOS.length === 0, 'any repository may be written to (WRITE_BACK_ALLOWED_REPOS)'],
  ]
  return facts.filter(([isInsecure]) => isInsecure).map(([, text]) => text)
}
