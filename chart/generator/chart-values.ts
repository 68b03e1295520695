import { z } from 'zod'
import { ConfigDocument } from '../../server/config/config-document.ts'
import { definitions, type Name } from '../../server/settings/definitions.ts'
import { isSecretSetting } from '../../server/settings/describe-settings.ts'

const text = (description: string, chosen = '') => z.string().default(chosen).describe(description)
const flag = (description: string, chosen = false) => z.boolean().default(chosen).describe(description)
/** Handed on to Kubernetes, whose own schema is the one that counts. */
const entries = (description: string) => z.array(z.unknown()).default([]).describe(description)
const map = (description: string, chosen: Record<string, string> = {}) =>
  z.record(z.string(), z.string()).default(chosen).describe(description)
const object = (description: string, chosen: Record<string, unknown> = {}) =>
  z.record(z.string(), z.unknown()).default(chosen).describe(description)
const quantity = (description: string, chosen: string) =>
  z
    .string()
    .regex(/^[0-9]+(Mi|Gi)$/)
    .default(chosen)
    .describe(description)

/** Settings that have a value of their own, and which. */
export const ownValues = {
  ARGO_URL: 'argo.url',
  ARGO_TOKEN: 'argo.secretName',
  DATABASE_URL: 'database.secretName',
  JWT_SECRET: 'credentials.fields',
  JWT_SECRET_PREVIOUS: 'credentials.fields',
  WATCHER_DEPLOY_TOKEN: 'credentials.fields',
  SSH_KEY_PATH: 'updater.sshSecretName',
  SSH_KNOWN_HOSTS: 'updater.knownHosts',
  SSH_COMMIT_USER: 'updater.commitAuthor',
  SSH_COMMIT_MAIL: 'updater.commitEmail',
  LOCKDOWN_SCHEDULE: 'scheduledLockdown',
  LOCKDOWN_TIMEZONE: 'lockdownTimezone',
  CONFIG: 'config',
} as const satisfies Partial<Record<Name, string>>

const allNames = Object.keys(definitions.shape) as Name[]
const otherNames = allNames.filter((name) => !(name in ownValues))
const isFromFile = (name: Name) => {
  const { format } = z.toJSONSchema(definitions.shape[name], { io: 'input', unrepresentable: 'any' })
  return isSecretSetting(name) || format === 'path'
}
/** What a Secret or a ConfigMap holds. */
export const fileNames = otherNames.filter(isFromFile)
/** What the map `settings` holds. */
export const settingNames = otherNames.filter((name) => !isFromFile(name))

const shapeOf = <Entry>(names: readonly Name[], entryOf: (name: Name) => Entry) =>
  Object.fromEntries(names.map((name) => [name, entryOf(name)]))

const drainDelay = z
  .string()
  .optional()
  .meta({ type: ['integer', 'string'], minimum: 0, maximum: 15, pattern: '^((1[0-5]|[0-9])s?|[0-9]{1,4}ms)$' })

const settings = z
  .strictObject(
    shapeOf(settingNames, (name): z.ZodType => (name === 'DRAIN_DELAY' ? drainDelay : definitions.shape[name])),
  )
  .prefault({
    PORT: 8080,
    METRICS_PORT: 9090,
    // Its clones have so long a path that the copy of the SSH key goes to /tmp, which is memory (docs/settings.md).
    DATA_DIR: '/var/cache/deployment-watcher/replica',
    OVERRIDE_FILE_PREFIX: 'argocd',
    TASK_RETENTION_ENABLED: true,
  })
  .meta({
    description:
      'Every other setting by its name (settings.md). `DRAIN_DELAY` is at most 15 s, of the 25 s that a stop takes',
    required: ['PORT', 'METRICS_PORT', 'DATA_DIR'],
  })

const fileSource = z
  .strictObject({ secretName: z.string().min(1), configMapName: z.string().min(1), key: z.string().min(1) })
  .partial()
  .meta({ id: 'FileSource', oneOf: [{ required: ['secretName'] }, { required: ['configMapName'] }] })

const files = z
  .strictObject(shapeOf(fileNames, () => fileSource.optional()))
  .prefault({})
  .describe(
    'Settings that are secrets or files, by name: `secretName` or `configMapName`, and `key` if it differs from the name of the setting. They are mounted, so changes take effect without a restart where settings.md says so',
  )

/** Everything that values.yaml may hold, with its default and its meaning: the schema, the file and its table are made from this. */
export const chartValues = z.strictObject({
  global: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Values that a parent chart shares with its subcharts; not used'),
  nameOverride: text('Name of the objects; empty: the name of the release'),
  replicas: z.int().min(1).default(2).describe('Number of Pods'),
  image: z.strictObject({
    repository: text('Required. Image name with its registry, such as `registry.example.com/deployment-watcher`'),
    tag: text('Tag; empty: the version of the chart'),
    digest: text('`sha256:…`, used instead of the tag'),
    pullPolicy: z
      .enum(['IfNotPresent', 'Always', 'Never'])
      .default('IfNotPresent')
      .describe('Pull policy of the image'),
  }),
  imagePullSecrets: entries('Secrets for the registry, such as `- name: registry`'),

  argo: z.strictObject({
    url: text('Required. Address of the API of Argo CD'),
    secretName: text('Required. Secret with the token in its field `ARGO_TOKEN`'),
  }),
  database: z.strictObject({
    secretName: text(
      'Secret with the address in its field `DATABASE_URL`. Required unless `files.DB_DSN` or `settings.DB_HOST` is set',
    ),
    ownerSecretName: text(
      'Secret with `DATABASE_URL` of the owner of the schema. A Job then migrates with it before each installation and upgrade, and the role of the service needs no DDL privileges',
    ),
  }),
  credentials: z.strictObject({
    secretName: text('Secret with the keys and tokens that verify the credentials of pipelines'),
    fields: z
      .array(z.enum(['JWT_SECRET', 'JWT_SECRET_PREVIOUS', 'WATCHER_DEPLOY_TOKEN']))
      .default(['JWT_SECRET', 'WATCHER_DEPLOY_TOKEN'])
      .describe('Fields that this Secret has. With `JWT_SECRET_PREVIOUS` both secrets are accepted, for a rotation'),
  }),
  updater: z.strictObject({
    sshSecretName: text('Secret with the SSH private key for Git. Without it the service does not commit over SSH'),
    sshSecretKey: z.string().min(1).default('sshPrivateKey').describe('Field of that Secret that holds the key'),
    commitAuthor: text('Author name of the commits', 'deployment-watcher'),
    commitEmail: text('Author e-mail of the commits', 'deployment-watcher@localhost'),
    knownHosts: text(
      'Host keys as in a known_hosts file, in place of those of GitHub, GitLab, Bitbucket and Azure DevOps',
    ),
  }),
  scheduledLockdown: z
    .array(z.string())
    .default([])
    .describe('Lockdown windows, such as `Fri 17:00 - Mon 08:00`, in which new tasks are rejected'),
  lockdownTimezone: text('IANA time zone of these windows', 'UTC'),
  config: ConfigDocument.prefault({}).describe(
    'The configuration file (settings.md). It becomes a ConfigMap, and its changes take effect without a restart',
  ),
  settings,
  files,
  extraEnv: z
    .array(
      z.looseObject({
        name: z
          .string()
          .min(1)
          .meta({ not: { enum: allNames.flatMap((name) => [name, `${name}_FILE`]) } }),
      }),
    )
    .default([])
    .describe('Other environment variables, such as `NODE_EXTRA_CA_CERTS`'),
  extraVolumes: entries('Volumes of the Pods in addition to those of the chart'),
  extraVolumeMounts: entries('Mounts of these volumes'),

  service: z.strictObject({
    type: z.enum(['ClusterIP', 'NodePort', 'LoadBalancer']).default('ClusterIP').describe('Type of the Service'),
    port: z.int().min(1).max(65_535).default(80).describe('Port of the API and the Web UI'),
    annotations: map('Annotations of the Service'),
  }),
  ingress: z.strictObject({
    enabled: flag('Create an Ingress'),
    className: text('Ingress class'),
    host: text('Host name; also gives `PUBLIC_URL`'),
    tls: flag('The host is served over https', true),
    tlsSecretName: text('Secret with the certificate; empty: the default of the controller'),
    annotations: map(
      'Annotations. The defaults are for ingress-nginx: a request with `?wait` takes up to 60 s, and event streams must not be buffered',
      { 'nginx.ingress.kubernetes.io/proxy-read-timeout': '75', 'nginx.ingress.kubernetes.io/proxy-buffering': 'off' },
    ),
  }),
  httpRoute: z.strictObject({
    enabled: flag('Create an HTTPRoute of the Gateway API'),
    host: text('Host name; also gives `PUBLIC_URL`, with https'),
    parentRefs: entries('Gateways, such as `- name: public`'),
    annotations: map('Annotations of the HTTPRoute'),
  }),
  networkPolicy: z.strictObject({
    enabled: flag('Create a NetworkPolicy'),
    from: entries('Peers that may reach the API; empty: all'),
    metricsFrom: entries('Peers that may reach the metrics; empty: all'),
    egress: entries(
      'Destinations of the Pods in addition to DNS: Argo CD, the database, Git hosts, the identity provider. Empty: all',
    ),
  }),
  serviceMonitor: z.strictObject({
    enabled: flag('Create a ServiceMonitor of the Prometheus Operator'),
    interval: text('Scrape interval', '30s'),
    labels: map('Labels by which Prometheus finds it'),
  }),
  prometheusRule: z.strictObject({
    enabled: flag('Create a PrometheusRule with the alerts of the service'),
    labels: map('Labels by which Prometheus finds it'),
  }),

  resources: object('Requests and limits', {
    requests: { cpu: '250m', memory: '512Mi' },
    limits: { memory: '1536Mi' },
  }),
  dataSizeLimit: quantity('Size of the volume of `DATA_DIR`; more than `REPO_CACHE_LIMIT`', '4Gi'),
  tmpSizeLimit: quantity('Size of /tmp, which is in memory', '64Mi'),
  labels: map('Labels of all objects'),
  podLabels: map('Labels of the Pods'),
  podAnnotations: map('Annotations of the Pods'),
  nodeSelector: map('Node labels that the Pods need'),
  tolerations: entries('Taints that the Pods tolerate'),
  affinity: object('Affinity of the Pods; without it they prefer different nodes'),
  priorityClassName: text('Priority class of the Pods'),
})
