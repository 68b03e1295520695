import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { checkout, codeBlocksOf, documents } from '../../test/docs/documents.ts'
import { type KubernetesStandIn, startKubernetesStandIn } from './kubernetes-stand-in.ts'
import { chart } from './render-chart.ts'

type Variables = Readonly<Record<string, string>>

const blocks = documents
  .flatMap(codeBlocksOf)
  .filter(({ language, code }) => language === 'console' && /^ *(kubectl|helm) /m.test(code))
  .map(({ code }) => code)
/** Of each block what no other has. */
const parts = ['create namespace', 'helm upgrade', 'logs job/', 'logs --selector', 'exec deployment/'] as const

const ofInstall = (heading: string, language: string) =>
  codeBlocksOf('docs/install.md').find((block) => block.heading === heading && block.language === language)?.code ?? ''
const values = ofInstall('4. Kubernetes', 'yaml')
const secrets = { ARGO_TOKEN: 'token-of-argo-cd', DATABASE_URL: 'postgresql://watcher:pw@db.example.com/watcher' }

const stack = new AsyncDisposableStack()
let folder: string
let kubernetes: KubernetesStandIn

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-chart-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  kubernetes = stack.use(await startKubernetesStandIn())
  await writeFile(path.join(folder, 'programs.sh'), programs())
  await writeFile(path.join(folder, 'kubeconfig'), kubeconfigOf(kubernetes.url))
  await symlink(chart, path.join(folder, 'chart'))
  await writeFile(path.join(folder, 'values.yaml'), values)
  await run(ofInstall('2. Deploy key', 'sh'))
  await runBlock('create namespace', secrets)
})
afterAll(() => stack.disposeAsync())

test('every block of the documents with kubectl or helm is run here', () => {
  expect(blocks.map((code) => parts.find((part) => code.includes(part)) ?? code).sort()).toEqual([...parts].sort())
})

test('docs/install.md creates the fields of Secrets that the Pods mount, and no others', () => {
  const created = kubernetes
    .objectsOf('Secret')
    .filter(({ type }) => type !== 'helm.sh/release.v1')
    .flatMap(({ metadata, data = {} }) => Object.keys(data).map((key) => `${metadata.name}/${key}`))
  const mounted = mounts().flatMap(({ secret }) => secret?.items.map(({ key }) => `${secret.name}/${key}`) ?? [])
  const fields = [
    'watcher-argocd/ARGO_TOKEN',
    'watcher-credentials/JWT_SECRET',
    'watcher-credentials/WATCHER_DEPLOY_TOKEN',
    'watcher-database/DATABASE_URL',
    'watcher-ssh/sshPrivateKey',
  ]
  expect({ created: created.sort(), mounted: mounted.sort() }).toEqual({ created: fields, mounted: fields })
})

test('docs/upgrade.md makes the second revision of the release', async () => {
  expect(await runBlock('helm upgrade')).toMatchObject({ stdout: expect.stringMatching(/^REVISION: 2$/m) })
})

test('docs/upgrade.md shows the log of a migration that fails and ends the upgrade', async () => {
  const migrated = values.replace('database:\n', 'database:\n  ownerSecretName: watcher-database\n')
  await writeFile(path.join(folder, 'values.yaml'), migrated)
  kubernetes.endJobsAs('Failed')
  await expect(runBlock('helm upgrade')).rejects.toThrow('job deployment-watcher-migrate failed')
  expect(await runBlock('logs job/')).toMatchObject({ stdout: 'log of deployment-watcher-migrate-pod\n' })
})

test('docs/troubleshooting.md shows the log of each Pod', async () => {
  const { stdout } = await runBlock('logs --selector')
  expect(stdout).toMatch(/^\[pod\/deployment-watcher-pod\/[\w-]+\] log of deployment-watcher-pod\n$/)
})

test('docs/troubleshooting.md shows valid settings in a Pod, and no secret', async () => {
  const { stdout } = await runBlock('exec deployment/', await environmentOfPod())
  expect(stdout).toContain('ARGO_URL=https://argocd.example.com (environment)')
  expect(stdout).toContain('ARGO_TOKEN=set (ARGO_TOKEN_FILE)')
  expect(stdout).not.toContain(secrets.ARGO_TOKEN)
})

function kubeconfigOf(server: string): string {
  const name = 'stand-in'
  const contexts = [{ name, context: { cluster: name } }]
  const clusters = [{ name, cluster: { server } }]
  return JSON.stringify({ kind: 'Config', 'current-context': name, contexts, clusters })
}

/** With a Deployment in its place, what `kubectl exec` would run in a Pod runs in the checkout. */
const programs = () => `
type -P kubectl >/dev/null || { echo 'kubectl not found: apt-get install kubernetes-client' >&2; exit 1; }
helm() { command '${inject('helm')}' "$@"; }
kubectl() {
  if [ "$3" != exec ]; then command kubectl "$@"; return; fi
  command kubectl "$1" "$2" get "$4"
  test "$5" = --
  cd '${checkout}'
  "\${@:6}"
}
`

const run = (code: string, variables: Variables = {}) =>
  promisify(execFile)('bash', ['-e', '-o', 'pipefail', '-c', `. ./programs.sh\n${code}`], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, KUBECONFIG: path.join(folder, 'kubeconfig'), ...variables },
  })

const runBlock = (part: (typeof parts)[number], variables?: Variables) =>
  run(blocks.find((code) => code.includes(part)) ?? `echo 'no block has "${part}"' >&2; exit 1`, variables)

const podSpec = () => kubernetes.objectsOf('Deployment')[0]?.spec?.template?.spec ?? {}
const mounts = () => podSpec().volumes?.flatMap(({ projected }) => projected?.sources ?? []) ?? []

/** The variables of a Pod. What it mounts lies in a folder here. */
async function environmentOfPod(): Promise<Variables> {
  const folderHere = path.join(folder, 'mounted')
  await mkdir(folderHere)
  for (const { secret, configMap } of mounts()) {
    const [kind, encoding] = secret ? (['Secret', 'base64'] as const) : (['ConfigMap', 'utf8'] as const)
    const { name, items } = secret ?? configMap ?? { name: '', items: [] }
    const { data = {} } = kubernetes.objectsOf(kind).find(({ metadata }) => metadata.name === name) ?? {}
    for (const { key, path: file } of items)
      await writeFile(path.join(folderHere, file), Buffer.from(data[key] ?? '', encoding))
  }
  const env = podSpec().containers?.flatMap((container) => container.env) ?? []
  return Object.fromEntries(env.map(({ name, value }) => [name, value.replace('/etc/deployment-watcher', folderHere)]))
}
