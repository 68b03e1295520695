import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readSettings } from '../../server/compose/settings.ts'
import { definitions, type Name } from '../../server/settings/definitions.ts'
import { settingPlaces, settingsIn } from '../setting-places.ts'
import {
  type Container,
  chart,
  helm,
  rejectionOf,
  renderContainer,
  renderObjects,
  renderText,
  valueFiles,
} from './render-chart.ts'
import { kinds, validate } from './validate-object.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'deployment-watcher-chart-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe.for(valueFiles)('chart/ci/%s-values.yaml', (values) => {
  test('passes helm lint --strict', () => {
    const { status, stdout } = helm(['lint', '--strict', chart, `--values=${chart}ci/${values}-values.yaml`])
    expect([status, stdout]).toEqual([0, expect.stringContaining('0 chart(s) failed')])
  })

  test('renders what its snapshot shows', async () => {
    const dashboard = /(?<=\n {2}deployment-watcher\.json: \|\n)[\s\S]*?(?=\n---)/
    await expect(renderText(values).replace(dashboard, '    …')).toMatchFileSnapshot(`snapshots/${values}.yaml`)
  })

  test('gives objects that are valid by their schemas', () => {
    for (const object of renderObjects(values)) validate(object)
  })

  test('gives an environment that the service starts with', () => {
    expect(() => readSettings(environmentOf(renderContainer(values, 'Deployment')))).not.toThrow()
  })
})

test('there is a value file for each kind of object', () => {
  const rendered = renderObjects('every-object').map(({ kind }) => kind)
  expect([...new Set(rendered)].sort()).toEqual(kinds)
})

test('the migration Job has what the migration reads, and not the token of Argo CD', () => {
  const { env } = renderContainer('every-object', 'Job')
  const { settings } = readSettings(environmentOf({ env, volumeMounts: [] }))
  expect(settings.database).toMatchObject({
    schema: 'deployments',
    connection: { connectionString: expect.stringContaining(`${texts.DATABASE_URL}?sslmode=verify-full&sslrootcert=`) },
  })
  expect(settings.deliveryController.token()).toBe('not-used')
})

describe('every setting', () => {
  const own = {
    argo: { url: 'https://argocd.example.com' },
    scheduledLockdown: ['Fri 17:00 - Mon 08:00'],
    config: { environments: { shop: 'production' } },
  }
  const credentials = { fields: ['JWT_SECRET', 'JWT_SECRET_PREVIOUS', 'WATCHER_DEPLOY_TOKEN'] }
  const settings = Object.fromEntries(settingsIn('settings').map((name) => [name, defaultOf(name)]))
  const files = Object.fromEntries(settingsIn('files').map((name) => [name, { secretName: 'all' }]))
  const names = () =>
    renderContainer('least', 'Deployment', {
      ...own,
      credentials,
      // Three ways to name a database exclude each other.
      settings: { ...settings, DB_HOST: undefined },
      files: { ...files, DB_DSN: undefined },
    }).env.map(({ name }) => name.replace(/(?<!_CA)_FILE$/, ''))

  test('is reached, and none twice', () => {
    expect([...names(), 'DB_DSN', 'DB_HOST'].sort()).toEqual(Object.keys(definitions.shape).sort())
    expect(settingPlaces).toMatchObject({ DB_HOST: 'settings', DB_DSN: 'files' })
  })
  test('is text, however large its number', () => {
    const { env } = renderContainer('least', 'Deployment', { settings: { MAX_UNFINISHED_TASKS: 1_000_000 } })
    expect(env).toContainEqual({ name: 'MAX_UNFINISHED_TASKS', value: '1000000' })
  })
})

test('the clones have so long a path that the copy of the SSH key goes to /tmp, which is memory', () => {
  const { env, volumeMounts } = renderContainer('least', 'Deployment')
  const data = env.find(({ name }) => name === 'DATA_DIR')?.value ?? ''
  expect(volumeMounts.map(({ mountPath }) => mountPath)).toEqual(['/etc/deployment-watcher', data, '/tmp'])
  expect(path.join(data, 'repositories', 'p-0123456789ab').length).toBeGreaterThan(60) // as process-folders.ts has it
})

describe('what is wrong is named before anything is changed', () => {
  test.for<[string, object, string]>([
    ['a misspelt value', { updatr: {} }, "additional properties 'updatr' not allowed"],
    [
      'a misspelt setting',
      { settings: { LOG_LEVLE: 'info' } },
      'settings.LOG_LEVLE: is not a setting: see docs/settings.md',
    ],
    ['a misspelt file', { files: { DB_PASWORD: { secretName: 'x' } } }, 'files.DB_PASWORD: is not a setting'],
    ['a setting with a value of its own', { settings: { ARGO_URL: 'x' } }, 'settings.ARGO_URL: use argo.url instead'],
    [
      'a secret as a setting',
      { settings: { DB_PASSWORD: 'x' } },
      'settings.DB_PASSWORD: use files.DB_PASSWORD instead',
    ],
    [
      'a setting as a file',
      { files: { LOG_LEVEL: { configMapName: 'x' } } },
      'files.LOG_LEVEL: use settings.LOG_LEVEL instead',
    ],
    [
      'a setting as a variable',
      { extraEnv: [{ name: 'LOG_LEVEL', value: 'debug' }] },
      'extraEnv[0]: LOG_LEVEL is a setting: use settings.LOG_LEVEL instead',
    ],
    [
      'a file of a setting as a variable',
      { extraEnv: [{ name: 'A' }, { name: 'JWT_SECRET_FILE' }] },
      'extraEnv[1]: JWT_SECRET_FILE is a setting: use credentials.fields instead',
    ],
    [
      'a path as a variable',
      { extraEnv: [{ name: 'ARGO_CA_FILE' }] },
      'extraEnv[0]: ARGO_CA_FILE is a setting: use files.ARGO_CA_FILE instead',
    ],
    [
      'authorities in two places',
      { database: { caSecret: 'ca' }, files: { DB_CA_FILE: { configMapName: 'ca' } } },
      'database.caSecret, files.DB_CA_FILE: keep one',
    ],
    [
      'an unknown alert',
      { prometheusRule: { rules: { WatcherSlow: { enabled: false } } } },
      'prometheusRule.rules.WatcherSlow: is not an alert of the chart',
    ],
    [
      'a certificate beside a list of certificates',
      { ingress: { tls: [{ secretName: 'a' }], tlsSecretName: 'b' } },
      'ingress.tlsSecretName: has no effect with a list in ingress.tls',
    ],
    ['a tag that YAML has changed', { image: { tag: 1.1 } }, "at '/image/tag': got number, want integer or string"],
    ['text for a number', { settings: { PORT: 'http' } }, "at '/settings/PORT': 'http' does not match pattern"],
    [
      'a number that is too large',
      { settings: { POD_LOG_LINES: 101 } },
      "at '/settings/POD_LOG_LINES': maximum: got 101",
    ],
    ['text for a flag', { settings: { COMMIT_TRAILER: 'yes' } }, "at '/settings/COMMIT_TRAILER': 'yes' does not match"],
    ['a long drain delay', { settings: { DRAIN_DELAY: '20s' } }, "at '/settings/DRAIN_DELAY': '20s' does not match"],
    ['no port', { settings: { PORT: null } }, "at '/settings': missing property 'PORT'"],
    [
      'a file without its source',
      { files: { GIT_CREDENTIALS: { key: 'a' } } },
      "at '/files/GIT_CREDENTIALS': 'oneOf' failed",
    ],
    [
      'an unknown hour',
      { scheduledLockdown: ['Mon 01:00 - Mon 02:00', 'Fri 25:00 - Mon 08:00'] },
      'scheduledLockdown[1]: "Fri 25:00 - Mon 08:00" must be <Day> <HH:MM> - <Day> <HH:MM>, such as Fri 17:00 - Mon 08:00',
    ],
    [
      'a window that ends before it starts',
      { scheduledLockdown: ['Fri 20:00 - Fri 08:00'] },
      'scheduledLockdown[0]: "Fri 20:00 - Fri 08:00" must end after it starts: write two windows',
    ],
    ['a window without a minute', { scheduledLockdown: ['Fri 20:00 - Fri 20:00'] }, 'must end after it starts'],
    ['no image', { image: { repository: '' } }, 'image.repository: is required: name the image that you pushed'],
    ['one port for two', { settings: { METRICS_PORT: 8080 } }, 'settings.METRICS_PORT: must differ from settings.PORT'],
    [
      'reading for users where none can sign in',
      { settings: { IDP_REQUIRE_READ_AUTH: true } },
      'settings.IDP_REQUIRE_READ_AUTH: needs settings.IDP_ENABLED',
    ],
    ['no address', { argo: { url: '' } }, 'argo.url: is required'],
    ['an address without its scheme', { argo: { url: 'argocd.example.com' } }, 'argo.url: is required'],
    ['no Secret of Argo CD', { argo: { secretName: '' } }, 'argo.secretName: is required: name the Secret that has'],
    [
      'no Secret of the database',
      { database: { secretName: '' } },
      'database.secretName: is required: name the Secret',
    ],
    ['two databases', { settings: { DB_HOST: 'db' } }, 'database.secretName, settings.DB_HOST: keep one'],
    ['an Ingress without a host', { ingress: { enabled: true } }, 'ingress.host: is required with ingress.enabled'],
    [
      'an HTTPRoute without a Gateway',
      { httpRoute: { enabled: true, host: 'a' } },
      'httpRoute.parentRefs: is required',
    ],
    [
      'two hosts',
      { ingress: { enabled: true, host: 'a' }, httpRoute: { enabled: true, host: 'b', parentRefs: [{ name: 'x' }] } },
      'settings.PUBLIC_URL: is required with two hosts',
    ],
  ])('%s', ([, changes, expected]) => expect(rejectionOf(changes)).toContain(expected))

  test('all of it together', () => {
    const rejection = rejectionOf({ argo: { url: '', secretName: '' }, database: { secretName: '' } })
    expect(rejection.match(/^ {2}- .+$/gm)).toHaveLength(3)
  })
})

test('metrics, which need no credential, are on a Service that stays in the cluster', () => {
  const objects = renderObjects('every-object')
  const services = objects.filter(({ kind }) => kind === 'Service') as unknown as {
    metadata: { labels: Record<string, string> }
    spec: { type?: string; ports: { name: string }[] }
  }[]
  expect(services.map(({ spec: { type, ports } }) => [type, ports.map(({ name }) => name)])).toEqual([
    ['NodePort', ['http']],
    [undefined, ['metrics']],
  ])
  expect(services.map(({ metadata }) => metadata.labels['app.kubernetes.io/component'])).toEqual([undefined, 'metrics'])
  const [monitor] = objects.filter(({ kind }) => kind === 'ServiceMonitor')
  expect(monitor?.spec).toHaveProperty(['selector', 'matchLabels', 'app.kubernetes.io/component'], 'metrics')
})

test('the Pod of the migration has the labels and annotations that policies select Pods by', () => {
  const [job] = renderObjects('every-object').filter(({ kind }) => kind === 'Job')
  expect(job?.spec).toMatchObject({
    template: {
      metadata: { labels: { network: 'restricted' }, annotations: { 'example.com/owner': 'platform' } },
      spec: { affinity: expect.anything(), priorityClassName: 'high' },
    },
  })
})

describe('the notes', () => {
  /** Helm shows them with a cluster only, so another template of a copy shows them here. */
  const notesOf = (values: string) => {
    const copy = path.join(folder, 'chart')
    cpSync(chart, copy, { recursive: true })
    writeFileSync(
      path.join(copy, 'templates/notes.yaml'),
      'notes: {{ include (print .Template.BasePath "/NOTES.txt") . | quote }}',
    )
    return /^notes: .*$/m.exec(renderText(values, {}, copy))?.[0] ?? ''
  }
  const doors = ['REQUIRE_CREDENTIAL', 'JWT_ENFORCE_ALLOWED_APPS', 'IDP_REQUIRE_READ_AUTH', 'WRITE_BACK_ALLOWED_REPOS']
  test('name the next step and the doors that are open', () => {
    const notes = notesOf('least')
    for (const text of ['Next: ', 'Open doors:', ...doors]) expect(notes).toContain(text)
  })
  test('name no door that is closed', () => {
    const notes = notesOf('every-object')
    for (const text of ['Open doors:', ...doors]) expect(notes).not.toContain(text)
  })
})

/** What the mounted Secrets and ConfigMaps hold. */
const key = '-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n'
const texts: Readonly<Record<string, string>> = {
  CONFIG: '{}',
  ARGO_CA_FILE: '-----BEGIN CERTIFICATE-----\n',
  DB_CA_FILE: '-----BEGIN CERTIFICATE-----\n',
  DATABASE_URL: 'postgresql://watcher:pw@db.example.com/watcher',
  GIT_CREDENTIALS: 'git.example.com=watcher:token',
  SSH_KEY_PATH: key,
  SSH_SIGNING_KEY_PATH: key,
}

/** As the service sees it: what is mounted lies in a folder here. */
const environmentOf = ({ env }: Container) =>
  Object.fromEntries(
    env.map(({ name, value }) => [name, value.startsWith('/etc/deployment-watcher/') ? mounted(value) : value]),
  )

function mounted(file: string): string {
  const name = path.basename(file)
  const copy = path.join(folder, name)
  writeFileSync(copy, texts[name] ?? `the text of ${name}, longer than 32 bytes`)
  return copy
}

/** Any text that the schema accepts. */
function defaultOf(name: string): string {
  const { def } = definitions.shape[name as Name]
  return 'defaultValue' in def && def.defaultValue ? String(def.defaultValue) : '9'
}
