import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect } from 'vitest'
import { z } from 'zod'
import { ServiceConfig } from '../../contract/service-config.ts'
import { TaskList, type TaskRecord } from '../../contract/task.ts'
import { readSettings, type Settings, SettingsError } from '../../server/compose/settings.ts'
import { parseAnnotations } from '../../server/write-back/plan/parse-annotations.ts'
import { chartFiles, type ExampleWorkload } from '../../simulator/model/example-repository.ts'
import { idOf, textOf } from '../security/answers.ts'
import { runArgoWatcherClient } from '../support/argo-watcher-client.ts'
import { createTestDatabase } from '../support/database.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { mintJwt } from '../support/mint-jwt.ts'
import { presentCredentials } from '../support/present-credentials.ts'
import { rawExchange } from '../support/raw-exchange.ts'
import { aTask, type Service, startService } from '../support/service.ts'
import { jwtSecret, test } from '../support/shared-world.ts'
import { deployToken, type Replica, settingsFor, type World, withToken } from '../support/world.ts'

// What installations of argo-watcher 0.12 to 1.x rely on: each name and shape is a row.

const folder = mkdtempSync(path.join(tmpdir(), 'deployment-watcher-compatibility-'))
const knownHosts = path.join(folder, 'known_hosts')
const key = path.join(folder, 'key')
writeFileSync(knownHosts, 'git.example ssh-ed25519 AAAA\n')
writeFileSync(key, '-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n')

const nowSeconds = () => Date.now() / 1000
const jwt = (change: object = {}) => mintJwt({ exp: 4_000_000_000, ...change }, jwtSecret)

/** Some days away. */
const day = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'][(new Date().getUTCDay() + 3) % 7]
const lockdown = `${day} 03:00 - ${day} 03:01`

let world: World
let present: Awaited<ReturnType<typeof presentCredentials>>
/** On the same delivery controller, with settings that the first one does not have and without an identity provider. */
let configured: Service
/** Its lines to what it needs. */
let lines: Replica['lines']
const stack = new AsyncDisposableStack()
test.beforeAll(async ({ world: shared }) => {
  world = shared
  await world.addApplications('shop')
  present = await presentCredentials(world.service)
  world.idp.users.set('ada', { groups: ['platform'] })
  const { simulator } = world
  const { url } = stack.use(await createTestDatabase())
  lines = {
    database: stack.use(await startFaultProxy({ port: Number(new URL(url).port) })),
    controller: stack.use(await startFaultProxy({ port: Number(new URL(simulator.argoUrl).port) })),
  }
  const settings = {
    ARGO_URL: `http://me:pw@127.0.0.1:${lines.controller.port}`,
    ARGO_URL_ALIAS: 'https://argo.example',
    ARGO_API_TIMEOUT: '30',
    ARGO_API_RETRIES: '1',
    ARGO_REFRESH_APP: 'false',
    ACCEPT_SUSPENDED_APP: 'true',
    DOCKER_IMAGES_PROXY: 'proxy.example',
    DEPLOYMENT_TIMEOUT: '600',
    SKIP_TLS_VERIFY: 'true',
    LOG_LEVEL: 'debug',
    LOCKDOWN_SCHEDULE: lockdown,
    SSH_KNOWN_HOSTS: `${knownHosts}:${simulator.git.knownHostsPath}`,
  }
  const databaseUrl = Object.assign(new URL(url), { port: String(lines.database.port) }).href
  configured = stack.use(await startService({ databaseUrl, settings: { ...settingsFor(simulator), ...settings } }))
})
afterAll(async () => {
  await stack.disposeAsync()
  rmSync(folder, { recursive: true })
})

const get = (pathname: string, service: Pick<Service, 'request'> = world.service) =>
  service.request(`/api/v1${pathname}`)
const Json = z.record(z.string(), z.unknown())

describe('settings', () => {
  const least = { ARGO_URL: 'https://a.example', ARGO_TOKEN: 't', OVERRIDE_FILE_PREFIX: 'argocd' }
  const inParts = { DB_HOST: 'db', DB_USER: 'me', DB_NAME: 'w' }
  const sshKey = { SSH_KEY_PATH: key, SSH_KNOWN_HOSTS: knownHosts }
  const oidc = { OIDC_ENABLED: 'true', OIDC_ISSUER_URL: 'https://id.example', OIDC_CLIENT_ID: 'w' }
  const read = (given: Record<string, string>) => {
    const database = Object.keys(given).some((name) => name.startsWith('DB_'))
      ? inParts
      : { DB_DSN: 'host=db dbname=w' }
    const isDsn = 'DB_DSN' in given
    const { settings, warnings } = readSettings({ ...least, ...(isDsn ? {} : database), ...given })
    return { settings, warnings: warnings.filter((line) => !line.startsWith('insecure settings: ')) }
  }
  const file = (name: string, text: string) => {
    const written = path.join(folder, name)
    writeFileSync(written, text)
    return written
  }
  type Row = readonly [name: string, Record<string, string>, (settings: Settings) => unknown, unknown]

  test.for<Row>([
    ['ARGO_URL', { ARGO_URL: 'https://b.example' }, (all) => all.deliveryController.url, 'https://b.example'],
    [
      'ARGO_URL_ALIAS',
      { ARGO_URL_ALIAS: 'https://c.example' },
      (all) => all.deliveryController.urlAlias,
      'https://c.example',
    ],
    ['ARGO_TOKEN', { ARGO_TOKEN: 'other' }, (all) => all.deliveryController.token(), 'other'],
    ['ARGO_API_TIMEOUT', { ARGO_API_TIMEOUT: '30' }, (all) => all.deliveryController.apiTimeoutMs, 30_000],
    ['ARGO_API_RETRIES', { ARGO_API_RETRIES: '5' }, (all) => all.deliveryController.apiRetries, 5],
    ['ARGO_REFRESH_APP', { ARGO_REFRESH_APP: 'false' }, (all) => all.submission.refreshByDefault, false],
    ['SKIP_TLS_VERIFY', { SKIP_TLS_VERIFY: 'true' }, (all) => all.deliveryController.skipTlsVerify, true],
    ['ACCEPT_SUSPENDED_APP', { ACCEPT_SUSPENDED_APP: 'true' }, (all) => all.rollout.acceptSuspended, true],
    ['DOCKER_IMAGES_PROXY', { DOCKER_IMAGES_PROXY: 'p.example' }, (all) => all.rollout.registryProxy, 'p.example'],
    ['DEPLOYMENT_TIMEOUT', { DEPLOYMENT_TIMEOUT: '600' }, (all) => all.submission.defaultTimeoutSeconds, 600],
    ['HOST', { HOST: '127.0.0.1' }, (all) => all.http.host, '127.0.0.1'],
    ['PORT', { PORT: '9090' }, (all) => all.http.port, 9090],
    ['LOG_LEVEL', { LOG_LEVEL: 'debug' }, (all) => all.log.level, 'debug'],
    ['DB_HOST', { DB_HOST: 'db2' }, (all) => all.database.connection.host, 'db2'],
    ['DB_PORT', { DB_PORT: '5433' }, (all) => all.database.connection.port, 5433],
    ['DB_USER', { DB_USER: 'you' }, (all) => all.database.connection.user, 'you'],
    ['DB_PASSWORD', { DB_PASSWORD: 'pw' }, (all) => all.database.connection.password, 'pw'],
    ['DB_NAME', { DB_NAME: 'x' }, (all) => all.database.connection.database, 'x'],
    ['DB_SSL_MODE', { DB_SSL_MODE: 'require' }, (all) => all.database.connection.ssl, { rejectUnauthorized: false }],
    ['DB_DSN', { DB_DSN: 'host=db3 dbname=w' }, (all) => all.database.connection.host, 'db3'],
    ['DB_CONNECT_TIMEOUT', { DB_CONNECT_TIMEOUT: '7' }, (all) => all.database.connectTimeoutMs, 7_000],
    ['JWT_SECRET', { JWT_SECRET: 's'.repeat(32) }, (all) => all.auth.jwtSecret?.(), 's'.repeat(32)],
    ['JWT_ISSUER', { JWT_ISSUER: 'us' }, (all) => all.auth.jwtIssuer, 'us'],
    ['JWT_AUDIENCE', { JWT_AUDIENCE: 'w' }, (all) => all.auth.jwtAudience, 'w'],
    ['ARGO_WATCHER_DEPLOY_TOKEN', { ARGO_WATCHER_DEPLOY_TOKEN: 'old' }, (all) => all.auth.deployToken?.(), 'old'],
    ['WATCHER_DEPLOY_TOKEN', { WATCHER_DEPLOY_TOKEN: 'new' }, (all) => all.auth.deployToken?.(), 'new'],
    [
      'LOCKDOWN_SCHEDULE',
      { LOCKDOWN_SCHEDULE: 'Fri 17:00 - Mon 08:00' },
      (all) => all.lock.text,
      'Fri 17:00 - Mon 08:00',
    ],
    ['SSH_KEY_PATH', sshKey, (all) => all.writeBack.sshKeyPath, key],
    ['SSH_KNOWN_HOSTS', sshKey, (all) => all.writeBack.knownHostsPath, knownHosts],
    ['SSH_KEY_PASS', { ...sshKey, SSH_KEY_PASS: 'pw' }, (all) => all.writeBack.sshKeyPass?.(), 'pw'],
    ['SSH_COMMIT_USER', { SSH_COMMIT_USER: 'ci' }, (all) => all.writeBack.commitAuthor.name, 'ci'],
    ['SSH_COMMIT_MAIL', { SSH_COMMIT_MAIL: 'ci@x' }, (all) => all.writeBack.commitAuthor.email, 'ci@x'],
    ['REPO_CACHE_PATH', { REPO_CACHE_PATH: '/cache' }, (all) => all.writeBack.repoCachePath, '/cache'],
    ['GIT_OP_TIMEOUT', { GIT_OP_TIMEOUT: '45' }, (all) => all.writeBack.gitOpTimeoutMs, 45_000],
    ['OIDC_ENABLED', oidc, (all) => all.identityProvider !== undefined, true],
    ['OIDC_ISSUER_URL', oidc, (all) => all.identityProvider?.issuerUrl, 'https://id.example'],
    ['OIDC_CLIENT_ID', oidc, (all) => all.identityProvider?.clientId, 'w'],
    [
      'OIDC_PRIVILEGED_GROUPS',
      { ...oidc, OIDC_PRIVILEGED_GROUPS: 'a,b' },
      (all) => all.identityProvider?.privilegedGroups,
      ['a', 'b'],
    ],
    [
      'OIDC_REQUIRE_TASK_READ_AUTH',
      { ...oidc, OIDC_REQUIRE_TASK_READ_AUTH: 'true' },
      (all) => all.identityProvider?.requireReadAuth,
      true,
    ],
    ...['debug', 'DEBUG', ' Debug'].map(
      (level): Row => [`LOG_LEVEL ${level}`, { LOG_LEVEL: level }, (all) => all.log.level, 'debug'],
    ),
    ['LOG_LEVEL warning', { LOG_LEVEL: 'Warning' }, (all) => all.log.level, 'warn'],
    ['LOG_LEVEL panic', { LOG_LEVEL: 'PANIC' }, (all) => all.log.level, 'fatal'],
    [
      'both names of a setting with one value',
      { WATCHER_DEPLOY_TOKEN: 'same', ARGO_WATCHER_DEPLOY_TOKEN: 'same', IDP_ENABLED: 'false', OIDC_ENABLED: 'false' },
      (all) => all.auth.deployToken?.(),
      'same',
    ],
    [
      'a name and its file with one value',
      { JWT_SECRET: 's'.repeat(32), JWT_SECRET_FILE: file('jwt-secret', `${'s'.repeat(32)}\n`) },
      (all) => all.auth.jwtSecret?.(),
      's'.repeat(32),
    ],
    [
      'DB_PORT as Kubernetes sets it for a Service named db',
      { DB_PORT: 'tcp://10.0.0.7:5432' },
      (all) => all.database.connection.port,
      5432,
    ],
    [
      'the same beside a whole address',
      { DB_DSN: 'host=db3 dbname=w', DB_PORT: 'tcp://10.0.0.7:5432' },
      (all) => all.database.connection.host,
      'db3',
    ],
    [
      'METRICS_PORT of a Service named metrics',
      { METRICS_PORT: 'udp://10.0.0.8:9' },
      (all) => all.http.metricsPort,
      undefined,
    ],
    ...['120', '120s', '2m', '1m60s', '120000ms'].flatMap((time): Row[] => [
      [`BAD_POD_GRACE ${time}`, { BAD_POD_GRACE: time }, (all) => all.rollout.badPodGraceMs, 120_000],
      [`DRAIN_DELAY ${time}`, { DRAIN_DELAY: time }, (all) => all.http.drainDelayMs, 120_000],
      [`ROLLOUT_SETTLE ${time}`, { ROLLOUT_SETTLE: time }, (all) => all.rollout.settleMs, 120_000],
      [`DEPLOYMENT_TIMEOUT ${time}`, { DEPLOYMENT_TIMEOUT: time }, (all) => all.submission.defaultTimeoutSeconds, 120],
      [`GIT_OP_TIMEOUT ${time}`, { GIT_OP_TIMEOUT: time }, (all) => all.writeBack.gitOpTimeoutMs, 120_000],
    ]),
  ])('%s', ([, given, pick, value]) => expect(pick(read(given).settings)).toEqual(value))

  const credentials: readonly (readonly [name: string, pick: (settings: Settings) => unknown])[] = [
    ['ARGO_TOKEN', (all) => all.deliveryController.token()],
    ['WATCHER_DEPLOY_TOKEN', (all) => all.auth.deployToken?.()],
    ['ARGO_WATCHER_DEPLOY_TOKEN', (all) => all.auth.deployToken?.()],
    ['JWT_SECRET', (all) => all.auth.jwtSecret?.()],
    ['JWT_SECRET_PREVIOUS', (all) => all.auth.jwtSecretPrevious?.()],
    ['IDP_CLIENT_SECRET', (all) => all.identityProvider?.clientSecret?.()],
    ['OIDC_CLIENT_SECRET', (all) => all.identityProvider?.clientSecret?.()],
  ]
  test.for(credentials)('blanks and newlines around %s are trimmed', ([name, pick]) => {
    const others = { ...oidc, ...(name === 'JWT_SECRET_PREVIOUS' ? { JWT_SECRET: 's'.repeat(32) } : {}) }
    expect(pick(read({ ...others, [name]: ' \t a secret\r\n\n' }).settings)).toBe('a secret')
    const mounted = file(name, '\n a secret \n\n')
    const { settings } = read({ ...others, ARGO_TOKEN: name === 'ARGO_TOKEN' ? '' : 't', [`${name}_FILE`]: mounted })
    expect(pick(settings)).toBe('a secret')
    writeFileSync(mounted, '\n\n the next secret \n')
    expect(pick(settings)).toBe('the next secret')
  })

  const friday = 'Fri 17:00 - Mon 08:00'
  test.for<[Record<string, string>, readonly string[]]>([
    [
      { TZ: 'Europe/Berlin', LOCKDOWN_SCHEDULE: friday },
      ['LOCKDOWN_SCHEDULE is in UTC although TZ is set: set LOCKDOWN_TIMEZONE'],
    ],
    [{ TZ: 'Europe/Berlin', LOCKDOWN_SCHEDULE: friday, LOCKDOWN_TIMEZONE: 'UTC' }, []],
    [{ TZ: 'UTC', LOCKDOWN_SCHEDULE: friday }, []],
    [{ TZ: 'Europe/Berlin' }, []],
    [oidc, ['opaque access tokens', 'OIDC_PRIVILEGED_GROUPS is not set', 'OIDC_REQUIRE_TASK_READ_AUTH is not set']],
    [
      { ...oidc, OIDC_PRIVILEGED_GROUPS: 'platform', OIDC_REQUIRE_TASK_READ_AUTH: 'true', METRICS_PORT: '9090' },
      ['opaque access tokens'],
    ],
    [{ ...oidc, OIDC_ENABLED: 'false' }, []],
    [{ DB_PORT: 'tcp://10.0.0.7:5432' }, ['DB_PORT is ignored: Kubernetes sets it for a Service of that name']],
    [
      { LOCKDOWN_SHEDULE: friday },
      ['LOCKDOWN_SHEDULE is not a setting and is ignored: did you mean LOCKDOWN_SCHEDULE?'],
    ],
    [{ DB_SERVICE_HOST: '10.0.0.7', DB_PORT_5432_TCP_PORT: '5432', npm_config_cache: '/c', HOSTNAME: 'w-0' }, []],
  ])('%j starts with the warnings %j', ([given, lines]) => {
    const { warnings } = read(given)
    expect(warnings.toSorted()).toEqual(lines.map((line) => expect.stringContaining(line)))
  })

  test.for<[Record<string, string>, readonly string[]]>([
    [{ GIT_MAX_ATTEMPTS: '5' }, ['GIT_MAX_ATTEMPTS has no effect']],
    [{ GIT_BATCH_WRITEBACK: 'true' }, ['GIT_BATCH_WRITEBACK has no effect']],
    [{ GIT_BATCH_MAX_SIZE: '5' }, ['GIT_BATCH_MAX_SIZE has no effect']],
    [{ OIDC_TOKEN_VALIDATION_INTERVAL: '300' }, ['OIDC_TOKEN_VALIDATION_INTERVAL has no effect']],
    [{ STATIC_FILES_PATH: '/static' }, ['STATIC_FILES_PATH has no effect']],
    [{ DEV_ENVIRONMENT: 'true' }, ['DEV_ENVIRONMENT has no effect']],
    [
      {
        WEBHOOK_ENABLED: 'true',
        WEBHOOK_URL: 'https://hooks.example/x',
        WEBHOOK_FORMAT: '{"app":"{{.App}}"}',
        WEBHOOK_CONTENT_TYPE: 'application/json',
        WEBHOOK_AUTHORIZATION_HEADER_NAME: 'Authorization',
        WEBHOOK_AUTHORIZATION_HEADER_VALUE: 'Bearer x',
        WEBHOOK_ALLOWED_RESPONSE_CODES: '200,202',
      },
      [],
    ],
    [
      {
        MATTERMOST_ENABLED: 'true',
        MATTERMOST_URL: 'https://chat.example',
        MATTERMOST_TOKEN: 'x',
        MATTERMOST_CHANNEL_ID: 'c',
        MATTERMOST_FORMAT: '{{.App}}',
        MATTERMOST_MENTION_AUTHOR: 'true',
      },
      [],
    ],
    [{ WEBHOOK_ENABLED: 'false', WEBHOOK_URL: 'https://hooks.example/x', MATTERMOST_ENABLED: 'false' }, []],
    [{ TASK_RETENTION_ENABLED: 'true', TASK_RETENTION_DAYS: '30' }, []],
    [{ STATE_TYPE: 'postgres' }, []],
  ])('%j is taken, with its line in the log: %j', ([given, lines]) =>
    expect(read(given).warnings).toEqual(lines.map((line) => expect.stringContaining(line))),
  )

  test.for<[Record<string, string>, string]>([
    [{ STATE_TYPE: 'in-memory' }, 'STATE_TYPE: only postgres is supported: remove it and set DATABASE_URL'],
    [{ WEBHOOK_ENABLED: 'true' }, 'WEBHOOK_URL: is required with WEBHOOK_ENABLED'],
    [
      { MATTERMOST_ENABLED: 'true', MATTERMOST_URL: 'https://chat.example', MATTERMOST_CHANNEL_ID: 'c' },
      'MATTERMOST_TOKEN: is required with MATTERMOST_ENABLED',
    ],
    [{ KEYCLOAK_ENABLED: 'true' }, 'is now IDP_ENABLED'],
    [{ KEYCLOAK_URL: 'https://id' }, 'is now IDP_ISSUER_URL'],
    [{ KEYCLOAK_REALM: 'r' }, 'is now a part of IDP_ISSUER_URL'],
    [{ KEYCLOAK_CLIENT_ID: 'w' }, 'is now IDP_CLIENT_ID'],
    [{ KEYCLOAK_CLIENT_SECRET: 's' }, 'is now IDP_CLIENT_SECRET'],
    [{ KEYCLOAK_PRIVILEGED_GROUPS: 'a' }, 'is now IDP_PRIVILEGED_GROUPS'],
    [{ KEYCLOAK_TOKEN_VALIDATION_INTERVAL: '5' }, 'is no longer needed'],
    [{ LOCKDOWN_SCHEDULE: `\ufeff${friday}` }, 'LOCKDOWN_SCHEDULE: has a byte order mark'],
    [{ LOCKDOWN_SCHEDULE_FILE: file('schedule', `\ufeff${friday}\n`) }, 'LOCKDOWN_SCHEDULE: has a byte order mark'],
    [{ ...sshKey, SSH_KNOWN_HOSTS: `${knownHosts}:/nowhere` }, 'SSH_KNOWN_HOSTS: the file cannot be read (ENOENT)'],
    [
      { WATCHER_DEPLOY_TOKEN: 'a', ARGO_WATCHER_DEPLOY_TOKEN: 'b' },
      'WATCHER_DEPLOY_TOKEN: given more than once (WATCHER_DEPLOY_TOKEN, ARGO_WATCHER_DEPLOY_TOKEN): keep one',
    ],
  ])('%j is refused at the start, with the way out', ([given, wayOut]) => {
    try {
      read(given)
      expect.unreachable()
    } catch (error) {
      expect(error instanceof SettingsError && error.issues).toEqual([expect.stringContaining(wayOut)])
    }
  })
})

describe('settings, as they are lived', () => {
  const wanting = (image: string, fields: object = {}) => aTask({ images: [{ image, tag: 'v1' }], ...fields })
  const endOn = async (service: Service, task: unknown) => service.waitForEnd(idOf(await service.submitTask(task)))
  const anApplication = async (app: string, workload: ExampleWorkload) => {
    await world.simulator.git.commit('gitops', chartFiles(`apps/${app}`, { tag: 'v1', workloads: [workload] }))
    await world.createManaged(app)
  }

  test('ACCEPT_SUSPENDED_APP: a Suspended application counts as done', async () => {
    const image = 'registry.example/paused'
    await anApplication('paused', { kind: 'Rollout', image: `${image}:\${image.tag}`, replicas: 2, pause: true })
    await world.simulator.git.commit('gitops', {
      'apps/paused/.argocd-source-paused.yaml':
        'helm:\n  parameters:\n    - name: image.tag\n      value: "v2"\n      forceString: true\n',
    })
    const task = aTask({ app: 'paused', images: [{ image, tag: 'v2' }], refresh: true })
    const [strict, accepting] = await Promise.all([
      endOn(world.service, { ...task, timeout: 20 }),
      endOn(configured, { ...task, timeout: 30 }),
    ])
    expect([strict.cause, accepting.status]).toEqual(['suspended', 'deployed'])
  })
  test('DOCKER_IMAGES_PROXY: <proxy>/<image> counts as <image>', async () => {
    await anApplication('proxied', { kind: 'Deployment', image: 'proxy.example/registry.example/proxied:v1' })
    const task = wanting('registry.example/proxied', { app: 'proxied', timeout: 20, refresh: true })
    expect(await endOn(configured, task)).toMatchObject({ status: 'deployed' })
    expect(await endOn(world.service, task)).toMatchObject({ status: 'failed', cause: 'image_not_in_application' })
  })
  test('ARGO_URL_ALIAS is the base of the links shown, else ARGO_URL', async () => {
    const linkOn = async (service: Service) => {
      const id = idOf(await service.submitTask(wanting('registry.example/shop')))
      return (await service.waitForTask(id, ({ app_url: link }) => link !== undefined)).app_url
    }
    expect(await linkOn(configured)).toMatch(/^https:\/\/argo\.example\/applications\/.*shop$/)
    expect(await linkOn(world.service)).toContain(`${world.simulator.argoUrl}/applications/`)
  })
  test('SSH_KNOWN_HOSTS may be a colon list', async () => {
    const task = aTask({ images: [{ image: 'registry.example/shop', tag: 'known-hosts' }], refresh: true })
    const id = idOf(await configured.submitTask(task, withToken))
    expect(await configured.waitForEnd(id, 60_000)).toMatchObject({ status: 'deployed', commit: expect.any(String) })
  })
  test('DEPLOYMENT_TIMEOUT and ARGO_REFRESH_APP are those of a task that says nothing', async () => {
    const shown = async (service: Service, more: object = {}) =>
      service.getTask(idOf(await service.submitTask(aTask({ app: 'gone', ...more }))))
    expect(await shown(world.service)).toMatchObject({ timeout: 900, refresh: true })
    expect(await shown(configured)).toMatchObject({ timeout: 600, refresh: false })
    expect(await shown(configured, { timeout: 5, refresh: true })).toMatchObject({ timeout: 5, refresh: true })
  })
})

describe('annotations of the prefix argo-watcher/', () => {
  const theirs = (app: string) => ({
    'argo-watcher/managed': 'true',
    'argo-watcher/managed-images': `main=registry.example/${app}`,
    'argo-watcher/main.helm.image-tag': 'image.tag',
  })
  const place = { repository: 'gitops', path: 'apps/shop', targetRevision: 'main' }
  const application = (name: string, more: Record<string, string> = {}) =>
    world.simulator.control.createApplication({ name, source: place, annotations: { ...theirs(name), ...more } })
  const committed = async (app: string): Promise<TaskRecord> =>
    world.service.waitForTask(await world.deploy(app, 'v7'), ({ commit }) => commit !== undefined)
  test.for<[name: string, more: Record<string, string>, written: RegExp, file?: string]>([
    ['managed', {}, /"v7"/],
    [
      'managed-images',
      { 'argo-watcher/managed-images': 'a=registry.example/x, main=registry.example/managed-images' },
      /"v7"/,
    ],
    ['alias', { 'argo-watcher/main.helm.image-tag': 'deep.place.tag' }, /name: deep\.place\.tag\s+value: "v7"/],
    ['filename', { 'argo-watcher/write-back-filename': 'renamed-overrides.yaml' }, /"v7"/, 'renamed-overrides.yaml'],
  ])('%s: %j is where a tag is written', async ([app, more, written, file = `.argocd-source-${app}.yaml`]) => {
    await application(app, more)
    await committed(app)
    expect(String(await world.simulator.git.readFile('gitops', `apps/shop/${file}`))).toMatch(written)
  })

  const fileElsewhere = (app: string) =>
    world.simulator.git.readFile('elsewhere', `overrides/${app}/.argocd-source-${app}.yaml`, 'release')
  test.for<[string, (app: string, task: TaskRecord) => unknown, (app: string) => unknown]>([
    ['write-back-repo', (_app, { repository }) => repository, () => world.simulator.git.url('elsewhere')],
    ['write-back-branch', (_app, { branch }) => branch, () => 'release'],
    ['write-back-path', async (app) => String(await fileElsewhere(app)), () => expect.stringContaining('"v7"')],
  ])('%s', async ([name, found, expected]) => {
    const { git, control } = world.simulator
    await git.createRepository('elsewhere', { 'README.md': 'of overrides' }, { branch: 'release' })
    const annotations = {
      ...theirs(name),
      'argo-watcher/write-back-repo': git.url('elsewhere'),
      'argo-watcher/write-back-branch': 'release',
      'argo-watcher/write-back-path': `overrides/${name}`,
    }
    const values = { repository: 'elsewhere', path: `overrides/${name}`, targetRevision: 'release' }
    await control.createApplication({ name, sources: [place, values], annotations })
    expect(await found(name, await committed(name))).toEqual(expected(name))
  })

  test('an unknown annotation is in the timeline', async () => {
    const annotations = { 'argo-watcher/main.helm.image-tag': 'image.tag', 'argo-watcher/manged': 'true' }
    await world.simulator.control.createApplication({ name: 'mistyped', source: place, annotations })
    const id = idOf(await world.service.submitTask(aTask({ app: 'mistyped', timeout: 60 })))
    const timeline = async () => textOf(await get(`/tasks/${id}/events`))
    await expect
      .poll(timeline)
      .toContain('unknown annotation \\"argo-watcher/manged\\" is ignored: did you mean managed?')
  })
  test.for(['5', '5s', '5000ms', '0m5s'])('bad-pod-grace may be %s', async (time) => {
    const { badPodGraceMs, notes } = parseAnnotations(new Map([['argo-watcher/bad-pod-grace', time]]), [
      'argo-watcher/',
    ])
    expect([badPodGraceMs, notes]).toEqual([5_000, []])
  })
  test('skip-image-validation keeps a task waiting for an image that no manifest has', async () => {
    await application('unchecked', { 'argo-watcher/skip-image-validation': 'true' })
    const images = [{ image: 'registry.example/nowhere', tag: 'v1' }]
    const id = idOf(await world.service.submitTask(aTask({ app: 'unchecked', images, timeout: 12 })))
    expect(await world.service.waitForEnd(id)).toMatchObject({ cause: 'no_credential' })
  })
})

describe('credentials', () => {
  test.for(['Argo_watcher_deploy_token', 'ARGO_WATCHER_DEPLOY_TOKEN', 'Watcher-Deploy-Token'])(
    'the header %s, also after Bearer',
    async (name) => {
      for (const scheme of ['', 'Bearer ']) {
        expect((await present([[name, scheme + deployToken]])).status).toBe(409)
        expect((await present([[name, `${scheme}${deployToken}x`]])).status).toBe(401)
      }
    },
  )
  test.for(['Keycloak-Authorization', 'Oidc-Authorization'])(
    'one access token in Authorization and %s is one credential',
    async (name) => {
      const token = await world.idp.issueOpaqueToken('ada')
      const release = (headers: Record<string, string>) =>
        world.service.request('/api/v1/deploy-lock', { method: 'DELETE', headers })
      expect((await release({ Authorization: `Bearer ${token}`, [name]: token })).status).toBe(200)
      expect((await release({ Authorization: token, [name]: `Bearer ${token}` })).status).toBe(200)
      expect((await release({ Authorization: 'Bearer other', [name]: token })).status).toBe(401)
      expect((await release({ Authorization: 'Bearer invented', [name]: 'invented' })).status).toBe(401)
    },
  )
})

describe('its client', () => {
  const environment = (): Record<string, string> => ({
    ARGO_WATCHER_URL: world.service.url,
    IMAGES: 'registry.example/shop',
    IMAGE_TAG: 'v1',
    ARGO_APP: 'shop',
    COMMIT_AUTHOR: 'ada',
    PROJECT_NAME: 'of ada',
    RETRY_INTERVAL: '100ms',
  })
  const run = (more: Record<string, string>) => runArgoWatcherClient({ ...environment(), ...more })
  type Run = Awaited<ReturnType<typeof run>>
  const taskOf = ({ exchanges: [accepted] }: Run) =>
    world.service.getTask(z.object({ id: z.string() }).parse(JSON.parse(accepted?.body ?? '')).id)
  const withDeployToken = { ARGO_WATCHER_DEPLOY_TOKEN: deployToken }
  const withoutEnd = { IMAGE_TAG: 'never', TASK_TIMEOUT: '60' }

  type Row = readonly [name: string, Record<string, string>, exitCode: 0 | 1, Partial<TaskRecord>]
  test.for<Row>([
    [
      'IMAGES, with one IMAGE_TAG for all',
      { IMAGES: 'a,b', ARGO_APP: 'gone' },
      1,
      { images: ['a', 'b'].map((image) => ({ image, tag: 'v1' })) },
    ],
    [
      'COMMIT_AUTHOR, PROJECT_NAME and TIMEOUT',
      { COMMIT_AUTHOR: 'bob', PROJECT_NAME: 'of bob', TIMEOUT: '5s', ...withDeployToken, IMAGE_TAG: 'b1' },
      0,
      { author: 'bob', project: 'of bob', status: 'deployed' },
    ],
    ['TASK_TIMEOUT', { TASK_TIMEOUT: '77', ARGO_APP: 'gone' }, 1, { timeout: 77 }],
    ['TASK_REFRESH', { TASK_REFRESH: 'false', ARGO_APP: 'gone' }, 1, { refresh: false }],
    ['neither TASK_TIMEOUT nor TASK_REFRESH', { ARGO_APP: 'gone' }, 1, { timeout: 900, refresh: true }],
  ])('%s', async ([, more, exitCode, expected]) => {
    const ran = await run(more)
    expect([ran.exitCode, ran.lines]).toEqual([exitCode, expect.any(Array)])
    expect(await taskOf(ran)).toMatchObject(expected)
  })

  test('a wrong ARGO_WATCHER_DEPLOY_TOKEN ends it with 1', async () =>
    expect(await run({ ARGO_WATCHER_DEPLOY_TOKEN: 'wrong' })).toMatchObject({
      exitCode: 1,
      lines: [expect.stringContaining('401: '), expect.any(String)],
    }))
  test('BEARER_TOKEN wins', async () => {
    const ran = await run({ ARGO_WATCHER_DEPLOY_TOKEN: 'wrong', BEARER_TOKEN: jwt(), IMAGE_TAG: 'c2' })
    expect([ran.exitCode, await taskOf(ran)]).toMatchObject([0, { status: 'deployed', commit: expect.any(String) }])
  })
  test('RETRY_INTERVAL: however often it asks, it is answered 200, also when its JWT has expired meanwhile', async () => {
    const token = jwt({ exp: Math.floor(nowSeconds()) + 4 }) // good for the submission on a busy machine, too
    const ran = await run({ ...withoutEnd, ARGO_APP: 'filename', BEARER_TOKEN: token, EXPECTED_DEPLOY_TIME: '6s' })
    const polls = ran.exchanges.filter(({ path }) => path.startsWith('/api/v1/tasks/'))
    expect(polls.length).toBeGreaterThan(5)
    expect(new Set(polls.map(({ status }) => status))).toEqual(new Set([200]))
    expect((await present([['Authorization', token]])).status).toBe(401)
  })
  test('DEBUG: what it prints of the answers is JSON without a secret', async () => {
    const ran = await run({ ...withDeployToken, DEBUG: 'true', IMAGE_TAG: 'c3' })
    expect(ran.exchanges.length).toBeGreaterThan(1)
    for (const { body } of ran.exchanges) expect(() => JSON.parse(body)).not.toThrow()
    expect(ran.lines.join()).not.toContain(deployToken)
  })
  const cancelSoon = async () => {
    const list = async () => TaskList.parse((await get('/tasks?app=shop&author=cancelled&status=in%20progress')).body)
    await expect.poll(async () => (await list()).total).toBe(1)
    const [task] = (await list()).tasks
    await world.service.request(`/api/v1/tasks/${task?.id}`, { method: 'DELETE', headers: withToken })
  }
  test.for<[string, 0 | 1, () => Record<string, string>, (() => Promise<void>)?]>([
    ['deployed', 0, () => ({ ...withDeployToken, IMAGE_TAG: 'd1' })],
    ['failed', 1, () => ({ IMAGES: 'registry.example/nowhere', TASK_TIMEOUT: '30' })],
    ['cancelled', 1, () => ({ ...withoutEnd, COMMIT_AUTHOR: 'cancelled' }), cancelSoon],
    ['app not found', 1, () => ({ ARGO_APP: 'gone' })],
    ['in progress', 1, () => ({ ...withoutEnd, EXPECTED_DEPLOY_TIME: '300ms' })],
  ])('the status %s: it exits with %i', async ([status, exitCode, more, meanwhile]) => {
    const [ran] = await Promise.all([run(more()), meanwhile?.()])
    const last = ran.exchanges.findLast(({ path }) => path.startsWith('/api/v1/tasks/'))
    expect([ran.exitCode, JSON.parse(last?.body ?? '')]).toMatchObject([exitCode, { status }])
    const link = `${JSON.parse(textOf(await get('/config'))).argo_cd_url}/applications/`
    if (exitCode === 1) expect(ran.lines.at(-1)).toContain(link)
  })
  test('the status aborted, while Argo CD is away: it exits with 1', async () => {
    lines.controller.mood = 'refuse'
    lines.controller.cut()
    const ran = await run({ ARGO_WATCHER_URL: configured.url, TASK_TIMEOUT: '1' })
    lines.controller.mood = 'well'
    const last = ran.exchanges.findLast(({ path }) => path.startsWith('/api/v1/tasks/'))
    expect([ran.exitCode, JSON.parse(last?.body ?? '')]).toMatchObject([1, { status: 'aborted' }])
  })
  test('the status accepted is never shown', async () => {
    const { exchanges } = await run({ ...withDeployToken, IMAGE_TAG: 'd2', RETRY_INTERVAL: '1ms' })
    expect(exchanges.length).toBeGreaterThan(2)
    expect(JSON.stringify(exchanges.slice(1))).not.toContain('"status":"accepted"')
  })
})

describe('GET /config', () => {
  const of = async (service: Service) => Json.parse((await get('/config', service)).body)

  test.for<[string, () => unknown, () => unknown]>([
    ['argo_cd_url', () => world.simulator.argoUrl, () => `http://127.0.0.1:${lines.controller.port}`],
    ['argo_cd_url_alias', () => undefined, () => 'https://argo.example'],
    ['argo_api_timeout', () => 60, () => 30],
    ['argo_api_retries', () => 3, () => 1],
    ['deployment_timeout', () => 900, () => 600],
    ['accept_suspended_app', () => false, () => true],
    ['argo_refresh_app', () => true, () => false],
    ['registry_proxy_url', () => undefined, () => 'proxy.example'],
    ['state_type', () => 'postgres', () => 'postgres'],
    ['skip_tls_verify', () => false, () => true],
    ['log_level', () => 'info', () => 'debug'],
    ['lockdown_schedule', () => undefined, () => lockdown],
    ['webhook', () => ({ enabled: false }), () => ({ enabled: false })],
    ['mattermost', () => ({ enabled: false }), () => ({ enabled: false })],
  ])('%s', async ([name, byDefault, asConfigured]) => {
    expect((await of(world.service))[name]).toEqual(byDefault())
    expect((await of(configured))[name]).toEqual(asConfigured())
  })
  test('oidc', async () => {
    expect((await of(configured)).oidc).toEqual({ enabled: false })
    expect((await of(world.service)).oidc).toEqual({
      enabled: true,
      issuer_url: world.idp.issuer,
      client_id: world.idp.settings.IDP_CLIENT_ID,
      privileged_groups: ['platform'],
    })
  })
  test('nothing else, and no user of ARGO_URL', async () => {
    for (const service of [world.service, configured]) ServiceConfig.strict().parse(await of(service))
    expect(JSON.stringify(await of(configured))).not.toMatch(/me:pw|@/)
  })
})

describe('answers', () => {
  test('GET /version is a bare JSON string', async () => {
    const { headers, body } = await get('/version')
    expect([headers.get('content-type'), typeof body]).toEqual(['application/json; charset=utf-8', 'string'])
  })
  test('times are epoch seconds with a fraction', async () => {
    const ids = await Promise.all(
      [1, 2, 3].map(async () => idOf(await world.service.submitTask(aTask({ app: 'gone' })))),
    )
    const times = (await Promise.all(ids.map(world.service.getTask))).flatMap(({ created, updated }) => [
      created,
      updated,
    ])
    for (const time of times) expect(Math.abs(time - nowSeconds())).toBeLessThan(60)
    expect(times.some((time) => !Number.isInteger(time))).toBe(true)
  })
  describe('list filters', () => {
    const found = async (query: string) => {
      const { id, created } = await world.service.getTask(idOf(await world.service.submitTask(aTask({ app: 'edge' }))))
      const page = await get(`/tasks?app=edge&${query.replace('CREATED', String(created))}`)
      return TaskList.parse(page.body).tasks.some((task) => task.id === id)
    }
    test.for<[string, string, boolean]>([
      ['to_timestamp is inclusive', 'to_timestamp=CREATED', true],
      ['to_timestamp bounds', 'to_timestamp=1', false],
      ['from_timestamp is exclusive', 'from_timestamp=CREATED', false],
      ['from_timestamp bounds', 'from_timestamp=1', true],
    ])('%s', async ([, query, is]) => expect(await found(query)).toBe(is))
  })
  test.for(['accepted', 'argocd is unavailable'])(
    'the status filter %s, which no task has, is an empty list',
    async (status) => {
      const tasks = (more: string) => get(`/tasks?${new URLSearchParams({ status })}${more}`)
      for (const more of ['', '&app=shop', '&search=shop', '&limit=1&offset=3'])
        expect(await tasks(more)).toMatchObject({ status: 200, body: { tasks: [], total: 0 } })
    },
  )
  test('empty values of filters count as absent', async () => {
    const names = ['limit', 'offset', 'from_timestamp', 'to_timestamp', 'status']
    const idsOf = async (
      query: string, // their statuses may change meanwhile
    ) => TaskList.parse((await get(`/tasks?app=gone${query}`)).body).tasks.map(({ id }) => id)
    const all = await idsOf('')
    expect(all).not.toEqual([])
    for (const query of [...names, names.join('=&')]) expect(await idsOf(`&${query}=`)).toEqual(all)
  })
  test('refresh: null counts as absent', async () => {
    for (const [service, refresh] of [
      [world.service, true],
      [configured, false],
    ] as const) {
      const id = idOf(await service.submitTask({ ...aTask({ app: 'gone' }), refresh: null }))
      expect(await service.getTask(id)).toMatchObject({ refresh })
    }
  })
  test.for(['/healthz', '/livez', '/api/v1/tasks', '/api/v1/deploy-lock', '/api/v1/config'])(
    'a slash at the end of %s does not count',
    async (path) => expect((await world.service.request(`${path}/`, { redirect: 'manual' })).status).toBe(200),
  )
  test.for(['/livez', '/readyz', '/healthz'])('%s says up', async (path) =>
    expect(await world.service.request(path)).toMatchObject({ status: 200, body: { status: 'up' } }),
  )
  test.for(['/livez', '/api/v1/tasks'])(
    'GET %s by HTTP/1.0 without Host is 200, also with an identity provider and no PUBLIC_URL',
    async (path) => {
      for (const { url } of [configured, world.service]) {
        const answer = await rawExchange(Number(new URL(url).port), `GET ${path} HTTP/1.0\r\n\r\n`)
        expect(answer).toMatch(/^HTTP\/1\.1 200 /)
      }
    },
  )
  test.for(['/swagger/swagger.json', '/api/v1/openapi.json'])('the API document is at %s', async (path) => {
    const { body } = await world.service.request('/swagger/index.html/json')
    expect(await world.service.request(path)).toMatchObject({ status: 200, body })
    expect(Json.parse(body)).toMatchObject({ openapi: '3.1.0' })
  })
})

/** The sum of a metric's series whose labels hold these, or undefined where there is none. */
async function figureOf(service: Service, name: string, labels: Record<string, string> = {}) {
  const lines = textOf(await service.request('/metrics')).split('\n')
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  const series = lines.filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
  const figures = series
    .filter((line) => wanted.every((one) => line.includes(one)))
    .map((line) => Number(line.split(' ').at(-1)))
  return figures.length === 0 ? undefined : figures.reduce((sum, figure) => sum + figure)
}

describe('while what the service needs is away', () => {
  test('GET /reachability, argocd_unavailable and state_unavailable', async () => {
    const statusOf = async (path: string) => Json.parse((await configured.request(path)).body).status
    const all = async () => [
      (await get('/reachability', configured)).body,
      await Promise.all(['/livez', '/readyz', '/healthz'].map(statusOf)),
      await figureOf(configured, 'argocd_unavailable'),
      await figureOf(configured, 'state_unavailable'),
    ]
    const away = (proxy: Replica['lines']['controller'], isAway: boolean) => {
      proxy.mood = isAway ? 'refuse' : 'well'
      proxy.cut()
    }
    const rows = [
      [false, false, { available: true }],
      [true, false, { available: false, reason: 'argocd' }],
      [true, true, { available: false, reason: 'both' }],
      [false, true, { available: false, reason: 'database' }],
      [false, false, { available: true }],
    ] as const
    for (const [isArgoAway, isDatabaseAway, answer] of rows) {
      away(lines.controller, isArgoAway)
      away(lines.database, isDatabaseAway)
      await expect
        .poll(all)
        .toEqual([
          answer,
          ['up', ...Array(2).fill(isDatabaseAway ? 'down' : 'up')],
          Number(isArgoAway),
          Number(isDatabaseAway),
        ])
    }
  })
})

describe('metrics of the same meaning keep their names and labels', () => {
  test.beforeAll(async () => {
    await world.service.waitForEnd(await world.deploy('shop', 'm1'))
    await world.service.waitForEnd(await world.announce('gone', 'm1'))
    const failing = { images: [{ image: 'registry.example/shop', tag: 'never' }], timeout: 5 }
    await world.service.waitForEnd(idOf(await world.service.submitTask(aTask(failing))))
  })
  const app = 'shop'

  test.for<[string, Record<string, string>]>([
    ['accepted_deployments', {}],
    ['unconfirmed_deployment_failures', {}],
    ['failed_deployment', { app }],
    ['deployments_total', { app, result: 'deployed' }],
    ['deployments_total', { app, result: 'failed' }],
    ['deployment_duration_seconds_count', { app }],
    ['argocd_refresh_duration_seconds_count', { app }],
    ['gitops_writeback_duration_seconds_count', { app }],
    ['gitops_lock_wait_duration_seconds_count', { app }],
    ['gitops_batch_size_count', {}],
    ['gitops_writeback_skipped_unvalidated', { app }],
  ])('%s %j', async ([name, labels]) => expect(await figureOf(world.service, name, labels)).toBeGreaterThan(0))

  test('failed_deployment is a gauge of the failures since the last success', async () => {
    expect(textOf(await world.service.request('/metrics'))).toContain('# TYPE failed_deployment gauge')
    await world.service.waitForEnd(await world.deploy('shop', 'm2'))
    expect(await figureOf(world.service, 'failed_deployment', { app })).toBe(0)
  })
  test('in_progress_tasks', async () => {
    const id = idOf(await configured.submitTask(aTask({ images: [{ image: 'registry.example/shop', tag: 'never' }] })))
    // It superseded what others left unfinished.
    await expect.poll(() => figureOf(configured, 'in_progress_tasks')).toBe(1)
    await configured.request(`/api/v1/tasks/${id}`, { method: 'DELETE', headers: withToken })
    await expect.poll(() => figureOf(configured, 'in_progress_tasks')).toBe(0)
  })
  test('unauthenticated_reads: path and app of a task that is shown without a credential', async () => {
    const id = idOf(await world.service.submitTask(aTask({ app: 'never-confirmed' })))
    const labels = { path: '/api/v1/tasks/:id', app: 'unknown' }
    const reads = async () => Number((await figureOf(world.service, 'unauthenticated_reads', labels)) ?? 0)
    const before = await reads()
    await world.service.request(`/api/v1/tasks/${id}`)
    expect(await reads()).toBe(before + 1)
    await world.service.request(`/api/v1/tasks/${id}`, { headers: { Authorization: `Bearer ${jwt()}` } })
    await (await world.signedIn('ada')).request(`${world.service.url}/api/v1/tasks/${id}`)
    expect(await reads()).toBe(before + 1)
    expect(textOf(await world.service.request('/metrics'))).not.toContain('app="never-confirmed"')
    await configured.getTask(idOf(await configured.submitTask(aTask({ app: 'gone' }))))
    expect(await figureOf(configured, 'unauthenticated_reads')).toBeUndefined() // nobody could sign in there
  })
})

test('different on purpose: fire-and-forget without managed or a credential is monitored like any other task (B74)', async () => {
  await world.createManaged('watched-jobs', { 'argo-watcher/fire-and-forget': 'true' })
  const task = aTask({ app: 'watched-jobs', images: [{ image: 'registry.example/jobs', tag: 'v9' }], timeout: 10 })
  const end = await world.service.waitForEnd(idOf(await world.service.submitTask(task)))
  expect(end.status).toBe('failed')
  expect(end.status_reason?.split('\n')[0]).toContain('the task came without a valid credential')
})
