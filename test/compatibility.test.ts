import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ServiceConfig } from '../contract/service.ts'
import { readSettings, type Settings, SettingsError } from '../server/settings.ts'
import { type CredentialWorld, startCredentialWorld } from './support/credential-world.ts'
import { mintJwt } from './support/mint-jwt.ts'
import { aTask, startService } from './support/service.ts'
import { createManaged, deployToken, withToken } from './support/world.ts'
import { idOf, textOf } from './threats/answers.ts'

// What installations of argo-watcher 0.12 to 1.x rely on: each name and shape is a row.

const folder = mkdtempSync(path.join(tmpdir(), 'deployment-watcher-compatibility-'))
const knownHosts = path.join(folder, 'known_hosts')
const key = path.join(folder, 'key')
writeFileSync(knownHosts, 'git.example ssh-ed25519 AAAA\n')
writeFileSync(key, '-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n')

const jwtSecret = 'a secret of these tests, longer than 32 bytes'
let world: CredentialWorld
beforeAll(async () => {
  world = await startCredentialWorld(jwtSecret)
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

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
    return readSettings({ ...least, ...(isDsn ? {} : database), ...given })
  }
  type Row = readonly [Record<string, string>, (settings: Settings) => unknown, unknown]

  test.for<Row>([
    [{}, ({ deliveryController: { apiTimeoutMs, apiRetries } }) => [apiTimeoutMs, apiRetries], [60_000, 3]],
    [{}, ({ submission }) => [submission.refreshByDefault, submission.defaultTimeoutSeconds], [true, 900]],
    [{}, ({ http, writeBack }) => [http.port, writeBack.gitOpTimeoutMs], [8080, 90_000]],
    [{ ARGO_URL: 'https://me:pw@b.example' }, ({ deliveryController }) => deliveryController.url, 'https://b.example'],
    [
      { ARGO_URL_ALIAS: 'https://c.example' },
      ({ deliveryController }) => deliveryController.urlAlias,
      'https://c.example',
    ],
    [{ ARGO_TOKEN: 'other' }, ({ deliveryController }) => deliveryController.token(), 'other'],
    [{ ARGO_API_TIMEOUT: '30' }, ({ deliveryController }) => deliveryController.apiTimeoutMs, 30_000],
    [{ ARGO_API_RETRIES: '5' }, ({ deliveryController }) => deliveryController.apiRetries, 5],
    [{ ARGO_REFRESH_APP: 'false' }, ({ submission }) => submission.refreshByDefault, false],
    [{ SKIP_TLS_VERIFY: 'true' }, ({ deliveryController }) => deliveryController.skipTlsVerify, true],
    [{ ACCEPT_SUSPENDED_APP: 'true' }, ({ rollout }) => rollout.acceptSuspended, true],
    [{ DOCKER_IMAGES_PROXY: 'proxy.example' }, ({ rollout }) => rollout.registryProxy, 'proxy.example'],
    [{ DEPLOYMENT_TIMEOUT: '600' }, ({ submission }) => submission.defaultTimeoutSeconds, 600],
    [{ HOST: '127.0.0.1' }, ({ http }) => http.host, '127.0.0.1'],
    [{ PORT: '9090' }, ({ http }) => http.port, 9090],
    [{ LOG_LEVEL: 'debug' }, ({ log }) => log.level, 'debug'],
    [{ DB_HOST: 'db2' }, ({ database }) => database.connection.host, 'db2'],
    [{ DB_PORT: '5433' }, ({ database }) => database.connection.port, 5433],
    [{ DB_USER: 'you' }, ({ database }) => database.connection.user, 'you'],
    [{ DB_PASSWORD: 'pw' }, ({ database }) => database.connection.password, 'pw'],
    [{ DB_NAME: 'x' }, ({ database }) => database.connection.database, 'x'],
    [{ DB_SSL_MODE: 'require' }, ({ database }) => database.connection.ssl, { rejectUnauthorized: false }],
    [{ DB_DSN: 'host=db3 dbname=w' }, ({ database }) => database.connection.host, 'db3'],
    [{ DB_CONNECT_TIMEOUT: '7' }, ({ database }) => database.connectTimeoutMs, 7_000],
    [{ JWT_SECRET: 's'.repeat(32) }, ({ auth }) => auth.jwtSecret?.(), 's'.repeat(32)],
    [{ JWT_ISSUER: 'us' }, ({ auth }) => auth.jwtIssuer, 'us'],
    [{ JWT_AUDIENCE: 'w' }, ({ auth }) => auth.jwtAudience, 'w'],
    [{ ARGO_WATCHER_DEPLOY_TOKEN: 'old' }, ({ auth }) => auth.deployToken?.(), 'old'],
    [{ LOCKDOWN_SCHEDULE: 'Fri 17:00 - Mon 08:00' }, ({ lock }) => lock.text, 'Fri 17:00 - Mon 08:00'],
    [sshKey, ({ writeBack }) => [writeBack.sshKeyPath, writeBack.knownHostsPath], [key, knownHosts]],
    [{ ...sshKey, SSH_KEY_PASS: 'pw' }, ({ writeBack }) => writeBack.sshKeyPass, 'pw'],
    [{ SSH_COMMIT_USER: 'ci' }, ({ writeBack }) => writeBack.commitAuthor.name, 'ci'],
    [{ SSH_COMMIT_MAIL: 'ci@x' }, ({ writeBack }) => writeBack.commitAuthor.mail, 'ci@x'],
    [{ REPO_CACHE_PATH: '/cache' }, ({ writeBack }) => writeBack.repoCachePath, '/cache'],
    [{ GIT_OP_TIMEOUT: '45' }, ({ writeBack }) => writeBack.gitOpTimeoutMs, 45_000],
    [oidc, ({ identityProvider }) => identityProvider?.issuerUrl, 'https://id.example'],
    [oidc, ({ identityProvider }) => identityProvider?.clientId, 'w'],
    [
      { ...oidc, OIDC_PRIVILEGED_GROUPS: 'a,b' },
      ({ identityProvider }) => identityProvider?.privilegedGroups,
      ['a', 'b'],
    ],
    [
      { ...oidc, OIDC_REQUIRE_TASK_READ_AUTH: 'true' },
      ({ identityProvider }) => identityProvider?.requireReadAuth,
      true,
    ],
  ])('%j means what it means there', ([given, pick, value]) => expect(pick(read(given).settings)).toEqual(value))

  test.for<[Record<string, string>, readonly string[]]>([
    [{ COMMIT_MESSAGE_FORMAT: '{{.App}}' }, ['COMMIT_MESSAGE_FORMAT is not available in this version']],
    [{ GIT_MAX_ATTEMPTS: '5' }, ['GIT_MAX_ATTEMPTS is without effect']],
    [{ GIT_BATCH_WRITEBACK: 'true' }, ['GIT_BATCH_WRITEBACK is without effect']],
    [{ GIT_BATCH_MAX_SIZE: '5' }, ['GIT_BATCH_MAX_SIZE is without effect']],
    [{ WEBHOOK_ENABLED: 'true' }, ['WEBHOOK_ENABLED: notifications are not built yet']],
    [{ MATTERMOST_ENABLED: 'true' }, ['MATTERMOST_ENABLED: notifications are not built yet']],
    [
      { WEBHOOK_ENABLED: 'true', MATTERMOST_ENABLED: 'true' },
      ['WEBHOOK_ENABLED, MATTERMOST_ENABLED: notifications are not built yet'],
    ],
    [{ TASK_RETENTION_ENABLED: 'true' }, ['TASK_RETENTION_ENABLED is not available in this version']],
    [{ OIDC_TOKEN_VALIDATION_INTERVAL: '300' }, ['OIDC_TOKEN_VALIDATION_INTERVAL is without effect']],
    [{ STATIC_FILES_PATH: '/static' }, ['STATIC_FILES_PATH is without effect']],
    [{ DEV_ENVIRONMENT: 'true' }, ['DEV_ENVIRONMENT is without effect']],
    ...[
      'URL',
      'CONTENT_TYPE',
      'FORMAT',
      'AUTHORIZATION_HEADER_NAME',
      'AUTHORIZATION_HEADER_VALUE',
      'ALLOWED_RESPONSE_CODES',
    ].map((name): [Record<string, string>, string[]] => [{ [`WEBHOOK_${name}`]: '200', WEBHOOK_ENABLED: 'false' }, []]),
    ...['URL', 'TOKEN', 'CHANNEL_ID', 'FORMAT', 'MENTION_AUTHOR'].map((name): [Record<string, string>, string[]] => [
      { [`MATTERMOST_${name}`]: 'x', MATTERMOST_ENABLED: 'false' },
      [],
    ]),
    [{ TASK_RETENTION_DAYS: '30' }, []],
    [{ STATE_TYPE: 'postgres' }, []],
  ])('%j is taken, with its line in the log: %j', ([given, lines]) =>
    expect(read(given).warnings).toEqual(lines.map((line) => expect.stringContaining(line))),
  )

  test.for<[Record<string, string>, string]>([
    [{ STATE_TYPE: 'in-memory' }, 'STATE_TYPE: only postgres is supported: remove it and set DATABASE_URL'],
    [{ KEYCLOAK_ENABLED: 'true' }, 'is now IDP_ENABLED'],
    [{ KEYCLOAK_URL: 'https://id' }, 'is now IDP_ISSUER_URL'],
    [{ KEYCLOAK_REALM: 'r' }, 'is now a part of IDP_ISSUER_URL'],
    [{ KEYCLOAK_CLIENT_ID: 'w' }, 'is now IDP_CLIENT_ID'],
    [{ KEYCLOAK_PRIVILEGED_GROUPS: 'a' }, 'is now IDP_PRIVILEGED_GROUPS'],
    [{ KEYCLOAK_TOKEN_VALIDATION_INTERVAL: '5' }, 'has no replacement and needs none'],
  ])('%j is refused at the start, with the way out', ([given, wayOut]) => {
    try {
      read(given)
      expect.unreachable()
    } catch (error) {
      expect(error instanceof SettingsError && error.mistakes).toEqual([expect.stringContaining(wayOut)])
    }
  })
})

describe('annotations of the prefix argo-watcher/', () => {
  const own = { 'watcher/managed': '', 'watcher/managed-images': '', 'watcher/main.helm.image-tag': '' }
  const theirs = (app: string) => ({
    'argo-watcher/managed': 'true',
    'argo-watcher/managed-images': `main=registry.example/${app}`,
    'argo-watcher/main.helm.image-tag': 'image.tag',
  })
  const application = async (name: string, more: Record<string, string>) => {
    const source = { repository: 'gitops', path: 'apps/shop', targetRevision: 'main' }
    await world.simulator.control.createApplication({ name, source, annotations: { ...theirs(name), ...more } })
  }

  test('managed, managed-images, <alias>.helm.image-tag and write-back-filename lead to a commit', async () => {
    await application('renamed', { 'argo-watcher/write-back-filename': 'renamed-overrides.yaml' })
    const id = await world.deploy('renamed', 'v7')
    await world.service.waitForTask(id, ({ commit }) => commit !== undefined, 60_000)
    expect(String(await world.simulator.git.readFile('gitops', 'apps/shop/renamed-overrides.yaml'))).toContain('"v7"')
  })

  test('fire-and-forget ends a task with its commit, and without one it is watched', async () => {
    await application('jobs', {
      'argo-watcher/fire-and-forget': 'true',
      'argo-watcher/write-back-filename': 'jobs.yaml',
    })
    const committed = await world.service.waitForEnd(await world.deploy('jobs', 'v8'), 60_000)
    expect(committed).toMatchObject({ status: 'deployed', commit: expect.any(String) })
    const task = aTask({ app: 'jobs', images: [{ image: 'registry.example/jobs', tag: 'v9' }], timeout: 3 })
    const watched = await world.service.waitForEnd(idOf(await world.service.submitTask(task)), 60_000)
    expect(watched.status).not.toBe('deployed')
  })

  test('skip-image-validation keeps a task waiting for an image that no manifest has', async () => {
    await createManaged(world.simulator, 'unchecked', { ...own, 'argo-watcher/skip-image-validation': 'true' })
    const submit = (app: string) =>
      world.service.submitTask(aTask({ app, images: [{ image: 'registry.example/nowhere', tag: 'v1' }], timeout: 20 }))
    const [checked, unchecked] = [idOf(await submit('shop')), idOf(await submit('unchecked'))]
    expect(await world.service.waitForEnd(checked, 60_000)).toMatchObject({ cause: 'image_not_in_application' })
    expect(await world.service.waitForEnd(unchecked, 60_000)).not.toMatchObject({ cause: 'image_not_in_application' })
  }, 120_000)
})

describe('credentials', () => {
  const names = ['Argo_watcher_deploy_token', 'ARGO_WATCHER_DEPLOY_TOKEN', 'argo-watcher-deploy-token']
  test.for([...names, 'WATCHER_DEPLOY_TOKEN', 'watcher_deploy_token', 'Watcher-Deploy-Token'])(
    'the header %s',
    async (name) => expect((await world.present([[name, deployToken]])).status).toBe(409),
  )
  test.for(['', 'Bearer ', 'bearer '])('a JWT in Authorization after "%s"', async (scheme) => {
    const jwt = mintJwt({ exp: 4_000_000_000 }, jwtSecret)
    expect((await world.present([['Authorization', scheme + jwt]])).status).toBe(409)
  })
})

describe('answers', () => {
  const get = (pathname: string) => world.service.request(`/api/v1${pathname}`)

  test('GET /version is a bare JSON string', async () => {
    const { headers, body } = await get('/version')
    expect([headers.get('content-type'), typeof body]).toEqual(['application/json; charset=utf-8', 'string'])
  })
  test('GET /deploy-lock is a bare boolean', async () => expect((await get('/deploy-lock')).body).toBe(false))
  test('GET /reachability', async () => expect((await get('/reachability')).body).toEqual({ available: true }))
  test('a task: the status is never accepted, times are epoch seconds with a fraction', async () => {
    const answer = await world.service.submitTask(aTask({ app: 'gone' }), {
      'content-type': 'application/json; charset=UTF-8',
    })
    expect(answer.status).toBe(202)
    const { body } = await get(`/tasks/${idOf(answer)}`)
    const { status, created } = z.object({ status: z.string(), created: z.number() }).parse(body)
    expect(['in progress', 'app not found']).toContain(status)
    expect(Math.abs(created - Date.now() / 1000)).toBeLessThan(600)
    expect(textOf(answer)).toContain('"status":"accepted"')
  })
  test('GET /config: exactly these keys and kinds', async () => {
    const settings = {
      ARGO_URL: 'http://me:pw@127.0.0.1:1',
      ARGO_URL_ALIAS: 'https://argo.example',
      DOCKER_IMAGES_PROXY: 'p',
    }
    await using service = await startService({ settings: { ...settings, LOCKDOWN_SCHEDULE: 'Sun 03:00 - Sun 03:01' } })
    const { body } = await service.request('/api/v1/config')
    expect(ServiceConfig.strict().parse(body)).toEqual({
      argo_cd_url: 'http://127.0.0.1:1',
      argo_cd_url_alias: 'https://argo.example',
      argo_api_timeout: 60,
      argo_api_retries: 3,
      deployment_timeout: 900,
      accept_suspended_app: false,
      argo_refresh_app: true,
      registry_proxy_url: 'p',
      state_type: 'postgres',
      skip_tls_verify: false,
      log_level: 'info',
      oidc: { enabled: false },
      lockdown_schedule: 'Sun 03:00 - Sun 03:01',
      webhook: { enabled: false },
      mattermost: { enabled: false },
    })
  })
  test('from_timestamp is exclusive, to_timestamp inclusive', async () => {
    const { id, created } = await world.service.getTask(idOf(await world.service.submitTask(aTask({ app: 'edge' }))))
    const found = async (query: string) => JSON.stringify((await get(`/tasks?app=edge&${query}`)).body).includes(id)
    expect(await found(`to_timestamp=${created}`)).toBe(true)
    expect(await found(`from_timestamp=${created}`)).toBe(false)
    expect(await found(`from_timestamp=${created - 1}`)).toBe(true)
    expect(await found(`to_timestamp=${created - 1}`)).toBe(false)
  })
  test('an unsupported status is 400', async () =>
    expect(await get('/tasks?status=accepted')).toMatchObject({
      status: 400,
      body: { error: 'unsupported status filter' },
    }))
  test.for(['nothing', '00000000-0000-0000-0000-000000000000'])('the unknown id %s is 404', async (id) =>
    expect(await get(`/tasks/${id}`)).toMatchObject({ status: 404, body: { id, error: 'task not found' } }),
  )
})

// Not measured yet: gitops_lock_wait_duration_seconds, gitops_batch_size, gitops_writeback_skipped_unvalidated and
// unauthenticated_reads.
describe('metrics of the same meaning keep their names', () => {
  test.for([
    'failed_deployment',
    'deployments_total',
    'accepted_deployments',
    'unconfirmed_deployment_failures',
    'in_progress_tasks',
    'argocd_unavailable',
    'state_unavailable',
    'deployment_duration_seconds',
    'argocd_refresh_duration_seconds',
    'gitops_writeback_duration_seconds',
  ])('%s', async (name) =>
    expect(textOf(await world.service.request('/metrics'))).toMatch(new RegExp(`^# TYPE ${name} `, 'm')),
  )
})

describe('different on purpose', () => {
  test('an unknown path or method below /api/ is JSON: 404 or 405', async () => {
    const headers = { accept: 'text/html' }
    expect(await world.service.request('/api/v1/nothing', { headers })).toMatchObject({
      status: 404,
      body: { error: expect.any(String) },
    })
    expect(await world.service.request('/api/v1/tasks', { method: 'PUT', headers })).toMatchObject({ status: 405 })
  })
  test('images: [] is 406', async () =>
    expect((await world.service.submitTask(aTask({ images: [] }))).status).toBe(406))
  test('a task is accepted while Argo CD is down', async () => {
    await using service = await startService() // nobody answers at its ARGO_URL
    expect((await service.submitTask()).status).toBe(202)
  })
  test('exp: 0 is expired', async () =>
    expect(await world.present([['Authorization', mintJwt({ exp: 0 }, jwtSecret)]])).toMatchObject({
      status: 401,
      body: { error: expect.stringContaining('exp lies in the past') },
    }))
  test('the override file keeps comments and keys of others', async () => {
    const file = 'apps/shop/.argocd-source-shop.yaml'
    await world.simulator.git.commit('gitops', { [file]: '# kept\nkustomize: {}\n' })
    const id = idOf(
      await world.service.submitTask(aTask({ images: [{ image: 'registry.example/shop', tag: 'v77' }] }), withToken),
    )
    await world.service.waitForTask(id, ({ commit }) => commit !== undefined, 60_000)
    expect(String(await world.simulator.git.readFile('gitops', file))).toMatch(/# kept\nkustomize: \{\}\n[\s\S]*"v77"/)
  })
})
