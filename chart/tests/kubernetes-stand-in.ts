import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, dirname } from 'node:path/posix'
import { buffer } from 'node:stream/consumers'
import { decodeObject, type StoredObject } from './decode-object.ts'

/** What the chart and the documented commands use, all of version v1. */
const kindsByGroup = {
  '': ['Namespace', 'Secret', 'ConfigMap', 'Service', 'Pod'],
  apps: ['Deployment'],
  batch: ['Job'],
  'networking.k8s.io': ['Ingress'],
  policy: ['PodDisruptionBudget'],
}
const groups: object[] = []
const schemas: Record<string, object> = {}
const patches: Record<string, object> = {}
const lists = new Map<string, object>()
/** What clients ask for first: the kinds, and whether the server checks their fields. If not, Helm wants the schemas. */
const discovery = new Map<string, object>([
  ['/version', { major: '1', minor: '34', gitVersion: 'v1.34.0' }],
  ['/api', { kind: 'APIVersions', versions: ['v1'] }],
  ['/apis', { kind: 'APIGroupList', apiVersion: 'v1', groups }],
  ['/openapi/v3', { paths: schemas }],
  ['/schema', { openapi: '3.0.0', paths: patches }],
])
for (const [group, kinds] of Object.entries(kindsByGroup)) {
  const groupVersion = group ? `${group}/v1` : 'v1'
  const preferredVersion = { groupVersion, version: 'v1' }
  if (group) groups.push({ name: group, versions: [preferredVersion], preferredVersion })
  const path = group ? `apis/${groupVersion}` : 'api/v1'
  schemas[path] = { serverRelativeURL: '/schema' }
  const resources = kinds.map((kind) => {
    const singularName = kind.toLowerCase()
    const name = `${singularName}${singularName.endsWith('s') ? 'es' : 's'}`
    lists.set(name, { apiVersion: groupVersion, kind: `${kind}List` })
    const parameters = [{ name: 'fieldValidation', in: 'query' }]
    patches[`/${kind}`] = { patch: { parameters, 'x-kubernetes-group-version-kind': { group, version: 'v1', kind } } }
    return { name, singularName, namespaced: kind !== 'Namespace', kind }
  })
  discovery.set(`/${path}`, { kind: 'APIResourceList', groupVersion, resources })
}

type Answer = { readonly status: number; readonly body: object | string }
const failure = (code: number, reason: string): Answer => ({
  status: code,
  body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: reason },
})
const notFound = failure(404, 'NotFound')

export type KubernetesStandIn = Awaited<ReturnType<typeof startKubernetesStandIn>>

/**
 * Stands in for the API of Kubernetes, for kubectl and helm. It stores objects and acts on none, except that a Job ends
 * at once, and that a Deployment or Job has a Pod, whose log is one line. Patches change nothing.
 */
export async function startKubernetesStandIn() {
  const objects = new Map<string, StoredObject>()
  let endOfJobs: 'Complete' | 'Failed' = 'Complete'

  function create(collection: string, posted: StoredObject): Answer {
    const [inNamespace, namespace = ''] = /\/namespaces\/([^/]+)(?=\/)/.exec(collection) ?? []
    if (inNamespace && !objects.has(`/api/v1${inNamespace}`)) return notFound
    const { name } = posted.metadata
    const path = `${collection}/${name}`
    if (objects.has(path)) return failure(409, 'AlreadyExists')
    const object = posted.kind === 'Job' ? endJob(posted) : posted
    objects.set(path, object)
    const template = posted.spec?.template
    if (template) {
      const metadata = { ...template.metadata, name: `${name}-pod`, namespace }
      objects.set(`/api/v1${inNamespace}/pods/${name}-pod`, { ...template, apiVersion: 'v1', kind: 'Pod', metadata })
    }
    return { status: 201, body: object }
  }

  const endJob = ({ spec, ...job }: StoredObject) => ({
    ...job,
    spec: { ...spec, selector: { matchLabels: spec?.template?.metadata.labels } },
    status: { conditions: [{ type: endOfJobs, status: 'True' }] },
  })

  function read(path: string, query: URLSearchParams): Answer {
    const found = discovery.get(path) ?? objects.get(path)
    if (found) return { status: 200, body: found }
    if (path.endsWith('/log')) return { status: 200, body: `log of ${basename(dirname(path))}\n` }
    const list = lists.get(basename(path))
    if (!list) return notFound
    if (query.has('watch')) return failure(405, 'MethodNotAllowed') // clients then list
    const selector = query.get('labelSelector')?.split(',') ?? []
    const items = [...objects].flatMap(([own, object]) => {
      const labels = Object.entries(object.metadata.labels ?? {}).map((label) => label.join('='))
      return dirname(own) === path && selector.every((label) => labels.includes(label)) ? [object] : []
    })
    return { status: 200, body: { ...list, items } }
  }

  function answer(method: string, { pathname, searchParams }: URL, body: Buffer): Answer {
    if (method === 'GET') return read(pathname, searchParams)
    if (method === 'POST') return create(pathname, decodeObject(body))
    const object = method === 'PUT' ? decodeObject(body) : objects.get(pathname)
    if (!object || !objects.has(pathname)) return notFound
    if (method === 'DELETE') objects.delete(pathname)
    else objects.set(pathname, object)
    return { status: 200, body: object }
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://kubernetes')
    const { status, body } = answer(request.method ?? '', url, await buffer(request))
    const [type, text] = typeof body === 'string' ? ['text/plain', body] : ['application/json', JSON.stringify(body)]
    response.writeHead(status, { 'content-type': type }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on TCP
  return {
    url: `http://127.0.0.1:${port}`,
    objectsOf: (kind: string) => [...objects.values()].filter((object) => object.kind === kind),
    endJobsAs(end: typeof endOfJobs) {
      endOfJobs = end
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
