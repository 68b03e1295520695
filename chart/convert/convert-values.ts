import { notesOf, otherNames, refusalsOf } from '../../server/settings/other-names.ts'
import { settingPlaces } from '../setting-places.ts'

type Values = Readonly<Record<string, unknown>>

export type Conversion = {
  /** For our chart. Parts that nothing was said about are left out. */
  readonly values: Values
  /** What a person has to look at, a line each: what has no place, and what has to be done by hand. */
  readonly notes: readonly string[]
}

/** What differs although nothing in the values says so. */
export const silentDifferences: readonly string[] = [
  'DEPLOYMENT_TIMEOUT: the chart of argo-watcher sets 300 s, which is kept here; without it the default is 900 s',
  'GIT_TIMEOUT: is GIT_OP_TIMEOUT here, 90 s',
  'DB_TIMEZONE: has no effect; times are stored as moments, and each reader chooses the zone',
  'DB_CONNECT_TIMEOUT: 2 s here, 10 s there',
  'COMMIT_MESSAGE_FORMAT: the default is "watcher(<app>): update image tag", there "argo-watcher(<app>): update image tag"',
  'COMMIT_TRAILER: commits end with the line "Watcher-Task: <id>"; false leaves it out',
  'updater.commitAuthor, updater.commitEmail: the defaults are deployment-watcher and deployment-watcher@localhost; those of argo-watcher are kept here',
  'updater.knownHosts: replaces the host keys of the chart; extraKnownHosts added to them',
  'OVERRIDE_FILE_PREFIX: the chart sets argocd, so the same override files are written as before',
  'database: the tables are in the schema "watcher" of the same database; the history of argo-watcher is not taken over',
]

const defaults = { timeout: 300, commitAuthor: 'argo-watcher', commitEmail: 'argo-watcher@example.com' }

/** Parts that our chart decides by itself, and why. */
const withoutPlace: Readonly<Record<string, string>> = {
  revisionHistory: 'the chart keeps the default of Kubernetes',
  healthChecksEnabled: 'the chart has probes of its own; adjust them by startupProbe, livenessProbe and readinessProbe',
  healthChecks: 'the chart has probes of its own; adjust them by startupProbe, livenessProbe and readinessProbe',
  livenessProbe: 'the chart has probes of its own; adjust them by startupProbe, livenessProbe and readinessProbe',
  readinessProbe: 'the chart has probes of its own; adjust them by startupProbe, livenessProbe and readinessProbe',
  startupProbe: 'the chart has probes of its own; adjust them by startupProbe, livenessProbe and readinessProbe',
  watcher: 'there is no in-memory state',
  migration: 'each replica migrates before it starts, or a Job with database.ownerSecretName does',
  terminationGracePeriodSeconds: 'the chart gives 30 s, of which a stop takes 25',
  persistence: 'clones are rebuilt when a Pod starts; dataSizeLimit is their volume',
  mcp: 'there is no MCP server',
}

/**
 * The values of our chart for those of argo-watcher's (0.7 to 1.x).
 * @param given values of argo-watcher's chart, its defaults left out
 * @param knownHosts the host keys of our chart, which `updater.knownHosts` would replace
 */
export function convertValues(given: Values, knownHosts: string): Conversion {
  const notes: string[] = []
  const at = (path: string): unknown => path.split('.').reduce<unknown>((part, name) => mapOf(part)[name], given)
  const text = (path: string): string | undefined => {
    const value = at(path)
    return value === undefined || value === null || value === '' ? undefined : String(value)
  }
  const updater = at('updater') === undefined ? 'argo.updater' : 'updater'

  const settings: Record<string, unknown> = {
    DEPLOYMENT_TIMEOUT: at('argo.timeout') ?? defaults.timeout,
    ...present({
      LOG_LEVEL: text('logLevel')?.toLowerCase(),
      PORT: at('service.containerPort'),
      ARGO_URL_ALIAS: text('argo.urlAlias'),
      ARGO_API_TIMEOUT: at('argo.apiTimeout'),
      ARGO_REFRESH_APP: at('argo.refreshApp'),
      SKIP_TLS_VERIFY: at('argo.skipTlsVerify') ?? (at('argo.sslVerify') === false ? true : undefined),
      DOCKER_IMAGES_PROXY: text('argo.registryProxyUrl'),
    }),
  }
  const files: Record<string, unknown> = {}
  const extraEnv: unknown[] = []
  const own: Record<string, string> = {}

  if (at('postgres.enabled') === true) {
    const { host, port, name, user, secretName, secretKey } = mapOf(at('postgres'))
    Object.assign(settings, present({ DB_HOST: host, DB_PORT: port, DB_NAME: name, DB_USER: user }))
    if (secretName) files.DB_PASSWORD = { secretName, ...(secretKey ? { key: secretKey } : {}) }
  } else notes.push('database.secretName: is required: argo-watcher kept its tasks in memory')

  for (const variable of listOf(at('extraEnvs')).map(mapOf)) convertVariable(variable)

  const secretName = text('argo.secretName')
  if (secretName === undefined) notes.push('argo.secretName: is required: name the Secret with ARGO_TOKEN')
  else
    notes.push(
      `Secret ${secretName}: the chart mounts its field ARGO_TOKEN only. For pipelines name a Secret in credentials.secretName that has WATCHER_DEPLOY_TOKEN (in argo-watcher ARGO_WATCHER_DEPLOY_TOKEN), JWT_SECRET or both, and list them in credentials.fields`,
    )
  if (text('argo.username') !== undefined) notes.push('argo.username: the service signs in with ARGO_TOKEN alone')
  notes.push('image.repository: is required: name the image that you pushed')

  if (listOf(at('networkPolicies.additionalRules')).length > 0)
    notes.push('networkPolicies.additionalRules: list the peers in networkPolicy.from')
  if (text(`${updater}.knownHostsConfigMap`) !== undefined)
    notes.push(`${updater}.knownHostsConfigMap: copy the host keys of this ConfigMap to updater.knownHosts`)
  for (const [name, why] of Object.entries(withoutPlace))
    if (at(name) !== undefined) notes.push(`${name}: left out: ${why}`)
  for (const name of Object.keys(given))
    if (!known.has(name)) notes.push(`${name}: is no value of argo-watcher's chart`)

  const extraKnownHosts = listOf(at(`${updater}.extraKnownHosts`)).map(String)
  const isUpdating = text(`${updater}.sshSecretName`) !== undefined
  return {
    values: present({
      fullnameOverride: text('fullnameOverride') ?? text('nameOverride'),
      replicaCount: at('replicaCount'),
      imagePullSecrets: at('imagePullSecrets'),
      argo: part({ url: text('argo.url'), secretName }),
      updater: part({
        sshSecretName: text(`${updater}.sshSecretName`),
        sshSecretKey: text(`${updater}.sshKey`),
        ...(isUpdating
          ? {
              commitAuthor: text(`${updater}.commitAuthor`) ?? defaults.commitAuthor,
              commitEmail: text(`${updater}.commitEmail`) ?? defaults.commitEmail,
            }
          : {}),
        knownHosts: extraKnownHosts.length === 0 ? undefined : [knownHosts.trim(), ...extraKnownHosts, ''].join('\n'),
        ...(own.SSH_COMMIT_USER === undefined ? {} : { commitAuthor: own.SSH_COMMIT_USER }),
        ...(own.SSH_COMMIT_MAIL === undefined ? {} : { commitEmail: own.SSH_COMMIT_MAIL }),
      }),
      scheduledLockdown: at('scheduledLockdown') ?? own.LOCKDOWN_SCHEDULE?.split(',').map((window) => window.trim()),
      lockdownTimezone: own.LOCKDOWN_TIMEZONE ?? own.TZ,
      settings,
      files: part(files),
      extraEnv: extraEnv.length === 0 ? undefined : extraEnv,
      service: part({ type: at('service.type'), port: at('service.port') }),
      serviceAccount: pick('serviceAccount', ['create', 'name', 'annotations']),
      ingress: part({
        enabled: at('ingress.enabled'),
        className: text('ingress.className'),
        hosts: at('ingress.enabled') === true ? listOf(at('ingress.hosts')).map(ingressHost) : undefined,
        tls: at('ingress.enabled') === true ? listOf(at('ingress.tls')) : undefined,
        annotations: at('ingress.annotations'),
      }),
      networkPolicy: part({ enabled: at('networkPolicies.enabled') }),
      serviceMonitor: part({
        enabled: at('podMonitor.enabled'),
        interval: text('podMonitor.interval'),
        labels: at('podMonitor.labels'),
      }),
      resources: at('resources'),
      podAnnotations: at('podAnnotations'),
      nodeSelector: at('nodeSelector'),
      tolerations: at('tolerations'),
      affinity: at('affinity'),
      topologySpreadConstraints: at('topologySpreadConstraints'),
      podSecurityContext: at('podSecurityContext'),
      securityContext: at('securityContext'),
      podDisruptionBudget: pick('podDisruptionBudget', ['enabled', 'minAvailable', 'maxUnavailable']),
    }),
    notes,
  }

  /** The fields of a value that both charts have. */
  function pick(name: string, fields: readonly string[]): Values | undefined {
    return part(Object.fromEntries(Object.entries(mapOf(at(name))).filter(([field]) => fields.includes(field))))
  }

  /** A variable of argo-watcher's Pod: a setting of ours, a file of ours, or one for Node. */
  function convertVariable({ name: given, value, valueFrom }: Values): void {
    const name = String(given)
      .replace(/^ARGO_WATCHER_/, 'WATCHER_')
      .replace(/^OIDC_/, 'IDP_')
      .replace(/^IDP_REQUIRE_TASK_READ_AUTH$/, 'IDP_REQUIRE_READ_AUTH')
      .replace(/^GIT_TIMEOUT$/, 'GIT_OP_TIMEOUT')
    const { name: secret, key } = mapOf(mapOf(valueFrom).secretKeyRef)
    if (otherNames.includes(String(given)) || otherNames.includes(name)) {
      const texts = { [String(given)]: String(value ?? '') }
      notes.push(...refusalsOf(texts), ...notesOf(texts))
    } else if (settingPlaces[name] === 'settings' && value !== undefined) settings[name] = value
    else if (settingPlaces[name] === 'files') {
      if (secret) files[name] = { secretName: secret, ...(key === name ? {} : { key }) }
      else notes.push(`${name}: put its value into a Secret, and name that in files.${name}.secretName`)
    } else if ((name === 'TZ' || name in settingPlaces) && value !== undefined && isCarried(name))
      own[name] = String(value)
    else if (name in settingPlaces) notes.push(`${name}: has a place of its own, ${settingPlaces[name]}`)
    else if (name === 'DB_TIMEZONE') return
    else extraEnv.push({ name, ...present({ value, valueFrom }) })
  }
}

const carried = ['TZ', 'LOCKDOWN_SCHEDULE', 'LOCKDOWN_TIMEZONE', 'SSH_COMMIT_USER', 'SSH_COMMIT_MAIL']
const isCarried = (name: string) => carried.includes(name)

/** Values of argo-watcher's chart that are taken over above. */
const known: ReadonlySet<string> = new Set([
  ...['replicaCount', 'image', 'imagePullSecrets', 'nameOverride', 'fullnameOverride', 'logLevel', 'argo', 'updater'],
  ...['scheduledLockdown', 'extraEnvs', 'postgres', 'service', 'ingress', 'networkPolicies', 'podMonitor'],
  ...['resources', 'podAnnotations', 'nodeSelector', 'tolerations', 'affinity', 'topologySpreadConstraints'],
  ...['serviceAccount', 'podSecurityContext', 'securityContext', 'podDisruptionBudget'],
  ...Object.keys(withoutPlace),
])

const ingressHost = (given: unknown): Values => {
  const { host, paths } = mapOf(given)
  const taken = listOf(paths).map((one) => {
    const { path, pathType } = mapOf(one)
    return present({ path, pathType })
  })
  return present({ host, paths: taken.length === 0 ? undefined : taken })
}
const mapOf = (value: unknown): Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const present = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
/** Undefined where nothing is in it. */
const part = (values: Values): Values | undefined => {
  const there = present(values)
  return Object.keys(there).length === 0 ? undefined : there
}
