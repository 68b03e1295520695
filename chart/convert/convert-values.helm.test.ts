import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { readSettings } from '../../server/compose/settings.ts'
import { renderContainer, renderText } from '../tests/render-chart.ts'
import { convertValues } from './convert-values.ts'

const hostKeys = 'github.com ssh-ed25519 AAAA\n'
const image = { image: { repository: 'registry.example.com/deployment-watcher' } }

/** As people write them for argo-watcher 1.x, by the table of values of its chart. */
const usual = {
  replicaCount: 2,
  image: { tag: 'v1.4.0' },
  logLevel: 'DEBUG',
  argo: {
    url: 'https://argocd.example.com',
    urlAlias: 'https://cd.example.com',
    timeout: 600,
    secretName: 'watcher-argo',
  },
  updater: { sshSecretName: 'watcher-git', extraKnownHosts: ['git.example.com ssh-ed25519 BBBB'] },
  scheduledLockdown: ['Fri 17:00 - Mon 08:00'],
  postgres: {
    enabled: true,
    host: 'db.example.com',
    name: 'watcher',
    user: 'watcher',
    secretName: 'watcher-db',
    secretKey: 'password',
  },
  extraEnvs: [
    { name: 'TZ', value: 'Europe/Berlin' },
    { name: 'OIDC_ENABLED', value: 'true' },
    { name: 'OIDC_ISSUER_URL', value: 'https://id.example.com' },
    { name: 'OIDC_CLIENT_ID', value: 'watcher' },
    { name: 'OIDC_PRIVILEGED_GROUPS', value: 'platform' },
    { name: 'GIT_TIMEOUT', value: '30s' },
    { name: 'DB_TIMEZONE', value: 'UTC' },
    { name: 'GIT_BATCH_WRITEBACK', value: 'true' },
    { name: 'JWT_SECRET', valueFrom: { secretKeyRef: { name: 'watcher-jwt', key: 'secret' } } },
    { name: 'SSH_KEY_PASS', valueFrom: { secretKeyRef: { name: 'watcher-git', key: 'passphrase' } } },
    { name: 'SOMETHING', value: 'else' },
  ],
  ingress: {
    enabled: true,
    className: 'nginx',
    hosts: [{ host: 'watcher.example.com', paths: [{ path: '/', pathType: 'Prefix' }] }, { host: 'other.example.com' }],
    tls: [{ secretName: 'watcher-tls' }],
  },
  podMonitor: { enabled: true, labels: { release: 'prometheus' } },
  persistence: { enabled: true },
  fullnameOverride: 'argo-watcher',
  serviceAccount: { create: true, annotations: { team: 'platform' }, automount: false },
  podDisruptionBudget: { enabled: true, minAvailable: 1 },
  podSecurityContext: { runAsUser: 1000 },
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
}

test('usual values become ours, and what has no place is named', () => {
  const { values, notes } = convertValues(usual, hostKeys)
  expect(values).toEqual({
    fullnameOverride: 'argo-watcher',
    replicaCount: 2,
    argo: { url: 'https://argocd.example.com', secretName: 'watcher-argo' },
    updater: {
      sshSecretName: 'watcher-git',
      commitAuthor: 'argo-watcher',
      commitEmail: 'argo-watcher@example.com',
      knownHosts: 'github.com ssh-ed25519 AAAA\ngit.example.com ssh-ed25519 BBBB\n',
    },
    scheduledLockdown: ['Fri 17:00 - Mon 08:00'],
    lockdownTimezone: 'Europe/Berlin',
    settings: {
      DEPLOYMENT_TIMEOUT: 600,
      LOG_LEVEL: 'debug',
      ARGO_URL_ALIAS: 'https://cd.example.com',
      DB_HOST: 'db.example.com',
      DB_NAME: 'watcher',
      DB_USER: 'watcher',
      IDP_ENABLED: 'true',
      IDP_ISSUER_URL: 'https://id.example.com',
      IDP_CLIENT_ID: 'watcher',
      IDP_PRIVILEGED_GROUPS: 'platform',
      GIT_OP_TIMEOUT: '30s',
    },
    files: {
      DB_PASSWORD: { secretName: 'watcher-db', key: 'password' },
      SSH_KEY_PASS: { secretName: 'watcher-git', key: 'passphrase' },
    },
    extraEnv: [{ name: 'SOMETHING', value: 'else' }],
    ingress: {
      enabled: true,
      className: 'nginx',
      hosts: [
        { host: 'watcher.example.com', paths: [{ path: '/', pathType: 'Prefix' }] },
        { host: 'other.example.com' },
      ],
      tls: [{ secretName: 'watcher-tls' }],
    },
    serviceAccount: { create: true, annotations: { team: 'platform' } },
    podDisruptionBudget: { enabled: true, minAvailable: 1 },
    podSecurityContext: { runAsUser: 1000 },
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
    serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
  })
  expect(notes.map((note) => note.split(':')[0])).toEqual([
    'GIT_BATCH_WRITEBACK has no effect',
    'JWT_SECRET',
    'Secret watcher-argo',
    'image.repository',
    'persistence',
  ])
})

test('the defaults of its chart stay as they were', () => {
  const { values, notes } = convertValues(
    { argo: { url: 'https://argocd.example.com', updater: { sshSecretName: 'git' } } },
    '',
  )
  expect(values).toMatchObject({
    settings: { DEPLOYMENT_TIMEOUT: 300 },
    updater: { commitAuthor: 'argo-watcher', commitEmail: 'argo-watcher@example.com' },
  })
  expect(notes.join('\n')).toContain('database.secretName: is required')
})

test.for<[string, Record<string, unknown>, string]>([
  [
    'host keys of its own',
    { updater: { knownHostsConfigMap: 'keys' } },
    'updater.knownHostsConfigMap: copy the host keys',
  ],
  [
    'a realm',
    { extraEnvs: [{ name: 'KEYCLOAK_REALM', value: 'x' }] },
    'KEYCLOAK_REALM: is now a part of IDP_ISSUER_URL',
  ],
  [
    'a secret as a text',
    { extraEnvs: [{ name: 'SSH_KEY_PASS', value: 'x' }] },
    'SSH_KEY_PASS: put its value into a Secret',
  ],
  ['a misspelt value', { ingres: {} }, "ingres: is no value of argo-watcher's chart"],
  [
    'peers',
    { networkPolicies: { enabled: true, additionalRules: [{}] } },
    'networkPolicies.additionalRules: list the peers',
  ],
])('%s: the note says what to do', ([, given, note]) => {
  expect(convertValues(given, '').notes.some((one) => one.startsWith(note))).toBe(true)
})

test('the result is valid for our chart and starts the service', () => {
  const { values } = convertValues(usual, hostKeys)
  const changes = { ...values, ...image, database: { secretName: '' } }
  expect(renderText('least', changes)).toContain('watcher-argo')
  const { env } = renderContainer('least', 'Deployment', changes)
  const texts = Object.fromEntries(
    env.filter(({ value }) => !value.startsWith('/etc/deployment-watcher')).map(({ name, value }) => [name, value]),
  )
  const { settings } = readSettings({ ...texts, ARGO_TOKEN: 'x', EXTRA: '' })
  expect(settings.submission.defaultTimeoutSeconds).toBe(600)
  expect(settings.identityProvider).toMatchObject({ issuerUrl: 'https://id.example.com' })
  expect(settings.lock.text).toBe('Fri 17:00 - Mon 08:00')
})

const folder = mkdtempSync(path.join(tmpdir(), 'deployment-watcher-values-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('npm run convert-values prints values on stdout and the rest on stderr', () => {
  const main = fileURLToPath(new URL('main.ts', import.meta.url))
  const file = path.join(folder, 'values.yaml')
  writeFileSync(file, stringify(usual))
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, file], { encoding: 'utf8' })
  expect(status).toBe(0)
  expect(stdout).toContain('DEPLOYMENT_TIMEOUT: 600')
  expect(stderr).toContain('DB_CONNECT_TIMEOUT: 2 s here, 10 s there')
  expect(spawnSync(process.execPath, [main], { encoding: 'utf8' })).toMatchObject({ status: 2 })
})
