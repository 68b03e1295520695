import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { settingDefaults } from '../settings/definitions.ts'
import { readSettings, SettingsError } from './settings.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'settings-'))
afterAll(() => rmSync(folder, { recursive: true }))

function aFile(name: string, text: string): string {
  const file = path.join(folder, name)
  writeFileSync(file, text)
  return file
}

const certificate = '-----BEGIN CERTIFICATE-----\n'
const least = {
  ARGO_URL: 'https://argocd.example.com',
  ARGO_TOKEN: 'argo-token',
  DATABASE_URL: 'postgres://watcher:pw@db/watcher',
  OVERRIDE_FILE_PREFIX: 'argocd',
}
/** What an installation should change is changed. */
const secured = {
  ...least,
  DATABASE_URL: 'postgres://watcher:pw@db/watcher?sslmode=verify-full',
  WATCHER_DEPLOY_TOKEN: 'deploy-token',
  REQUIRE_CREDENTIAL: 'true',
  JWT_ENFORCE_ALLOWED_APPS: 'true',
  DEPLOY_TOKEN_IN_QUERY: 'false',
  WRITE_BACK_ALLOWED_REPOS: 'git.example.com',
}
const without = (...names: (keyof typeof least)[]) =>
  Object.fromEntries(Object.entries(least).filter(([name]) => !names.some((other) => other === name)))

function issuesIn(environment: Record<string, string | undefined>): readonly string[] {
  try {
    readSettings(environment)
    return []
  } catch (error) {
    if (error instanceof SettingsError) return error.issues
    throw error
  }
}

describe('the settings that are enough', () => {
  const { settings } = readSettings(least)

  test('give the documented defaults', () => {
    expect(settings.http).toMatchObject({ host: '0.0.0.0', port: 8080, metricsPort: undefined, trustedProxies: [] })
    expect(settings.submission).toMatchObject({ defaultTimeoutSeconds: 900, refreshByDefault: true })
    expect(settings.deliveryController).toMatchObject({ apiTimeoutMs: 60_000, apiRetries: 3, skipTlsVerify: false })
    expect(settings.rollout).toMatchObject({ settleMs: undefined, badPodGraceMs: 120_000 })
    expect(settings.database).toMatchObject({ schema: 'watcher', isEmbedded: false })
    expect(settings.auth.requireCredential).toBe(false)
    expect(settings.lock).toEqual({ schedule: { windows: [], timeZone: 'UTC' }, text: undefined })
    expect(settings.writeBack.annotationPrefixes).toEqual(['watcher/', 'argo-watcher/'])
    expect(settings.writeBack.repoCachePath).toBe(path.resolve('data/repositories'))
    expect(settings.writeBack.repoCacheLimitBytes).toBe(2 * 1024 ** 3)
  })
  test('need no warning where what is insecure was changed', () => expect(readSettings(secured).warnings).toEqual([]))
  test('cannot be changed', () => expect(Object.isFrozen(settings) && Object.isFrozen(settings.http)).toBe(true))
})

describe('REPO_CACHE_LIMIT', () => {
  test.for([
    { text: '500MiB', bytes: 500 * 1024 ** 2 },
    { text: ' 3Gi ', bytes: 3 * 1024 ** 3 },
  ])('$text is $bytes bytes', ({ text, bytes }) => {
    const { settings } = readSettings({ ...least, REPO_CACHE_LIMIT: text })
    expect(settings.writeBack.repoCacheLimitBytes).toBe(bytes)
  })
  test.for(['0GiB', '2', '2GB', '1.5GiB', '-1MiB'])('%s is rejected', (text) => {
    expect(() => readSettings({ ...least, REPO_CACHE_LIMIT: text })).toThrow('REPO_CACHE_LIMIT: must be a size')
  })
})

describe('what is missing or excludes each other is refused', () => {
  test.for<[string, Record<string, string | undefined>, string[]]>([
    [
      'nothing at all',
      {},
      ['ARGO_URL: is required', 'ARGO_TOKEN: is required', 'DATABASE_URL: no database is configured'],
    ],
    ['only ARGO_URL', without('ARGO_TOKEN'), ['ARGO_TOKEN: is required']],
    ['only ARGO_TOKEN', without('ARGO_URL'), ['ARGO_URL: is required']],
    ['an address and parts', { ...least, DB_HOST: 'db' }, ['DATABASE_URL: given together with DB_HOST']],
    ['an address and a password', { ...least, DB_PASSWORD: 'pw' }, ['DATABASE_URL: given together with DB_PASSWORD']],
    ['an address and a DSN', { ...least, DB_DSN: 'host=db' }, ['DATABASE_URL: given together with DB_DSN']],
    [
      'authorities for a connection without TLS',
      { ...least, DATABASE_URL: 'postgres://db/w?sslmode=disable', DB_CA_FILE: aFile('db-ca', certificate) },
      ['DB_CA_FILE: has no effect without TLS'],
    ],
    [
      'authorities for parts without TLS',
      {
        ...without('DATABASE_URL'),
        ...{ DB_HOST: 'db', DB_USER: 'w', DB_NAME: 'w', DB_SSL_MODE: 'disable' },
        DB_CA_FILE: aFile('db-ca-2', certificate),
      },
      ['DB_CA_FILE: has no effect without TLS'],
    ],
    [
      'authorities in two places',
      { ...least, DATABASE_URL: 'postgres://db/w?sslrootcert=/x', DB_CA_FILE: aFile('db-ca-3', certificate) },
      ['DB_CA_FILE: given together with sslrootcert'],
    ],
    [
      'authorities that are none',
      { ...least, DB_CA_FILE: aFile('db-ca-4', 'x') },
      ['DB_CA_FILE: the file holds no certificate in PEM form'],
    ],
    [
      'a host alone',
      { ...without('DATABASE_URL'), DB_HOST: 'db' },
      ['DB_USER: is required with DB_HOST', 'DB_NAME: is required with DB_HOST'],
    ],
    [
      'a key without known hosts',
      { ...least, SSH_KEY_PATH: aFile('plain', anSshKey('none')) },
      ['SSH_KNOWN_HOSTS: is req'],
    ],
    ['one port for two things', { ...least, METRICS_PORT: '8080' }, ['METRICS_PORT: must differ from PORT']],
    ['one port, written in two ways', { ...least, PORT: '90', METRICS_PORT: ' 090' }, ['METRICS_PORT: must differ']],
    ['a previous secret alone', { ...least, JWT_SECRET_PREVIOUS: 'x'.repeat(32) }, ['JWT_SECRET_PREVIOUS: needs']],
    [
      'an identity provider without its address and with a closed port',
      { ...least, IDP_ENABLED: 'true', PORT: '0' },
      ['PORT: ', 'IDP_ISSUER_URL: is required with IDP_ENABLED', 'IDP_CLIENT_ID: is required with IDP_ENABLED'],
    ],
    [
      'both names of the identity provider',
      { ...least, IDP_ENABLED: 'true', OIDC_ENABLED: 'false', IDP_ISSUER_URL: 'https://id', IDP_CLIENT_ID: 'w' },
      ['IDP_ENABLED: given more than once'],
    ],
    ['a value and a file', { ...least, ARGO_TOKEN_FILE: aFile('token', 't') }, ['ARGO_TOKEN: given more than once']],
    [
      'both names of the deploy token',
      { ...least, WATCHER_DEPLOY_TOKEN: 'a', ARGO_WATCHER_DEPLOY_TOKEN: 'b' },
      ['WATCHER_DEPLOY_TOKEN: given more than once'],
    ],
    [
      'a file that is not there',
      { ...without('ARGO_TOKEN'), ARGO_TOKEN_FILE: '/nowhere' },
      ['ARGO_TOKEN_FILE: the file'],
    ],
  ])('%s', ([, environment, expected]) => {
    const issues = issuesIn(environment)
    expect(issues).toHaveLength(expected.length)
    for (const [index, issue] of issues.entries()) expect(issue).toContain(expected[index])
  })
})

test('several wrong values are reported together, and no value is repeated', () => {
  const environment = { ...least, PORT: 'secret-1', LOG_LEVEL: 'secret-2', DB_SCHEMA: 'secret-3', JWT_SECRET: ' ' }
  const error = (() => {
    try {
      readSettings({ ...environment, DATABASE_URL: 'mysql://secret-4', BAD_POD_GRACE: 'secret-5' })
    } catch (thrown) {
      return thrown
    }
  })()
  expect(error).toBeInstanceOf(SettingsError)
  const { message } = error as SettingsError
  for (const name of ['PORT', 'LOG_LEVEL', 'DB_SCHEMA', 'JWT_SECRET', 'DATABASE_URL', 'BAD_POD_GRACE']) {
    expect(message).toContain(`${name}: `)
  }
  expect(message).not.toContain('secret-')
})

describe('a value of the wrong form is refused with the form (B49, B51, B53, B54, T3)', () => {
  test.for<[string, string, string]>([
    ...['0', '70000', 'abc', '-1', '80.5'].map((text): [string, string, string] => ['PORT', text, 'from 1 to 65535']),
    ...['10x', '-5s', '2d', '25h', '86401', '1.5', '1m 30s'].map((text): [string, string, string] => [
      'BAD_POD_GRACE',
      text,
      'such as 120, 120s',
    ]),
    ['ROLLOUT_SETTLE', '301', 'must be a duration of at most 5m'],
    ...['0', '10x', '-5'].map((text): [string, string, string] => ['DEPLOYMENT_TIMEOUT', text, 'above 0']),
    ...['yes', 'on', '2'].map((text): [string, string, string] => ['SKIP_TLS_VERIFY', text, 'must be true or false']),
    ['LOG_LEVEL', 'loud', 'must be one of trace, debug'],
    ['ARGO_URL', 'ftp://argocd', 'must be an http:// or https:// address'],
    ['ARGO_URL', '', 'must not be blank'],
    ['ARGO_URL', ' ', 'must'],
    ['ARGO_URL', 'argocd', 'must be an http:// or https:// address'],
    ['ARGO_URL', 'https://argocd/?a=b', 'without query'],
    ['ARGO_TOKEN', '', 'must not be blank'],
    ['JWT_SECRET', '', 'must not be blank'],
    ['JWT_SECRET', '  \n', 'must not be blank'],
    ['WATCHER_DEPLOY_TOKEN', ' ', 'must not be blank'],
    ['ARGO_TOKEN', 'a\nb', 'must be one line'],
    ['ARGO_TOKEN', 'a€b', 'must be one line of ASCII or Latin-1'],
    ['PUBLIC_URL', 'https://example.com/watcher', 'without a path'],
    ['IDP_PRIVILEGED_GROUPS', ' , ', 'must name at least one'],
    ['IDP_PRIVILEGED_GROUPS', '', 'must name at least one'],
    ['DATABASE_URL', 'postgres://db/watcher?sslmode=prefer', 'sslmode must be one of'],
    ['DATABASE_URL', 'postgres://db/watcher?sslmode=requir', 'sslmode must be one of'],
    ['DATABASE_URL', 'host=db port=abc', 'port must be a whole number'],
    ['DB_SCHEMA', 'Watcher; DROP', 'lower-case letters'],
    ['TRUST_PROXY', '10.0.0.0/33', 'networks such as'],
    ['TRUST_PROXY', '0.0.0.0/0', 'not /0, which trusts everyone'],
    ['TRUST_PROXY', '::/0', 'not /0, which trusts everyone'],
    ['TRUST_PROXY', 'everyone', 'networks such as'],
    ['ANNOTATION_PREFIXES', 'watcher', 'end with a slash'],
    ['OVERRIDE_FILE_PREFIX', '../argocd', 'letters, digits'],
    ['SSH_COMMIT_MAIL', 'a<b@c', 'must not contain'],
    ['GIT_CREDENTIALS', 'git.example.com', 'entry 1 must have the form host=user:token'],
    ['GIT_WEB_URLS', 'git.example=ftp://x/{path}/{sha}', 'entry 1 must have the form host=https://host/{path}'],
    ['GIT_WEB_URLS', 'git.example=https://me@git.example/{path}/{sha}', 'entry 1 must have the form'],
    ['GIT_WEB_URLS', 'git.example=https://git.example/{path}', 'entry 1 must have the form'],
    ['GIT_WEB_URLS', 'git.example=https://{path}/{sha}', 'entry 1 must have the form'],
    ['GIT_WEB_URLS', 'a=https://a/{path}/{sha},A=https://a/{path}/{sha}', 'entry 2 names a host for the second time'],
    [
      'IDP_ISSUER_URL',
      'http://id.example.com',
      'http:// is allowed on a loopback address only, or with IDP_ALLOW_HTTP',
    ],
    ['IDP_ISSUER_URL', 'https://me@id.example.com', 'without user'],
    ['IDP_SCOPES', 'profile email', 'must list openid'],
    ['IDP_CLIENT_SECRET', ' ', 'must not be blank'],
    ['IDP_REQUIRE_READ_AUTH', 'true', 'needs IDP_ENABLED'],
    ['LOCKDOWN_SCHEDULE', 'Fri 17:00 - Mon 08:00, Fri 20 - Mon 08', 'window 2 ("Fri 20 - Mon 08") has the time "20"'],
    ...['Berlin', 'Mars/Olympus', '+02:00', 'CET2', ' '].map((text): [string, string, string] => [
      'LOCKDOWN_TIMEZONE',
      text,
      'must be an IANA time zone such as',
    ]),
  ])('%s=%s', ([name, text, form]) => {
    const issues = issuesIn({ ...least, [name]: text })
    expect(issues).toHaveLength(1)
    expect(issues[0]).toContain(`${name}: `)
    expect(issues[0]).toContain(form)
  })
})

describe('what is understood', () => {
  const settingsWith = (change: Record<string, string>) => readSettings({ ...least, ...change }).settings

  test.for([
    ['https://argocd.example.com/', 'https://argocd.example.com'],
    ['https://me:pw@argocd.example.com/root/', 'https://argocd.example.com/root'],
  ])('ARGO_URL %s becomes %s', ([given, expected]) =>
    expect(settingsWith({ ARGO_URL: given ?? '' }).deliveryController.url).toBe(expected),
  )
  test.for<[string, number]>([
    ['0', 0],
    ['120', 120_000],
    ['500ms', 500],
    ['1m30s', 90_000],
    ['1.5s', 1500],
  ])('the grace %s is %i ms', ([text, ms]) =>
    expect(settingsWith({ BAD_POD_GRACE: text }).rollout.badPodGraceMs).toBe(ms),
  )
  test('an empty setting is one that is not given', () =>
    expect(settingsWith({ PORT: '', ARGO_SELECTOR: '', STATE_TYPE: 'postgres' }).http.port).toBe(8080))
  test('no identity provider, unless it is enabled', () =>
    expect(settingsWith({ IDP_ISSUER_URL: 'https://id', IDP_CLIENT_ID: 'w' }).identityProvider).toBeUndefined())
  test('an identity provider, by its older names too', () => {
    const given = {
      OIDC_ENABLED: 'true',
      OIDC_ISSUER_URL: 'http://127.0.0.1:4000/realms/a/',
      OIDC_CLIENT_ID: 'watcher',
      OIDC_PRIVILEGED_GROUPS: 'platform, on-call',
      OIDC_REQUIRE_TASK_READ_AUTH: 'true',
      IDP_AUDIENCE: 'account',
    }
    expect(settingsWith(given).identityProvider).toEqual({
      issuerUrl: 'http://127.0.0.1:4000/realms/a/',
      clientId: 'watcher',
      clientSecret: undefined,
      privilegedGroups: ['platform', 'on-call'],
      scopes: 'openid profile email',
      audiences: ['watcher', 'account'],
      requireReadAuth: true,
      allowHttpIssuer: false,
    })
  })
  test('an identity provider inside a cluster, over http', () => {
    const given = { IDP_ENABLED: 'true', IDP_ISSUER_URL: 'http://dex.auth.svc:5556', IDP_CLIENT_ID: 'w' }
    expect(settingsWith({ ...given, IDP_ALLOW_HTTP_ISSUER: 'true' }).identityProvider).toMatchObject({
      issuerUrl: 'http://dex.auth.svc:5556',
      allowHttpIssuer: true,
    })
  })
  test('addresses of commits, by host', () =>
    expect(
      settingsWith({
        GIT_WEB_URLS: 'Git.example=https://git.example/{path}/commit/{sha}\n a:22=http://a/{sha}/{path} ',
      }).gitWebUrls,
    ).toEqual(
      new Map([
        ['git.example', 'https://git.example/{path}/commit/{sha}'],
        ['a:22', 'http://a/{sha}/{path}'],
      ]),
    ))
  test('credentials of Git hosts', () =>
    expect(
      settingsWith({
        GIT_CREDENTIALS: 'git.example.com=me:a:b, Git.example.org:8443=you:c',
      }).writeBack.gitCredentials(),
    ).toEqual(
      new Map([
        ['git.example.com', { user: 'me', password: 'a:b' }],
        ['git.example.org:8443', { user: 'you', password: 'c' }],
      ]),
    ))
  test('lockdown windows and their time zone', () => {
    const given = {
      LOCKDOWN_SCHEDULE: ' Mon 00:00-Mon 05:30,\tFri 17:00 -  Mon 00:00 ',
      LOCKDOWN_TIMEZONE: 'Asia/Kolkata',
    }
    expect(settingsWith(given).lock).toEqual({
      schedule: {
        windows: [
          { start: 0, end: 330 },
          { start: 6780, end: 0 },
        ],
        timeZone: 'Asia/Kolkata',
      },
      text: 'Mon 00:00 - Mon 05:30, Fri 17:00 - Mon 00:00',
    })
  })
})

describe('a mounted file', () => {
  test('loses one newline at its end', () => {
    const parts = { DB_HOST: 'db', DB_USER: 'me', DB_NAME: 'watcher', DB_PASSWORD_FILE: aFile('pw', ' pw\n\n') }
    const { connection } = readSettings({ ...without('DATABASE_URL'), ...parts }).settings.database
    expect(connection.password).toBe(' pw\n')
  })
  test.for(['token\n', 'token\r\n', 'token', ' token\n\n'])(
    'a line end after the token of Argo CD is trimmed (B52) (%j)',
    (text) => {
      const environment = { ...without('ARGO_TOKEN'), ARGO_TOKEN_FILE: aFile('mounted', text) }
      expect(readSettings(environment).settings.deliveryController.token()).toBe('token')
    },
  )
  test('with a credential is read again when it has changed; a blank one is not believed', () => {
    const file = aFile('argo-token', 'first\n')
    const { token } = readSettings({ ...without('ARGO_TOKEN'), ARGO_TOKEN_FILE: file }).settings.deliveryController
    expect(token()).toBe('first')
    writeFileSync(file, ' the second\n\n')
    expect(token()).toBe('the second')
    writeFileSync(file, '\n')
    expect(token()).toBe('the second')
    rmSync(file)
    expect(token()).toBe('the second')
  })
})

test('a rotation is over when the previous secret is blank or gone, and another one may begin', () => {
  const file = aFile('jwt-previous', '\n')
  const { auth } = readSettings({ ...least, JWT_SECRET: 'j'.repeat(32), JWT_SECRET_PREVIOUS_FILE: file }).settings
  expect(auth.jwtSecretPrevious?.()).toBe('')
  writeFileSync(file, 'the first\n')
  expect(auth.jwtSecretPrevious?.()).toBe('the first')
  writeFileSync(file, '')
  expect(auth.jwtSecretPrevious?.()).toBe('')
  writeFileSync(file, 'the second\n')
  expect(auth.jwtSecretPrevious?.()).toBe('the second')
  rmSync(file)
  expect(auth.jwtSecretPrevious?.()).toBe('')
})

test('credentials of Git hosts and the passphrase change with their files, and the last good ones count', () => {
  const file = aFile('git-credentials', 'git.example.com=me:first\n')
  const passphrase = aFile('ssh-passphrase', 'open sesame\n')
  const { settings } = readSettings({ ...least, GIT_CREDENTIALS_FILE: file, SSH_KEY_PASS_FILE: passphrase })
  const { gitCredentials, sshKeyPass } = settings.writeBack
  const token = () => gitCredentials().get('git.example.com')?.password
  expect([token(), sshKeyPass?.()]).toEqual(['first', 'open sesame'])
  writeFileSync(file, 'git.example.com=me:the second\n')
  expect(token()).toBe('first')
  writeFileSync(file, 'git.example.com=me:third\n')
  writeFileSync(passphrase, 'open barley\n')
  expect([token(), sshKeyPass?.()]).toEqual(['third', 'open barley'])
  expect(settings.secrets()).toEqual(expect.arrayContaining(['third', 'open barley']))
  rmSync(file)
  expect(token()).toBe('third')
})

test('names of other installations are known by their files too', () => {
  const [on, memory] = [aFile('on', 'true\n'), aFile('memory', 'in-memory\n')]
  expect(issuesIn({ ...least, KEYCLOAK_ENABLED_FILE: on, STATE_TYPE_FILE: memory })).toEqual([
    expect.stringMatching(/^STATE_TYPE: only postgres/),
    expect.stringMatching(/^KEYCLOAK_ENABLED: is now IDP_ENABLED/),
  ])
  const { warnings } = readSettings({ ...least, STATIC_FILES_PATH_FILE: on })
  expect(warnings).toContain('STATIC_FILES_PATH has no effect: the web UI is part of the service')
})

describe('targets of the configuration file', () => {
  const withTargets = (routes: object[], change: object = {}) => ({
    ...least,
    CONFIG: JSON.stringify({
      notifications: {
        targets: { audit: { kind: 'webhook', url: { env: 'HOOK_URL' }, secret: { env: 'HOOK_SECRET' } } },
        routes,
      },
    }),
    HOOK_URL: 'https://hooks.example/a?sig=canary-1',
    HOOK_SECRET: 'whsec_canary-2',
    ...change,
  })
  const route = { events: ['failed'], targets: ['audit'] }

  test('have secrets that logs leave out', () => {
    const { settings, warnings } = readSettings(withTargets([route]))
    expect(settings.secrets()).toEqual(
      expect.arrayContaining(['https://hooks.example/a?sig=canary-1', 'whsec_canary-2']),
    )
    expect(warnings.join()).not.toContain('canary')
    expect(JSON.stringify(settings.described)).not.toContain('canary')
  })

  test('that no route leads to are a warning', () => {
    expect(readSettings(withTargets([])).warnings).toContain(
      'CONFIG: no route leads to the target audit: only annotations of applications can name it',
    )
    expect(readSettings(withTargets([route])).warnings.join()).not.toContain('audit')
  })

  test('whose secret is missing are an issue, without the secret', () => {
    expect(issuesIn(withTargets([route], { HOOK_SECRET: undefined }))).toEqual([
      'CONFIG: notifications.targets.audit.secret: the variable HOOK_SECRET is not set',
    ])
  })
})

test('the secrets that logs leave out are all known, also a rotated one', () => {
  const file = aFile('deploy-token', 'deploy-1\n')
  const { settings } = readSettings({
    ...least,
    DATABASE_URL: 'postgres://watcher:p%40ss@db/watcher',
    WATCHER_DEPLOY_TOKEN_FILE: file,
    JWT_SECRET: 'j'.repeat(32),
    GIT_CREDENTIALS: 'git.example.com=me:git-token',
  })
  const inQuery = readSettings({ ...least, DATABASE_URL: 'postgres://watcher@db/watcher?password=in%40query' })
  expect(inQuery.settings.secrets()).toContain('in@query')
  expect(settings.secrets()).toEqual(['p%40ss', 'p@ss', 'argo-token', 'deploy-1', 'j'.repeat(32), 'git-token'])
  writeFileSync(file, 'deploy-22\n')
  expect(settings.secrets()).toContain('deploy-22')
})

describe('a warning, and no refusal (B48, B53, T3, T25)', () => {
  test.for<[Record<string, string>, string]>([
    [{ JWT_SECRET: 'changeme' }, 'JWT_SECRET is weak: use at least 32 bytes'],
    [{ JWT_SECRET: 's'.repeat(31) }, 'JWT_SECRET is weak'],
    [{ JWT_SECRET: 'é'.repeat(15) }, 'JWT_SECRET is weak'],
    [{ JWT_SECRET: 's'.repeat(32), JWT_SECRET_PREVIOUS: 'old' }, 'JWT_SECRET_PREVIOUS is weak'],
    [{ OVERRIDE_FILE_PREFIX: 'watcher' }, 'OVERRIDE_FILE_PREFIX is not argocd'],
    [{ ARGO_URL: 'http://argocd.example.com' }, 'ARGO_URL is http'],
    [{ ARGO_URL: 'https://me:pw@argocd.example.com' }, 'ARGO_URL holds a user name'],
    [{ SKIP_TLS_VERIFY: 'true' }, 'SKIP_TLS_VERIFY'],
    [
      { LOCKDOWN_SCHEDULE: 'Tue 09:00 - Tue 10:00, Tue 09:30 - Tue 11:00' },
      'LOCKDOWN_SCHEDULE has overlapping windows',
    ],
    [{ LOCKDOWN_SCHEDULE: 'Mon 00:00 - Thu 00:00, Thu 00:00 - Mon 00:00' }, 'LOCKDOWN_SCHEDULE locks the whole week'],
    [{ IDP_ENABLED: '1', IDP_ISSUER_URL: 'https://id', IDP_CLIENT_ID: 'w' }, 'IDP_ENABLED: opaque access tokens'],
    [{ REQUIRE_CREDENTIAL: 'true' }, 'REQUIRE_CREDENTIAL: no credential is configured'],
    [{ EMBEDDED_DATABASE: 'true' }, 'embedded database: for trials only'],
  ])('%j', ([change, warning]) => {
    const warnings = readSettings({ ...least, ...change }).warnings.filter(
      (line) => !line.startsWith('insecure settings'),
    )
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain(warning)
    expect(warnings[0]).not.toContain('changeme')
  })
  const provider = { IDP_ENABLED: 'true', IDP_ISSUER_URL: 'https://id', IDP_CLIENT_ID: 'w' }
  test('about an issuer without https', () => {
    const change = { ...provider, IDP_ISSUER_URL: 'http://dex.auth.svc:5556', IDP_ALLOW_HTTP_ISSUER: 'true' }
    expect(readSettings({ ...least, ...change }).warnings).toContainEqual(
      expect.stringContaining('IDP_ALLOW_HTTP_ISSUER: tokens, client secret and signing keys cross the network'),
    )
  })
  test('about open metrics where reading is closed', () => {
    const change = { ...provider, IDP_REQUIRE_READ_AUTH: 'true' }
    const warning = expect.stringContaining('IDP_REQUIRE_READ_AUTH: /metrics on PORT names applications')
    expect(readSettings({ ...least, ...change }).warnings).toContainEqual(warning)
    expect(readSettings({ ...least, ...change, METRICS_PORT: '9090' }).warnings).not.toContainEqual(warning)
  })
  test('http on the own machine needs none', () =>
    expect(readSettings({ ...secured, ARGO_URL: 'http://127.0.0.1:4711' }).warnings).toEqual([]))

  test.for<[Record<string, string>, string | undefined]>([
    [{}, undefined],
    [{ REQUIRE_CREDENTIAL: 'false' }, 'submissions need no credential (REQUIRE_CREDENTIAL)'],
    [{ JWT_ENFORCE_ALLOWED_APPS: '' }, 'allowed_apps of a JWT is not enforced (JWT_ENFORCE_ALLOWED_APPS)'],
    [{ DEPLOY_TOKEN_IN_QUERY: '' }, 'the deploy token is accepted in the query (DEPLOY_TOKEN_IN_QUERY)'],
    [{ WRITE_BACK_ALLOWED_REPOS: '' }, 'any repository may be written to (WRITE_BACK_ALLOWED_REPOS)'],
    ...[
      'postgres://me:pw@db.example/w',
      'postgres://me:pw@db.example/w?sslmode=disable',
      'postgres://me:pw@127.0.0.1/w?host=db.example',
      'host=db.example dbname=w',
    ].map((address): [Record<string, string>, string] => [
      { DATABASE_URL: address },
      'the connection to the database has no TLS (DB_SSL_MODE)',
    ]),
    ...[
      'postgres://me:pw@db.example/w?sslmode=require',
      'postgres://me:pw@db.example/w?ssl=true',
      'postgres://me:pw@[::1]:5433/w',
      'postgres://me:pw@localhost/w',
      'postgres:///w?host=/run/postgresql',
      'host=/run/postgresql dbname=w',
      'dbname=w',
      'host=db.example dbname=w sslmode=verify-ca',
    ].map((address): [Record<string, string>, undefined] => [{ DATABASE_URL: address }, undefined]),
  ])('insecure settings are listed, with %j: %s', ([change, fact]) =>
    expect(readSettings({ ...secured, ...change }).warnings).toEqual(
      fact === undefined ? [] : [`insecure settings: ${fact}`],
    ),
  )
  test('all insecure settings share one line', () =>
    expect(readSettings(least).warnings).toEqual([expect.stringMatching(/^insecure settings: (?:[^;]+; ){4}[^;]+$/)]))
})

describe('a variable that is no setting', () => {
  const warned = (environment: Record<string, string>) => readSettings({ ...secured, ...environment }).warnings

  test.for([
    ['LOCKDOWN_SHEDULE', 'LOCKDOWN_SCHEDULE'],
    ['LOCKDOWN_TIME_ZONE', 'LOCKDOWN_TIMEZONE'],
    ['REQUIRE_CREDENTIALS', 'REQUIRE_CREDENTIAL'],
    ['WRITEBACK_ALLOWED_REPOS', 'WRITE_BACK_ALLOWED_REPOS'],
    ['ARGO_WATCHER_DEPLOY_TOKENS', 'ARGO_WATCHER_DEPLOY_TOKEN'],
    ['OIDC_ISUER_URL', 'OIDC_ISSUER_URL'],
    ['JWT_SECRET_FIEL', 'JWT_SECRET_FILE'],
  ] as const)('%s gets a warning that names %s', ([given, likely]) =>
    expect(warned({ [given]: 'value-of-it' })).toEqual([
      `${given} is not a setting and is ignored: did you mean ${likely}?`,
    ]),
  )
  test('of Kubernetes, npm or a shell gets none, nor does one of argo-watcher that does nothing here', () => {
    const services = ['DB', 'ARGO', 'METRICS', 'LOCKDOWN_SCHEDULE', 'JWT_SECRET', 'WATCHER', 'KUBERNETES'].flatMap(
      (name) =>
        [
          ...['SERVICE_HOST', 'SERVICE_PORT', 'SERVICE_PORT_HTTP', 'PORT_5432_TCP', 'PORT_5432_TCP_PROTO'],
          ...['PORT_5432_TCP_PORT', 'PORT_5432_TCP_ADDR'],
        ].map((end) => `${name}_${end}`),
    )
    const others = `HOME PATH PWD OLDPWD SHELL SHLVL USER LOGNAME HOSTNAME TERM LANG LC_ALL LANGUAGE TZ EDITOR PAGER MAIL
      DISPLAY TMPDIR SSH_AUTH_SOCK SSH_AGENT_PID SSH_CLIENT SSH_CONNECTION SSH_TTY SSH_ASKPASS GIT_SSH_COMMAND GIT_DIR
      XDG_RUNTIME_DIR XDG_DATA_DIRS XDG_DATA_HOME DBUS_SESSION_BUS_ADDRESS COLORTERM PS1 _ INIT_CWD NODE NODE_ENV
      NODE_OPTIONS NODE_VERSION NODE_EXTRA_CA_CERTS YARN_VERSION npm_command npm_config_cache npm_config_prefix
      npm_lifecycle_event npm_lifecycle_script npm_package_json npm_package_name npm_package_version npm_execpath
      npm_node_execpath npm_config_user_agent npm_config_node_gyp npm_config_local_prefix CI HTTP_PROXY HTTPS_PROXY
      NO_PROXY http_proxy https_proxy no_proxy POD_NAME POD_NAMESPACE POD_IP HOST_IP PGHOST PGPORT PGUSER PGDATABASE
      PGPASSWORD PGSSLMODE ARGO_WATCHER_URL ARGO_APP
      IMAGES IMAGE_TAG BEARER_TOKEN TASK_TIMEOUT EXPECTED_DEPLOY_TIME RETRY_INTERVAL COMMIT_AUTHOR PROJECT_NAME`
    const names = [...services, ...others.split(/\s+/)]
    expect(warned(Object.fromEntries(names.map((name) => [name, '1'])))).toEqual([])
  })
})

function anSshKey(cipher: string, lineEnd = '\n'): string {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(cipher.length)
  const body = Buffer.concat([Buffer.from('openssh-key-v1\0'), length, Buffer.from(cipher)]).toString('base64')
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', body, '-----END OPENSSH PRIVATE KEY-----', ''].join(lineEnd)
}

describe('the SSH key', () => {
  const knownHosts = aFile('known_hosts', 'git.example.com ssh-ed25519 AAAA\n')
  const pem = ['-----BEGIN RSA PRIVATE KEY-----', 'Proc-Type: 4,ENCRYPTED', '', 'AAAA', '-----END RSA PRIVATE KEY-----']
  test.for<[string, string, Record<string, string>, string | undefined]>([
    ['a good one', anSshKey('none'), {}, undefined],
    ['line ends of Windows', anSshKey('none', '\r\n'), {}, undefined],
    ['encrypted, with its passphrase', anSshKey('aes256-ctr'), { SSH_KEY_PASS: 'pw' }, undefined],
    [
      'encrypted, without',
      anSshKey('aes256-ctr'),
      {},
      'SSH_KEY_PATH: the file holds an encrypted key: set SSH_KEY_PASS',
    ],
    ['encrypted in PEM', pem.join('\n'), {}, 'SSH_KEY_PATH: the file holds an encrypted key: set SSH_KEY_PASS'],
    [
      'a public key',
      'ssh-ed25519 AAAA me@home',
      {},
      'SSH_KEY_PATH: the file contains a public key: use the private key',
    ],
    [
      'something else',
      'hello',
      {},
      'SSH_KEY_PATH: the file does not hold a private key (-----BEGIN … PRIVATE KEY-----)',
    ],
  ])('%s', ([name, text, more, issue]) => {
    const file = aFile(`key ${name}`, text)
    const issues = issuesIn({ ...least, SSH_KEY_PATH: file, SSH_KNOWN_HOSTS: knownHosts, ...more })
    expect(issues).toEqual(issue === undefined ? [] : [issue])
  })
  test('the key that signs is held to the same rules', () => {
    const signing = (text: string) => issuesIn({ ...least, SSH_SIGNING_KEY_PATH: aFile('signing', text) })
    expect(signing(anSshKey('none'))).toEqual([])
    expect(signing(anSshKey('aes256-ctr'))).toEqual([
      'SSH_SIGNING_KEY_PATH: the file holds an encrypted key: set SSH_SIGNING_KEY_PASS',
    ])
    expect(signing('ssh-ed25519 AAAA me@home')).toEqual([
      'SSH_SIGNING_KEY_PATH: the file contains a public key: use the private key',
    ])
  })
  test('a missing file', () =>
    expect(issuesIn({ ...least, SSH_KEY_PATH: '/nowhere', SSH_KNOWN_HOSTS: knownHosts })).toEqual([
      'SSH_KEY_PATH: the file cannot be read (ENOENT)',
    ]))
})

describe('docs/settings.md', () => {
  const documented = new Map(
    [
      ...readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8').matchAll(
        /^\| `([A-Z_]+)` \|([^|]*)\|/gm,
      ),
    ].map(([, name, shown]) => [name ?? '', (shown ?? '').trim().replaceAll('`', '')]),
  )
  test('lists exactly the settings there are', () =>
    expect([...documented.keys()].sort()).toEqual([...settingDefaults.keys()].sort()))
  test.for([...settingDefaults].filter(([, text]) => text !== undefined && text !== ''))(
    'says that the default of %s is %s',
    ([name, text]) => expect(documented.get(name ?? '')).toBe(text),
  )
})

describe('credentials of GitHub and GitLab', () => {
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' })
  const target = (kind: string) => JSON.stringify({ notifications: { targets: { a: { kind } }, routes: [] } })

  test('an App has its key from a file, and serves the Git host of its API', () => {
    const file = aFile('app.pem', String(key))
    const { settings } = readSettings({ ...least, GITHUB_APP_ID: '12', GITHUB_APP_PRIVATE_KEY_FILE: file })
    expect(settings.gitHubApp).toMatchObject({ id: '12', apiUrl: 'https://api.github.com' })
    expect(settings.gitHubApp?.privateKey()).toContain('BEGIN RSA PRIVATE KEY')
    expect(settings.writeBack.appHost).toBe('github.com')
    expect(settings.secrets()).toContain(settings.gitHubApp?.privateKey())
  })

  test('the address of an API alone means nothing: every runner of GitHub sets it', () => {
    const { settings } = readSettings({ ...least, GITHUB_API_URL: 'https://api.github.com' })
    expect([settings.gitHubApp, settings.writeBack.appHost]).toEqual([undefined, undefined])
  })

  test.for<[Record<string, string>, string]>([
    [{ GITHUB_APP_ID: '12' }, 'GITHUB_APP_PRIVATE_KEY: is required with GITHUB_APP_ID'],
    [{ GITHUB_APP_PRIVATE_KEY: String(key) }, 'GITHUB_APP_ID: is required with GITHUB_APP_PRIVATE_KEY'],
    [
      { GITHUB_APP_ID: '12', GITHUB_APP_PRIVATE_KEY: 'AAAA' },
      'GITHUB_APP_PRIVATE_KEY: must be an RSA private key in PEM form',
    ],
    [{ CONFIG: target('github') }, 'CONFIG: notifications.targets.a: needs the setting GITHUB_APP_ID'],
    [{ CONFIG: target('gitlab') }, 'CONFIG: notifications.targets.a: needs the setting GITLAB_TOKEN'],
  ])('%j is an issue', ([environment, issue]) => {
    expect(issuesIn({ ...least, ...environment })).toEqual([issue])
  })
})
