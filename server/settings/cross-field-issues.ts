import { readFileSync } from 'node:fs'
import { isLoopback } from './address-text.ts'
import { checkSshKey } from './check-ssh-key.ts'
import type { Name } from './definitions.ts'
import { parseDatabaseConnection } from './parse-database-connection.ts'
import { pathList } from './path-list.ts'

/** What was given, before it was read: issues of several settings are found beside those of single ones. */
export type Texts = Readonly<Record<string, string>>

function databaseIssues(texts: Texts): string[] {
  const given = ['DATABASE_URL', 'DB_DSN', 'DB_HOST'].filter((name) => name in texts)
  if (given.length > 1)
    return [`${given[0]}: given together with ${given.slice(1).join(' and ')}, which is ambiguous: keep one`]
  const parts = ['DB_USER', 'DB_PASSWORD', 'DB_NAME', 'DB_PORT', 'DB_SSL_MODE'].filter((name) => name in texts)
  if (given[0] !== 'DB_HOST' && given.length > 0 && parts.length > 0) {
    return [`${given[0]}: given together with ${parts.join(', ')}, which is ambiguous: keep one way`]
  }
  if (given[0] === 'DB_HOST')
    return ['DB_USER', 'DB_NAME'].filter((name) => !(name in texts)).map((name) => `${name}: is required with DB_HOST`)
  const [whole] = given
  if (whole === undefined)
    return ['DATABASE_URL: no database is configured: set a PostgreSQL address, or DB_HOST, DB_USER and DB_NAME']
  const connection = parseDatabaseConnection(texts[whole] ?? '')
  return 'issue' in connection ? [`${whole}: ${connection.issue}`] : []
}

/** Authorities that would verify nothing, or that are named twice. */
function databaseCaIssues(texts: Texts): string[] {
  if (!('DB_CA_FILE' in texts)) return []
  const { DATABASE_URL: address, DB_DSN: keywords, DB_SSL_MODE: mode } = texts
  const whole = address ?? keywords ?? `sslmode=${mode ?? ''}`
  if (/\bsslmode\s*=\s*'?disable/.test(whole))
    return ['DB_CA_FILE: has no effect without TLS: change or remove disable']
  return /\bsslrootcert\s*=/.test(whole) ? ['DB_CA_FILE: given together with sslrootcert: keep one'] : []
}

const certificateIssue = (text: string) =>
  text.includes('-----BEGIN CERTIFICATE-----') ? undefined : 'holds no certificate in PEM form'

function fileIssues(texts: Texts): string[] {
  return [
    issueInFile('ARGO_CA_FILE', certificateIssue),
    issueInFile('DB_CA_FILE', certificateIssue),
    issueInFile('GIT_CA_FILE', certificateIssue),
    issueInFile('SSH_KEY_PATH', (text) => judgeKey(text, 'SSH_KEY_PASS')),
    issueInFile('SSH_SIGNING_KEY_PATH', (text) => judgeKey(text, 'SSH_SIGNING_KEY_PASS')),
    ...pathList(texts.SSH_KNOWN_HOSTS ?? '').map((file) => issueInFile('SSH_KNOWN_HOSTS', () => undefined, file)),
  ].filter((issue) => issue !== undefined)

  function judgeKey(text: string, passphrase: 'SSH_KEY_PASS' | 'SSH_SIGNING_KEY_PASS'): string | undefined {
    return checkSshKey(text, passphrase, passphrase in texts)
  }

  function issueInFile(
    name: Name,
    judge: (text: string) => string | undefined,
    file = texts[name]?.trim(),
  ): string | undefined {
    if (!file) return undefined
    try {
      const issue = judge(readFileSync(file, 'utf8'))
      return issue && `${name}: the file ${issue}`
    } catch (error) {
      return `${name}: the file cannot be read (${error instanceof Error && 'code' in error ? error.code : 'unknown reason'})`
    }
  }
}

function combinationIssues(texts: Texts): string[] {
  const issues: string[] = []
  if ('SSH_KEY_PATH' in texts && !('SSH_KNOWN_HOSTS' in texts)) {
    issues.push('SSH_KNOWN_HOSTS: is required with SSH_KEY_PATH: host keys are always checked')
  }
  const app = ['GITHUB_APP_ID', 'GITHUB_APP_PRIVATE_KEY'] as const
  for (const [name, other] of [app, app.toReversed()])
    if (name && other && name in texts && !(other in texts)) issues.push(`${other}: is required with ${name}`)
  if ('METRICS_PORT' in texts && Number(texts.METRICS_PORT) === Number(texts.PORT ?? '8080')) {
    issues.push('METRICS_PORT: must differ from PORT')
  }
  if (texts.JWT_SECRET_PREVIOUS?.trim() && !('JWT_SECRET' in texts)) {
    issues.push('JWT_SECRET_PREVIOUS: needs JWT_SECRET')
  }
  return issues
}

const isOnIn = (texts: Texts) => (name: Name) => /^[t1]/i.test((texts[name] ?? '').trim())

const neededBy = {
  WEBHOOK_ENABLED: ['WEBHOOK_URL'],
  MATTERMOST_ENABLED: ['MATTERMOST_URL', 'MATTERMOST_TOKEN', 'MATTERMOST_CHANNEL_ID'],
} as const satisfies Partial<Record<Name, readonly Name[]>>

const notificationIssues = (texts: Texts): string[] =>
  (['WEBHOOK_ENABLED', 'MATTERMOST_ENABLED'] as const)
    .filter(isOnIn(texts))
    .flatMap((name) =>
      neededBy[name].filter((other) => !(other in texts)).map((other) => `${other}: is required with ${name}`),
    )

function identityProviderIssues(texts: Texts): string[] {
  const isOn = isOnIn(texts)
  const issuer = URL.parse((texts.IDP_ISSUER_URL ?? '').trim())
  if (issuer?.protocol === 'http:' && !isLoopback(issuer.hostname) && !isOn('IDP_ALLOW_HTTP_ISSUER'))
    return ['IDP_ISSUER_URL: http:// is allowed on a loopback address only, or with IDP_ALLOW_HTTP_ISSUER=true']
  if (!isOn('IDP_ENABLED'))
    return isOn('IDP_REQUIRE_READ_AUTH')
      ? ['IDP_REQUIRE_READ_AUTH: needs IDP_ENABLED: without it no user can sign in to read']
      : []
  return ['IDP_ISSUER_URL', 'IDP_CLIENT_ID']
    .filter((name) => !(name in texts))
    .map((name) => `${name}: is required with IDP_ENABLED`)
}

/** Issues that no single setting shows: ways that exclude each other, settings that need another, files they name. */
export function crossFieldIssues(texts: Texts): string[] {
  return [
    ...databaseIssues(texts),
    ...databaseCaIssues(texts),
    ...fileIssues(texts),
    ...combinationIssues(texts),
    ...identityProviderIssues(texts),
    ...notificationIssues(texts),
  ]
}
