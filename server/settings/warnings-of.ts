import { isWeakSecret } from '../auth/is-weak-secret.ts'
import { judgeWindows } from '../locks/lockdown-window.ts'
import type { Values } from './definitions.ts'
import type { Texts } from './mistakes-together.ts'
import { isLoopback } from './setting-values.ts'

/** What works but a person should know, a line each. */
export function warningsOf(values: Values, texts: Texts): string[] {
  const warnings: string[] = []
  for (const name of ['JWT_SECRET', 'JWT_SECRET_PREVIOUS'] as const) {
    if (isWeakSecret(values[name])) {
      warnings.push(`${name} is weak: use at least 32 bytes, for instance from "openssl rand -hex 32"`)
    }
  }
  const credentials = [values.WATCHER_DEPLOY_TOKEN, values.JWT_SECRET, values.IDP_ENABLED]
  if (values.REQUIRE_CREDENTIAL && !credentials.some(Boolean)) {
    const ways = 'set WATCHER_DEPLOY_TOKEN, JWT_SECRET or IDP_ENABLED'
    warnings.push(`REQUIRE_CREDENTIAL: no kind of credential is set up, so every submission is refused: ${ways}`)
  }
  if (values.OVERRIDE_FILE_PREFIX !== 'argocd') {
    warnings.push('OVERRIDE_FILE_PREFIX is not argocd: Argo CD itself reads override files of the prefix argocd only')
  }
  if (values.ARGO_URL.startsWith('http:') && !isLoopback(new URL(values.ARGO_URL))) {
    warnings.push('ARGO_URL is http: the token and all answers cross the network unprotected')
  }
  if (/^[^/]*\/\/[^/]*@/.test(texts.ARGO_URL ?? '')) warnings.push('ARGO_URL holds a user name, which is not used')
  if (values.SKIP_TLS_VERIFY)
    warnings.push('SKIP_TLS_VERIFY: whoever answers for ARGO_URL is believed; use ARGO_CA_FILE')
  const lockdown = judgeWindows(values.LOCKDOWN_SCHEDULE)
  if (lockdown !== undefined) warnings.push(`LOCKDOWN_SCHEDULE ${lockdown}`)
  if (values.IDP_ENABLED) {
    warnings.push(
      'IDP_ENABLED: an access token that is no JWT is judged by the provider alone, which may have issued it to another client',
    )
  }
  const issuer = URL.parse(values.IDP_ENABLED ? (values.IDP_ISSUER_URL ?? '') : '')
  if (issuer?.protocol === 'http:' && !isLoopback(issuer))
    warnings.push('IDP_ALLOW_HTTP_ISSUER: tokens, client secret and signing keys cross the network unprotected')
  if (values.IDP_REQUIRE_READ_AUTH && values.METRICS_PORT === undefined)
    warnings.push(
      'IDP_REQUIRE_READ_AUTH: /metrics on PORT names applications and needs no credential; set METRICS_PORT',
    )
  if (values.EMBEDDED_DATABASE) warnings.push('embedded database: for trials only; set DATABASE_URL')
  return warnings
}
