import { existsSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { codeBlocksOf, documents, textOf } from '../../test/docs/documents.ts'
import { chart, helm, type KubernetesObject, renderObjects } from './render-chart.ts'

const root = new URL('../../', import.meta.url)
const properties = Object.keys(JSON.parse(readFileSync(`${chart}values.schema.json`, 'utf8')).properties)

/** The values of a page: its YAML whose fields are all values of the chart. */
const valuesOf = (document: string) =>
  codeBlocksOf(document)
    .filter(({ language }) => language === 'yaml')
    .map(({ code }) => parse(code))
    .filter((values) => Object.keys(values).every((name) => properties.includes(name)))

const consoleOf = (document: string) =>
  codeBlocksOf(document)
    .filter(({ language }) => language === 'console')
    .map(({ code }) => code.replaceAll(/ *\\\n */g, ' '))
    .join('')

/** What `helm install` and `helm upgrade` of the pages would install, by the values of docs/install.md. */
function installed(command: string): readonly KubernetesObject[] {
  const args = command.split(' ').map((word) => ({ 'chart/': chart, 'values.yaml': '-' })[word] ?? word)
  const [values] = valuesOf('docs/install.md')
  const { stdout, stderr } = helm(['template', '--kube-version=1.34.0', ...args], JSON.stringify(values))
  expect(stderr).toBe('')
  return parseAllDocuments(stdout, { version: '1.1' }).map((document) => document.toJS() as KubernetesObject)
}
const commands = ['docs/install.md', 'docs/upgrade.md'].flatMap((page) =>
  [...textOf(page).matchAll(/^ *helm (?:install|upgrade) (.+)$/gm)].map(([, command = '']) => ({ page, command })),
)

test('the pages install and upgrade with helm', () => {
  expect(commands.map(({ page }) => page)).toEqual(['docs/install.md', 'docs/upgrade.md'])
})

type Pod = { containers: { image: string }[]; volumes: { projected?: { sources: Source[] } }[] }
type Source = { secret?: { name: string; items: { key: string }[] } }
function podOf(objects: readonly KubernetesObject[]) {
  const [deployment] = objects.filter(({ kind }) => kind === 'Deployment')
  const { metadata, spec } = deployment as unknown as { metadata: { name: string }; spec: { template: { spec: Pod } } }
  return { name: metadata.name, ...spec.template.spec }
}

describe.for(commands)('helm … $command ($page)', ({ command }) => {
  let pod: ReturnType<typeof podOf>
  beforeAll(() => {
    pod = podOf(installed(command))
  })
  test('runs the image that the page builds and pushes', () => {
    const [, built = ''] = /--tag (\S+)/.exec(consoleOf('docs/install.md')) ?? []
    const [, pushed = ''] = /docker push (\S+)/.exec(consoleOf('docs/install.md')) ?? []
    expect(pod.containers.map(({ image }) => image)).toEqual([built])
    expect(pushed).toBe(built)
  })

  test('names the Deployment as the commands of the pages do, which run files that there are', () => {
    const named = documents.flatMap((page) => [
      ...textOf(page).matchAll(/(?<=\s)(?:deployment|deploy)\/([\w-]+)(?![\w/-])/g),
    ])
    expect(new Set(named.map(([, name]) => name))).toEqual(new Set([pod.name]))
    const run = documents.flatMap((page) => [...textOf(page).matchAll(/\bserver\/commands\/[\w-]+\.ts/g)])
    for (const [file] of run) expect(existsSync(new URL(file, root)), file).toBe(true)
  })
})

test('docs/install.md creates the fields of Secrets that the Pods mount, and no others', () => {
  const created = [...consoleOf('docs/install.md').matchAll(/create secret generic (\S+) (.+)$/gm)].flatMap(
    ([, secret, fields = '']) => [...fields.matchAll(/--from-\w+=(\w+)=/g)].map(([, key]) => `${secret}/${key}`),
  )
  const [{ command } = { command: '' }] = commands
  const sources = podOf(installed(command)).volumes.flatMap(({ projected }) => projected?.sources ?? [])
  const mounted = sources.flatMap(({ secret }) => secret?.items.map(({ key }) => `${secret.name}/${key}`) ?? [])
  expect(mounted.length).toBeGreaterThan(3)
  expect(created.sort()).toEqual(mounted.sort())
})

test.for(valuesOf('docs/chart.md'))('the values of docs/chart.md are accepted: %j', (values) => {
  expect(renderObjects('least', values).length).toBeGreaterThan(3)
})

test('the values for OpenShift leave user and group to the SCC, and meet restricted-v2', () => {
  const values = valuesOf('docs/chart.md').find(({ podSecurityContext }) => podSecurityContext)
  const [deployment] = renderObjects('least', values).filter(({ kind }) => kind === 'Deployment')
  const { securityContext, containers, volumes } = Object(deployment?.spec).template.spec
  expect(securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
  expect(containers).toMatchObject([
    { securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } },
  ])
  const allowed = ['name', 'configMap', 'emptyDir', 'projected', 'secret']
  expect(volumes.flatMap(Object.keys).filter((field: string) => !allowed.includes(field))).toEqual([])
})
