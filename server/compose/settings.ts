import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { z } from 'zod'
import { type DeliveryControllerSettings, linkBaseOf } from '../argo-cd/delivery-controller-settings.ts'
import type { AuthSettings } from '../auth/credentials/auth-settings.ts'
import type { IdentityProviderSettings } from '../auth/sign-in/identity-provider-settings.ts'
import { type ConfigSource, fixedConfig, watchedConfig } from '../config/config-source.ts'
import { type Config, emptyConfig, parseConfig } from '../config/parse-config.ts'
import type { SubmissionSettings } from '../deployments/submit/submit-task.ts'
import { gitHubHostOf } from '../git-hosts/github-addresses.ts'
import type { GitHubAppSettings } from '../git-hosts/github-app.ts'
import type { LockdownSchedule } from '../locks/lockdown-times.ts'
import { renderWindow } from '../locks/lockdown-window.ts'
import type { GitLabSettings } from '../notify/hosts/report-gitlab.ts'
import { targetSecrets } from '../notify/targets/secret-reader.ts'
import { type Notifications, unroutedTargets } from '../notify/targets/target.ts'
import { variableTargets } from '../notify/targets/variable-targets.ts'
import type { RetentionSettings } from '../retention/start-retention.ts'
import type { RolloutSettings } from '../rollout/judge/input/rollout-settings.ts'
import { crossFieldIssues, type Texts } from '../settings/cross-field-issues.ts'
import { definitions, requiredNonEmpty, settingDefaults, type Values } from '../settings/definitions.ts'
import { describeSettings } from '../settings/describe-settings.ts'
import { notesOf, otherNames, refusalsOf } from '../settings/other-names.ts'
import { parseDatabaseConnection, sslOf } from '../settings/parse-database-connection.ts'
import { parseGitCredentials } from '../settings/parse-git-credentials.ts'
import { pathList } from '../settings/path-list.ts'
import { credentialReader, type Environment, gatherSettingTexts } from '../settings/setting-texts.ts'
import { unknownNameWarnings } from '../settings/unknown-names.ts'
import { warningsOf } from '../settings/warnings-of.ts'
import type { DatabaseSettings } from '../storage/database.ts'
import { type WriteBackSettings, writeBackSecrets } from '../write-back/plan/write-back-settings.ts'

/** Says everything that is wrong with the settings, at once and without their values. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
  readonly issues: readonly string[]
  constructor(issues: readonly string[]) {
    super(`invalid settings:\n${issues.map((issue) => `  - ${issue}`).join('\n')}`)
    this.issues = issues
  }
}

export type Settings = ReturnType<typeof settingsOf>

/**
 * Reads the settings from environment variables and the files that `NAME_FILE` variables name.
 *
 * @returns the settings and, for the log, what a person should know about them
 * @throws {SettingsError} naming every issue; the process then ends with exit code 78
 */
export function readSettings(environment: Environment): { settings: Settings; warnings: readonly string[] } {
  const { texts, issues, warnings } = gatherSettingTexts(environment, Object.keys(definitions.shape), requiredNonEmpty)
  const others = gatherSettingTexts(environment, otherNames, new Set())
  const parsed = definitions.safeParse(texts)
  const unread = new Set(issues.map(subjectOf))
  const wrong = (parsed.error?.issues ?? []).map(issueTextOf).filter((issue) => !unread.has(subjectOf(issue)))
  const all = [
    ...issues,
    ...others.issues,
    ...wrong,
    ...crossFieldIssues(texts),
    ...configIssues(texts, parsed.data, environment),
    ...refusalsOf(others.texts),
  ]
  if (!parsed.success || all.length > 0) throw new SettingsError(all)
  const settings = settingsOf(parsed.data, environment)
  return {
    settings,
    warnings: [
      ...warnings,
      ...unknownNameWarnings(environment, settingDefaults.keys()),
      ...notesOf(others.texts),
      ...warningsOf(parsed.data, texts, environment, settings.database.connection),
      ...unroutedTargets(settings.config.current().notifications).map(
        (name) => `CONFIG: no route leads to the target ${name}: only annotations of applications can name it`,
      ),
    ],
  }
}

/** The setting that an issue is about, whichever way it was given. */
const subjectOf = (issue: string) =>
  issue
    .split(':', 1)[0]
    ?.replace(/^ARGO_WATCHER_/, 'WATCHER_')
    .replace(/(?<!_CA)_FILE$/, '')

function issueTextOf({ path: [name], code, message }: z.core.$ZodIssue): string {
  const missing = code === 'invalid_type'
  return `${String(name)}: ${missing ? 'is required' : message}`
}

function configIssues({ CONFIG }: Texts, values: Values | undefined, environment: Environment): readonly string[] {
  if (CONFIG === undefined) return []
  // Where another setting is wrong, PUBLIC_URL is not known: whether it is missing shows once that is mended.
  const parsed = parseConfig(CONFIG, values === undefined ? 'unknown' : values.PUBLIC_URL, environment)
  return 'issues' in parsed ? parsed.issues.map((issue) => `CONFIG: ${issue}`) : []
}

function configOf({ CONFIG, PUBLIC_URL }: Values, environment: Environment): ConfigSource {
  if (CONFIG === undefined) return fixedConfig(emptyConfig)
  const parsed = parseConfig(CONFIG, PUBLIC_URL)
  if ('issues' in parsed) throw new SettingsError(parsed.issues)
  const file = environment.CONFIG_FILE
  return file
    ? watchedConfig(file, parsed.config, PUBLIC_URL, environment, Date.now)
    : fixedConfig(parsed.config, Date.now())
}

/** The configuration with the targets of variables beside its own. */
function withTargets(source: ConfigSource, { targets, routes }: Notifications): ConfigSource {
  if (targets.size === 0) return source
  let known: { readonly from: Config; readonly config: Config } | undefined
  return {
    state: source.state,
    current() {
      const from = source.current()
      if (known?.from !== from) {
        const notifications = {
          targets: new Map([...from.notifications.targets, ...targets]),
          routes: [...from.notifications.routes, ...routes],
        }
        known = { from, config: { ...from, notifications } }
      }
      return known.config
    },
  }
}

/** Grouped by who reads them. Credentials that may be rotated are read at each use. */
function settingsOf(values: Values, environment: Environment) {
  const dataDirectory = path.resolve(values.DATA_DIR)
  const token = credentialReader(environment, 'ARGO_TOKEN', values.ARGO_TOKEN)
  const auth = authOf(values, environment)
  const identityProvider = identityProviderOf(values, environment)
  const fixedSecrets = fixedSecretsOf(values)
  const writeBack = writeBackOf(values, environment, dataDirectory)
  const gitHubApp = gitHubAppOf(values, environment)
  const gitLab = gitLabOf(values, environment)
  const variables = variableTargets(values)
  const config = withTargets(configOf(values, environment), variables)
  return deepFreeze({
    dataDirectory,
    /** Everything that must not reach a log or a reply, as it is now. */
    secrets: () =>
      [
        ...fixedSecrets,
        ...[token, ...readersOf(auth, identityProvider)].map((read) => read() ?? ''),
        ...writeBackSecrets(writeBack),
        gitHubApp?.privateKey() ?? '',
        gitLab?.token() ?? '',
        ...targetSecrets(config.current().notifications, environment),
      ].filter(Boolean),
    log: { level: values.LOG_LEVEL },
    http: {
      host: values.HOST,
      port: values.PORT,
      metricsPort: values.METRICS_PORT,
      publicUrl: values.PUBLIC_URL,
      hasPublicBadges: values.PUBLIC_BADGES,
      trustedProxies: values.TRUST_PROXY,
      drainDelayMs: values.DRAIN_DELAY,
      submissionsPerMinute: values.SUBMISSIONS_PER_MINUTE,
      streamsPerClient: values.STREAMS_PER_CLIENT,
      waitsPerClient: values.WAITS_PER_CLIENT,
      maxConnections: values.MAX_CONNECTIONS,
    },
    database: { ...databaseOf(values), isEmbedded: values.EMBEDDED_DATABASE },
    /** Undefined: nothing is deleted. */
    retention: values.TASK_RETENTION_ENABLED
      ? ({
          taskDays: values.TASK_RETENTION_DAYS,
          auditDays: values.AUDIT_RETENTION_DAYS,
        } satisfies RetentionSettings)
      : undefined,
    deliveryController: {
      url: values.ARGO_URL,
      urlAlias: values.ARGO_URL_ALIAS,
      token,
      apiTimeoutMs: values.ARGO_API_TIMEOUT,
      apiRetries: values.ARGO_API_RETRIES,
      projects: values.ARGO_PROJECTS,
      selector: values.ARGO_SELECTOR,
      caFile: values.ARGO_CA_FILE,
      skipTlsVerify: values.SKIP_TLS_VERIFY,
    } satisfies DeliveryControllerSettings,
    submission: {
      defaultTimeoutSeconds: Math.ceil(values.DEPLOYMENT_TIMEOUT / 1000),
      waitForAppSeconds: Math.ceil(values.APP_APPEAR_GRACE / 1000),
      refreshByDefault: values.ARGO_REFRESH_APP,
      appsInAnyNamespace: values.APPS_IN_ANY_NAMESPACE,
      controlPlaneNamespace: values.ARGO_NAMESPACE,
    } satisfies SubmissionSettings,
    maxUnfinished: values.MAX_UNFINISHED_TASKS,
    maxUnfinishedPerApp: values.MAX_UNFINISHED_PER_APP,
    rollout: rolloutOf(values),
    rollback: { onFailure: values.ON_FAILURE, isAllowedWhileLocked: values.ROLLBACK_WHILE_LOCKED },
    podLogLines: values.POD_LOG_LINES,
    lock: lockOf(values),
    config,
    variableTargets: variables.targets,
    auth,
    identityProvider,
    writeBack,
    gitHubApp,
    gitLab,
    gitWebUrls: values.GIT_WEB_URLS,
    /** All of them as they may be shown. */
    described: describeSettings(environment),
  })
}

function databaseOf(values: Values): DatabaseSettings {
  const whole = values.DATABASE_URL ?? values.DB_DSN
  const connection = whole === undefined ? connectionOfParts(values) : parseDatabaseConnection(whole, values.DB_CA_FILE)
  if ('issue' in connection) throw new SettingsError([`DATABASE_URL: ${connection.issue}`])
  return {
    connection,
    schema: values.DB_SCHEMA,
    maxConnections: values.DB_MAX_CONNECTIONS,
    connectTimeoutMs: values.DB_CONNECT_TIMEOUT,
  }
}

function connectionOfParts(values: Values): DatabaseSettings['connection'] {
  const parts = { host: values.DB_HOST, user: values.DB_USER, password: values.DB_PASSWORD, database: values.DB_NAME }
  const given = Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined))
  return { ...given, port: values.DB_PORT, ssl: sslOf(values.DB_SSL_MODE, values.DB_CA_FILE) }
}

function rolloutOf(values: Values): RolloutSettings {
  return {
    settleMs: values.ROLLOUT_SETTLE,
    badPodGraceMs: values.BAD_POD_GRACE,
    degradedGraceMs: values.DEGRADED_GRACE,
    comparisonErrorGraceMs: values.COMPARISON_ERROR_GRACE,
    syncFailedGraceMs: values.SYNC_FAILED_GRACE,
    appGoneGraceMs: values.APP_GONE_GRACE,
    acceptSuspended: values.ACCEPT_SUSPENDED_APP,
    registryProxy: values.DOCKER_IMAGES_PROXY,
    annotationPrefixes: values.ANNOTATION_PREFIXES,
    isStrict: values.ROLLOUT_STRICT,
    controlPlaneNamespace: values.ARGO_NAMESPACE,
    overrideFilePrefix: values.OVERRIDE_FILE_PREFIX,
    linkBase: linkBaseOf({ url: values.ARGO_URL, urlAlias: values.ARGO_URL_ALIAS }),
  }
}

/** The text is how the service says it, whatever blanks were given. */
function lockOf(values: Values) {
  const schedule: LockdownSchedule = { windows: values.LOCKDOWN_SCHEDULE, timeZone: values.LOCKDOWN_TIMEZONE }
  return { schedule, text: schedule.windows.map(renderWindow).join(', ') || undefined }
}

function authOf(values: Values, environment: Environment): AuthSettings {
  const credential = (
    name: 'WATCHER_DEPLOY_TOKEN' | 'JWT_SECRET' | 'JWT_SECRET_PREVIOUS',
    whenBlank: 'keep' | 'drop' = 'keep',
  ) => {
    const atStart = values[name]
    return atStart === undefined ? undefined : credentialReader(environment, name, atStart, whenBlank)
  }
  return {
    deployToken: credential('WATCHER_DEPLOY_TOKEN'),
    isDeployTokenTakenFromQuery: values.DEPLOY_TOKEN_IN_QUERY,
    jwtSecret: credential('JWT_SECRET'),
    // A rotation is over when it is blank or gone.
    jwtSecretPrevious: credential('JWT_SECRET_PREVIOUS', 'drop'),
    jwtIssuer: values.JWT_ISSUER,
    jwtAudience: values.JWT_AUDIENCE,
    enforceAllowedApps: values.JWT_ENFORCE_ALLOWED_APPS,
    controlPlaneNamespace: values.ARGO_NAMESPACE,
    requireCredential: values.REQUIRE_CREDENTIAL,
  }
}

function identityProviderOf(values: Values, environment: Environment): IdentityProviderSettings | undefined {
  const { IDP_ISSUER_URL: issuerUrl, IDP_CLIENT_ID: clientId, IDP_CLIENT_SECRET: clientSecret } = values
  if (!values.IDP_ENABLED || issuerUrl === undefined || clientId === undefined) return undefined
  return {
    issuerUrl,
    clientId,
    clientSecret:
      clientSecret === undefined ? undefined : credentialReader(environment, 'IDP_CLIENT_SECRET', clientSecret),
    privilegedGroups: values.IDP_PRIVILEGED_GROUPS ?? [],
    scopes: values.IDP_SCOPES,
    audiences: [clientId, ...values.IDP_AUDIENCE],
    requireReadAuth: values.IDP_REQUIRE_READ_AUTH,
    allowHttpIssuer: values.IDP_ALLOW_HTTP_ISSUER,
  }
}

const readersOf = ({ deployToken, jwtSecret, jwtSecretPrevious }: AuthSettings, idp?: IdentityProviderSettings) =>
  [deployToken, jwtSecret, jwtSecretPrevious, idp?.clientSecret].filter((read) => read !== undefined)

/** Those that need a restart to change. */
function fixedSecretsOf(values: Values): string[] {
  const { connectionString, password } = databaseOf(values).connection
  const address = URL.parse(connectionString ?? '')
  const inAddress = address?.password ?? ''
  const inQuery = address?.searchParams.getAll('password') ?? []
  const given = typeof password === 'string' ? [password] : []
  const { WEBHOOK_URL: url, WEBHOOK_AUTHORIZATION_HEADER_VALUE: header, MATTERMOST_TOKEN: token } = values
  const ofTargets = [url, header, token].filter((secret) => secret !== undefined)
  return [...given, inAddress, decodeURIComponent(inAddress), ...inQuery, ...ofTargets]
}

function gitHubAppOf(values: Values, environment: Environment): GitHubAppSettings | undefined {
  const { GITHUB_APP_ID: id, GITHUB_APP_PRIVATE_KEY: key, GITHUB_API_URL: apiUrl } = values
  if (id === undefined || key === undefined) return undefined
  return { id, privateKey: credentialReader(environment, 'GITHUB_APP_PRIVATE_KEY', key), apiUrl }
}

function gitLabOf(values: Values, environment: Environment): GitLabSettings | undefined {
  const { GITLAB_TOKEN: token, GITLAB_URL: url } = values
  return token === undefined ? undefined : { url, token: credentialReader(environment, 'GITLAB_TOKEN', token) }
}

function writeBackOf(values: Values, environment: Environment, dataDirectory: string): WriteBackSettings {
  const passphrase = (name: 'SSH_KEY_PASS' | 'SSH_SIGNING_KEY_PASS') => {
    const atStart = values[name]
    return atStart === undefined ? undefined : credentialReader(environment, name, atStart)
  }
  return {
    sshKeyPath: values.SSH_KEY_PATH,
    sshKeyPass: passphrase('SSH_KEY_PASS'),
    signingKeyPath: values.SSH_SIGNING_KEY_PATH,
    signingKeyPass: passphrase('SSH_SIGNING_KEY_PASS'),
    knownHostsPath: values.SSH_KNOWN_HOSTS,
    knownHosts: () =>
      pathList(values.SSH_KNOWN_HOSTS ?? '')
        .map(readIfThere)
        .join('\n'),
    commitAuthor: { name: values.SSH_COMMIT_USER, email: values.SSH_COMMIT_MAIL },
    gitOpTimeoutMs: values.GIT_OP_TIMEOUT,
    repoCachePath: path.resolve(values.REPO_CACHE_PATH ?? path.join(dataDirectory, 'repositories')),
    repoCacheLimitBytes: values.REPO_CACHE_LIMIT,
    gitCredentials: gitCredentialsReader(values, environment),
    appHost: values.GITHUB_APP_ID === undefined ? undefined : gitHubHostOf(values.GITHUB_API_URL),
    gitCaFile: values.GIT_CA_FILE,
    allowedRepos: values.WRITE_BACK_ALLOWED_REPOS,
    overrideFilePrefix: values.OVERRIDE_FILE_PREFIX,
    annotationPrefixes: values.ANNOTATION_PREFIXES,
    controlPlaneNamespace: values.ARGO_NAMESPACE,
    commitMessageFormat: values.COMMIT_MESSAGE_FORMAT,
    commitTrailer: values.COMMIT_TRAILER,
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** While the file cannot be read as credentials, the last good ones count. */
function gitCredentialsReader(values: Values, environment: Environment): WriteBackSettings['gitCredentials'] {
  const read = credentialReader(environment, 'GIT_CREDENTIALS', '')
  let seen = ''
  let current = values.GIT_CREDENTIALS
  return () => {
    const text = read()
    if (text === seen) return current
    seen = text
    const credentials = parseGitCredentials(text)
    if (!('issue' in credentials)) current = credentials
    return current
  }
}

function deepFreeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) deepFreeze(part)
  return Object.freeze(value)
}
