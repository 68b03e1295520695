import { z } from 'zod'
import { otherNames } from './other-names.ts'
import { sslModes } from './parse-database-connection.ts'
import * as value from './setting-values.ts'

// Every setting, how its text is read, and the text that counts where there is none. Meanings: docs/settings.md.

const service = {
  HOST: value.text.prefault('0.0.0.0'),
  PORT: value.port.prefault('8080'),
  METRICS_PORT: value.port.optional(),
  PUBLIC_URL: value.httpOrigin.optional(),
  PUBLIC_BADGES: value.booleanFlag.prefault('false'),
  TRUST_PROXY: value.proxies.prefault(''),
  DRAIN_DELAY: value.duration.prefault('5s'),
  SUBMISSIONS_PER_MINUTE: value.wholeNumber(0, 100_000).prefault('600'),
  STREAMS_PER_CLIENT: value.wholeNumber(1, 5_000).prefault('100'),
  WAITS_PER_CLIENT: value.wholeNumber(1, 2_000).prefault('200'),
  MAX_CONNECTIONS: value.wholeNumber(100, 100_000).prefault('5000'),
  MAX_UNFINISHED_TASKS: value.wholeNumber(1, 1_000_000).prefault('20000'),
  MAX_UNFINISHED_PER_APP: value.wholeNumber(1, 1_000_000).prefault('50'),
  LOG_LEVEL: value.logLevel.prefault('info'),
  CONFIG: value.text.optional(),
  DATA_DIR: value.text.prefault('./data'),
}

const database = {
  DATABASE_URL: value.secret.optional(),
  DB_DSN: value.secret.optional(),
  DB_HOST: value.text.optional(),
  DB_PORT: value.port.prefault('5432'),
  DB_USER: value.text.optional(),
  DB_PASSWORD: value.secret.optional(),
  DB_NAME: value.text.optional(),
  DB_SSL_MODE: z.enum(sslModes, { error: `must be one of ${sslModes.join(', ')}` }).prefault('disable'),
  DB_CA_FILE: value.filePath.optional(),
  DB_CONNECT_TIMEOUT: value.positiveDuration.prefault('2s'),
  DB_SCHEMA: value.schemaName.prefault('watcher'),
  DB_MAX_CONNECTIONS: value.wholeNumber(4, 500).prefault('16'),
  EMBEDDED_DATABASE: value.booleanFlag.prefault('false'),
  TASK_RETENTION_ENABLED: value.booleanFlag.prefault('false'),
  TASK_RETENTION_DAYS: value.wholeNumber(1, 36_500, 'days').prefault('365'),
  AUDIT_RETENTION_DAYS: value.wholeNumber(30, 36_500, 'days').prefault('365'),
}

const argoCd = {
  ARGO_URL: value.httpAddress,
  ARGO_URL_ALIAS: value.httpAddress.optional(),
  ARGO_TOKEN: value.headerSecret,
  ARGO_API_TIMEOUT: value.positiveDuration.prefault('60'),
  ARGO_API_RETRIES: value.wholeNumber(0, 20).prefault('3'),
  ARGO_REFRESH_APP: value.booleanFlag.prefault('true'),
  ARGO_CA_FILE: value.filePath.optional(),
  SKIP_TLS_VERIFY: value.booleanFlag.prefault('false'),
  ARGO_PROJECTS: value.list.prefault(''),
  ARGO_SELECTOR: value.text.optional(),
  ARGO_NAMESPACE: value.namespaceName.prefault('argocd'),
  APPS_IN_ANY_NAMESPACE: value.booleanFlag.prefault('false'),
  ANNOTATION_PREFIXES: value.annotationPrefixes.prefault('watcher/,argo-watcher/'),
}

const watching = {
  DEPLOYMENT_TIMEOUT: value.positiveDuration.prefault('900'),
  ACCEPT_SUSPENDED_APP: value.booleanFlag.prefault('false'),
  DOCKER_IMAGES_PROXY: value.text.optional(),
  ROLLOUT_SETTLE: value.settleDuration.optional(),
  POD_LOG_LINES: value.wholeNumber(0, 100).prefault('0'),
  ROLLOUT_STRICT: value.booleanFlag.prefault('false'),
  BAD_POD_GRACE: value.duration.prefault('120s'),
  DEGRADED_GRACE: value.duration.prefault('60s'),
  COMPARISON_ERROR_GRACE: value.duration.prefault('120s'),
  SYNC_FAILED_GRACE: value.duration.prefault('15s'),
  APP_GONE_GRACE: value.duration.prefault('30s'),
  APP_APPEAR_GRACE: value.duration.prefault('0'),
  ON_FAILURE: z.enum(['none', 'rollback'], { error: 'must be none or rollback' }).prefault('none'),
  ROLLBACK_WHILE_LOCKED: value.booleanFlag.prefault('false'),
}

const deployLock = {
  LOCKDOWN_SCHEDULE: value.lockdownSchedule.prefault(''),
  LOCKDOWN_TIMEZONE: value.timeZone.prefault('UTC'),
}

const credentials = {
  WATCHER_DEPLOY_TOKEN: value.secret.optional(),
  DEPLOY_TOKEN_IN_QUERY: value.booleanFlag.prefault('true'),
  JWT_SECRET: value.secret.optional(),
  JWT_SECRET_PREVIOUS: value.secretOrNone.optional(),
  JWT_ISSUER: value.text.optional(),
  JWT_AUDIENCE: value.text.optional(),
  JWT_ENFORCE_ALLOWED_APPS: value.booleanFlag.prefault('false'),
  REQUIRE_CREDENTIAL: value.booleanFlag.prefault('false'),
}

const identityProvider = {
  IDP_ENABLED: value.booleanFlag.prefault('false'),
  IDP_ISSUER_URL: value.issuerAddress.optional(),
  IDP_ALLOW_HTTP_ISSUER: value.booleanFlag.prefault('false'),
  IDP_CLIENT_ID: value.text.optional(),
  IDP_CLIENT_SECRET: value.secret.optional(),
  IDP_PRIVILEGED_GROUPS: value.names.optional(),
  IDP_SCOPES: value.scopes.prefault('openid profile email'),
  IDP_AUDIENCE: value.list.prefault(''),
  IDP_REQUIRE_READ_AUTH: value.booleanFlag.prefault('false'),
}

const writeBack = {
  SSH_KEY_PATH: value.filePath.optional(),
  SSH_KEY_PASS: value.secret.optional(),
  SSH_SIGNING_KEY_PATH: value.filePath.optional(),
  SSH_SIGNING_KEY_PASS: value.secret.optional(),
  SSH_KNOWN_HOSTS: value.filePath.optional(),
  SSH_COMMIT_USER: value.commitIdentity.prefault('deployment-watcher'),
  SSH_COMMIT_MAIL: value.commitIdentity.prefault('deployment-watcher@localhost'),
  GIT_CREDENTIALS: value.gitCredentials.prefault(''),
  GIT_CA_FILE: value.filePath.optional(),
  GIT_WEB_URLS: value.gitWebUrls.prefault(''),
  GIT_OP_TIMEOUT: value.positiveDuration.prefault('90s'),
  REPO_CACHE_PATH: value.text.optional(),
  REPO_CACHE_LIMIT: value.byteSize.prefault('2GiB'),
  WRITE_BACK_ALLOWED_REPOS: value.list.prefault(''),
  OVERRIDE_FILE_PREFIX: value.fileNamePart.prefault('watcher'),
  COMMIT_MESSAGE_FORMAT: value.template('COMMIT_MESSAGE_FORMAT').optional(),
  COMMIT_TRAILER: value.booleanFlag.prefault('true'),
}

const notifications = {
  WEBHOOK_ENABLED: value.booleanFlag.prefault('false'),
  WEBHOOK_URL: value.secretAddress.optional(),
  WEBHOOK_FORMAT: value.template('WEBHOOK_FORMAT').optional(),
  WEBHOOK_CONTENT_TYPE: value.text.prefault('application/json'),
  WEBHOOK_AUTHORIZATION_HEADER_NAME: value.headerName.prefault('Authorization'),
  WEBHOOK_AUTHORIZATION_HEADER_VALUE: value.headerSecret.optional(),
  WEBHOOK_ALLOWED_RESPONSE_CODES: value.statusCodes.prefault('200'),
  MATTERMOST_ENABLED: value.booleanFlag.prefault('false'),
  MATTERMOST_URL: value.httpAddress.optional(),
  MATTERMOST_TOKEN: value.headerSecret.optional(),
  MATTERMOST_CHANNEL_ID: value.text.optional(),
  MATTERMOST_FORMAT: value.template('MATTERMOST_FORMAT').optional(),
  MATTERMOST_MENTION_AUTHOR: value.booleanFlag.prefault('false'),
}

const gitHosts = {
  GITHUB_APP_ID: value.gitHubAppId.optional(),
  GITHUB_APP_PRIVATE_KEY: value.rsaPrivateKey.optional(),
  GITHUB_API_URL: value.httpAddress.prefault('https://api.github.com'),
  GITLAB_TOKEN: value.headerSecret.optional(),
  GITLAB_URL: value.httpAddress.prefault('https://gitlab.com'),
}

/** The settings by the headings under which docs/settings.md lists them. */
export const settingGroups = {
  Service: service,
  Database: database,
  'Argo CD': argoCd,
  Watching: watching,
  'Deploy lock': deployLock,
  Credentials: credentials,
  'Identity provider': identityProvider,
  'Write-back': writeBack,
  'Git hosts': gitHosts,
  Notifications: notifications,
}

export const definitions = z.object({
  ...service,
  ...database,
  ...argoCd,
  ...watching,
  ...deployLock,
  ...credentials,
  ...identityProvider,
  ...writeBack,
  ...gitHosts,
  ...notifications,
})
export type Values = z.infer<typeof definitions>
export type Name = keyof Values

/** A blank credential would open a door or close one unseen, so `NAME=` is an issue for these and not "not given". */
export const requiredNonEmpty: ReadonlySet<string> = new Set<Name>([
  'ARGO_URL',
  'ARGO_TOKEN',
  'IDP_CLIENT_SECRET',
  'IDP_PRIVILEGED_GROUPS',
  'JWT_SECRET',
  'WATCHER_DEPLOY_TOKEN',
])

/** Every name with the text that counts where none is given; `undefined` for one without. The documentation lists the same. */
export const settingDefaults: ReadonlyMap<string, string | undefined> = new Map([
  ...Object.entries(definitions.shape).map(
    ([name, { def }]) => [name, 'defaultValue' in def ? def.defaultValue : undefined] as const,
  ),
  ...otherNames.map((name) => [name, undefined] as const),
])
