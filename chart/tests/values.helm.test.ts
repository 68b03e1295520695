import type { IPrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule'
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment'
import { describe, expect, test } from 'vitest'
import { type KubernetesObject, renderObjects } from './render-chart.ts'
import { kinds, validate } from './validate-object.ts'

/** The first object of this kind, valid by its schema; the Service of the metrics is the second. */
function objectOf(kind: string, changes: object): KubernetesObject {
  const object = renderObjects('least', changes).find((one) => one.kind === kind)
  if (object === undefined) throw new Error(`there is no ${kind}`)
  if (kinds.includes(kind)) validate(object)
  return object
}

function podOf(changes: object) {
  const { spec } = objectOf('Deployment', changes) as unknown as IDeployment
  const pod = spec?.template.spec
  if (!pod) throw new Error('the Deployment has no Pods')
  return pod
}

const kindsOf = (changes: object) => renderObjects('least', changes).map(({ kind }) => kind)

describe('a value reaches the Pods', () => {
  const sidecar = { name: 'proxy', image: 'registry.example.com/proxy:1' }
  test.for<[string, object, object]>([
    ['extraContainers', { extraContainers: [sidecar] }, { containers: [{ name: 'service' }, sidecar] }],
    ['initContainers', { initContainers: [sidecar] }, { initContainers: [sidecar] }],
    [
      'securityContext',
      { securityContext: { runAsUser: 7, readOnlyRootFilesystem: null } },
      { containers: [{ securityContext: { runAsUser: 7, allowPrivilegeEscalation: false } }] },
    ],
    [
      'podSecurityContext',
      { podSecurityContext: { fsGroup: 0, runAsUser: null } },
      { securityContext: { fsGroup: 0, runAsNonRoot: true } },
    ],
    ['serviceAccount.name', { serviceAccount: { name: 'deployer' } }, { serviceAccountName: 'deployer' }],
    ['serviceAccount.create', { serviceAccount: { create: true } }, { serviceAccountName: 'watcher' }],
    [
      'topologySpreadConstraints',
      { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }] },
      {
        topologySpreadConstraints: [
          { topologyKey: 'zone', labelSelector: { matchLabels: { 'app.kubernetes.io/instance': 'watcher' } } },
        ],
      },
    ],
    [
      'topologySpreadConstraints with a selector',
      {
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'zone',
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector: { matchLabels: { a: 'b' } },
          },
        ],
      },
      {
        topologySpreadConstraints: [expect.objectContaining({ labelSelector: { matchLabels: { a: 'b' } } })],
      },
    ],
    [
      'startupProbe',
      { startupProbe: { failureThreshold: 900 } },
      { containers: [{ startupProbe: { failureThreshold: 900, periodSeconds: 2, httpGet: { path: '/livez' } } }] },
    ],
    [
      'livenessProbe',
      { livenessProbe: { timeoutSeconds: 9 } },
      { containers: [{ livenessProbe: { timeoutSeconds: 9 } }] },
    ],
    [
      'readinessProbe',
      { readinessProbe: { timeoutSeconds: 9 } },
      { containers: [{ readinessProbe: { timeoutSeconds: 9, httpGet: { path: '/readyz', port: 'metrics' } } }] },
    ],
    ['image.tag', { image: { tag: 1 } }, { containers: [{ image: 'registry.example.com/deployment-watcher:1' }] }],
    [
      'image.tag, as a large number',
      { image: { tag: 20261128 } },
      { containers: [{ image: 'registry.example.com/deployment-watcher:20261128' }] },
    ],
    [
      'global.imageRegistry in place of a registry',
      { global: { imageRegistry: 'mirror.example.com/team/', other: 'of the parent chart' } },
      { containers: [{ image: 'mirror.example.com/team/deployment-watcher:0.1.0' }] },
    ],
    [
      'global.imageRegistry before a name without one',
      { global: { imageRegistry: 'mirror.example.com' }, image: { repository: 'team/deployment-watcher' } },
      { containers: [{ image: 'mirror.example.com/team/deployment-watcher:0.1.0' }] },
    ],
    [
      'global.imageRegistry in place of a registry with a port',
      { global: { imageRegistry: 'mirror.example.com' }, image: { repository: 'localhost:5000/watcher', tag: 'x' } },
      { containers: [{ image: 'mirror.example.com/watcher:x' }] },
    ],
  ])('%s', ([, changes, expected]) => {
    expect(podOf(changes)).toMatchObject(expected)
  })

  test.for<[string, object, string]>([
    ['argo.secretKey', { argo: { secretKey: 'token' } }, 'secret/watcher-argo/token as ARGO_TOKEN'],
    ['database.secretKey', { database: { secretKey: 'uri' } }, 'secret/watcher-database/uri as DATABASE_URL'],
    ['database.caSecret', { database: { caSecret: 'pg-ca' } }, 'secret/pg-ca/ca.crt as DB_CA_FILE'],
    [
      'database.caSecretKey',
      { database: { caSecret: 'pg-ca', caSecretKey: 'root' } },
      'secret/pg-ca/root as DB_CA_FILE',
    ],
    ['files.DB_CA_FILE', { files: { DB_CA_FILE: { configMapName: 'ca', key: 'x' } } }, 'configMap/ca/x as DB_CA_FILE'],
  ])('%s', ([, changes, expected]) => {
    const sources = podOf(changes).volumes?.flatMap(({ projected }) => projected?.sources ?? []) ?? []
    const mounted = sources.flatMap((source) =>
      Object.entries(source).flatMap(([kind, { name, items }]) =>
        items.map((item: { key: string; path: string }) => `${kind}/${name}/${item.key} as ${item.path}`),
      ),
    )
    expect(mounted).toContain(expected)
  })

  test.for<[string, object]>([
    ['podSecurityContext', { podSecurityContext: null }],
    ['securityContext', { securityContext: null }],
    ['startupProbe', { startupProbe: null }],
    ['livenessProbe', { livenessProbe: null }],
    ['readinessProbe', { readinessProbe: null }],
  ])('%s: null leaves it out', ([name, changes]) => {
    const pod = podOf(changes)
    const place = name === 'podSecurityContext' ? pod : pod.containers[0]
    expect(place).not.toHaveProperty(name.replace('podSecurity', 'security'))
  })
})

describe('a value reaches the Deployment', () => {
  test.for<[string, object, object]>([
    ['replicaCount', { replicaCount: 3 }, { spec: { replicas: 3 } }],
    ['replicas, the earlier name', { replicas: 4 }, { spec: { replicas: 4 } }],
    ['fullnameOverride', { fullnameOverride: 'gate' }, { metadata: { name: 'gate' } }],
    ['nameOverride, the earlier name', { nameOverride: 'gate' }, { metadata: { name: 'gate' } }],
    [
      'strategy',
      { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } },
      { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } } },
    ],
  ])('%s', ([, changes, expected]) => expect(objectOf('Deployment', changes)).toMatchObject(expected))

  test('strategy.type: Recreate drops the parameters of the other type', () => {
    const { spec } = objectOf('Deployment', { strategy: { type: 'Recreate' } }) ?? {}
    expect(spec).toMatchObject({ strategy: { type: 'Recreate' } })
    expect(spec).not.toHaveProperty('strategy.rollingUpdate')
  })
})

describe('a value reaches the Service', () => {
  test.for<[string, object]>([
    ['clusterIP', { clusterIP: 'None' }],
    ['externalIPs', { externalIPs: ['192.0.2.1'] }],
    ['externalTrafficPolicy', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }],
    ['ipFamilyPolicy', { ipFamilyPolicy: 'PreferDualStack' }],
    ['loadBalancerClass', { type: 'LoadBalancer', loadBalancerClass: 'internal' }],
    ['loadBalancerIP', { type: 'LoadBalancer', loadBalancerIP: '192.0.2.1' }],
    ['loadBalancerSourceRanges', { type: 'LoadBalancer', loadBalancerSourceRanges: ['192.0.2.0/24'] }],
  ])('service.%s', ([, fields]) => expect(objectOf('Service', { service: fields })).toMatchObject({ spec: fields }))

  test('service.nodePort and labels', () => {
    const service = { type: 'NodePort', nodePort: 30080, labels: { expose: 'true' } }
    expect(objectOf('Service', { service })).toMatchObject({
      metadata: { labels: { expose: 'true' } },
      spec: { type: 'NodePort', ports: [{ name: 'http', port: 80, nodePort: 30080 }] },
    })
  })
})

describe('an Ingress', () => {
  const path = (at: string, pathType = 'Prefix') => ({
    path: at,
    pathType,
    backend: { service: { name: 'watcher', port: { name: 'http' } } },
  })
  const spec = (ingress: object) => objectOf('Ingress', { ingress: { enabled: true, ...ingress } }).spec

  test('has several hosts and paths, and one certificate for all', () => {
    const hosts = [
      { host: 'b.example.com' },
      { host: 'c.example.com', paths: [{ path: '/api', pathType: 'Exact' }, { path: '/' }] },
    ]
    expect(spec({ host: 'a.example.com', hosts, tlsSecretName: 'tls' })).toEqual({
      tls: [{ hosts: ['a.example.com', 'b.example.com', 'c.example.com'], secretName: 'tls' }],
      rules: [
        { host: 'a.example.com', http: { paths: [path('/')] } },
        { host: 'b.example.com', http: { paths: [path('/')] } },
        { host: 'c.example.com', http: { paths: [path('/api', 'Exact'), path('/')] } },
      ],
    })
  })

  test('takes a list of certificates, and the first host is the address of links', () => {
    const tls = [{ hosts: ['b.example.com'], secretName: 'tls' }]
    const ingress = { enabled: true, hosts: [{ host: 'b.example.com' }, { host: 'c.example.com' }], tls }
    expect(spec(ingress)).toMatchObject({ tls })
    expect(podOf({ ingress }).containers[0]?.env).toContainEqual({ name: 'PUBLIC_URL', value: 'https://b.example.com' })
  })

  test.for([{ tls: false }, { tls: [] }])('without TLS (%j) the address of links is http', ({ tls }) => {
    const ingress = { enabled: true, host: 'a.example.com', tls }
    expect(spec(ingress)).not.toHaveProperty('tls')
    expect(podOf({ ingress }).containers[0]?.env).toContainEqual({ name: 'PUBLIC_URL', value: 'http://a.example.com' })
  })
})

describe('an object is made or left out', () => {
  test('the PodDisruptionBudget', () => {
    expect(kindsOf({})).toContain('PodDisruptionBudget')
    expect(kindsOf({ podDisruptionBudget: { enabled: false } })).not.toContain('PodDisruptionBudget')
    const spec = (podDisruptionBudget: object) => objectOf('PodDisruptionBudget', { podDisruptionBudget }).spec
    expect(spec({ maxUnavailable: '25%' })).toMatchObject({ maxUnavailable: '25%' })
    expect(spec({ minAvailable: 0 })).toMatchObject({ minAvailable: 0 })
    expect(spec({ minAvailable: 0 })).not.toHaveProperty('maxUnavailable')
  })

  test('the service account', () => {
    expect(kindsOf({})).not.toContain('ServiceAccount')
    const serviceAccount = { create: true, name: 'deployer', annotations: { team: 'platform' } }
    expect(objectOf('ServiceAccount', { serviceAccount })).toMatchObject({
      metadata: { name: 'deployer', annotations: { team: 'platform' } },
      automountServiceAccountToken: false,
    })
  })

  test('the migration Job, which runs before a created service account exists', () => {
    const account = (serviceAccount: object) =>
      objectOf('Job', { serviceAccount, database: { ownerSecretName: 'owner' } }).spec
    expect(account({ name: 'deployer' })).toHaveProperty('template.spec.serviceAccountName', 'deployer')
    expect(account({ create: true, name: 'deployer' })).not.toHaveProperty('template.spec.serviceAccountName')
  })

  test('extraObjects, as YAML and as text, with templates', () => {
    const labels = { chart: '{{ .Chart.Name }}' }
    const text = 'apiVersion: v1\nkind: Secret\nmetadata: { name: {{ include "deployment-watcher.name" . }}-extra }\n'
    const extraObjects = [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'extra', labels } }, text]
    expect(objectOf('Namespace', { extraObjects })).toMatchObject({
      metadata: { labels: { chart: 'deployment-watcher' } },
    })
    expect(objectOf('Secret', { extraObjects })).toMatchObject({ metadata: { name: 'watcher-extra' } })
  })

  test('the dashboard, with the label of the sidecar', () => {
    const map = renderObjects('least', { dashboard: { enabled: true, annotations: { grafana_folder: 'CD' } } }).find(
      ({ data }) => Object(data)['deployment-watcher.json'],
    )
    expect(map).toMatchObject({
      metadata: { labels: { grafana_dashboard: '1' }, annotations: { grafana_folder: 'CD' } },
    })
    expect(JSON.parse(Object(map?.data)['deployment-watcher.json'])).toMatchObject({ panels: expect.anything() })
  })
})

describe('an alert', () => {
  const alerts = (prometheusRule: object) => {
    const { spec } = objectOf('PrometheusRule', {
      prometheusRule: { enabled: true, ...prometheusRule },
    }) as unknown as IPrometheusRule
    return new Map(spec.groups?.flatMap(({ rules }) => rules ?? []).map((rule) => [rule.alert, rule]))
  }

  test('is switched off, and the others stay', () => {
    const names = [...alerts({}).keys()]
    const left = [...alerts({ rules: { WatcherMixedVersions: { enabled: false } } }).keys()]
    expect(names.length).toBeGreaterThan(10)
    expect(left).toEqual(names.filter((name) => name !== 'WatcherMixedVersions'))
  })

  test('is tuned, and keeps what is not named', () => {
    const tuning = {
      expr: 'vector(1) > 60',
      for: '30m',
      labels: { severity: 'info' },
      annotations: { team: 'platform' },
    }
    const before = alerts({}).get('WatcherVerdictsLate')
    expect(alerts({ rules: { WatcherVerdictsLate: tuning } }).get('WatcherVerdictsLate')).toEqual({
      ...before,
      ...tuning,
      annotations: { ...before?.annotations, team: 'platform' },
    })
  })

  test('has a runbook_url where the address of the handbook is known', () => {
    const runbookUrl = 'https://handbook.example.com/alerts'
    expect(alerts({}).get('WatcherMissing')?.annotations).not.toHaveProperty('runbook_url')
    for (const [name, { annotations }] of alerts({ runbookUrl }))
      expect(annotations?.runbook_url).toBe(`${runbookUrl}#${name?.toLowerCase()}`)
  })
})
