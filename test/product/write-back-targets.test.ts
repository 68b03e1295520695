import { describe, expect } from 'vitest'
import { parse } from 'yaml'
import type { Source } from '../../simulator/model/application.ts'
import { chartFiles, kustomizationFiles, overrideFile } from '../../simulator/model/example-repository.ts'
import { aTask } from '../support/service.ts'
import { test } from '../support/shared-world.ts'
import { type World, withToken } from '../support/world.ts'

let world: World
test.beforeAll(({ world: shared }) => {
  world = shared
})

const folderOf = (app: string) => `apps/${app}`
const deployment = (image: string) =>
  `# of the team\napiVersion: v1\nkind: Service\nmetadata:\n  name: web\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 2\n  template:\n    spec:\n      containers:\n        - name: web\n          image: ${image} # set by deployments\n`
const prodValues = (tag: string) => `# by hand\nimage:\n  tag: ${tag} # set by deployments\n`

type Kind = {
  readonly name: string
  /** The files of the folder that is rendered, besides the one with the tag. */
  readonly files: (app: string) => Record<string, string>
  /** The file with the tag, in that folder. */
  readonly file: (app: string) => string
  /** It with a tag; undefined: there is none before the first deployment. */
  readonly text: (app: string, tag: string) => string
  readonly isThereBefore: boolean
  readonly annotations: (app: string, target: string) => Record<string, string>
  /** The target for the folder itself. */
  readonly target?: string
  readonly source?: Partial<Source>
  /** Files of an application in which nothing uses the tag. */
  readonly unused: (app: string, file: string) => Record<string, string>
  readonly unusedPlace?: Record<string, string>
}

const fixedImage = (app: string) => ({
  [`${folderOf(app)}/workloads.yaml`]: `workloads: [{image: "registry.example/${app}:v1", replicas: 2}]\n`,
})

const texts = (files: object) => files as Record<string, string>
const kinds: readonly Kind[] = [
  {
    name: 'helm-override',
    files: (app) => texts(chartFiles(folderOf(app), { tag: 'v1' })),
    file: (app) => `.argocd-source-${app}.yaml`,
    text: (_, tag) => overrideFile(tag),
    isThereBefore: false,
    annotations: () => ({ 'watcher/main.helm.image-tag': 'image.tag' }),
    unused: fixedImage,
  },
  {
    name: 'kustomize-override',
    files: (app) => texts(kustomizationFiles(folderOf(app), 'web', 'v1')),
    file: (app) => `.argocd-source-${app}.yaml`,
    text: (app, tag) => `kustomize:\n  images:\n    - "web=registry.example/${app}:${tag}"\n`,
    isThereBefore: false,
    annotations: () => ({ 'watcher/main.kustomize.image-name': 'web' }),
    unused: fixedImage,
  },
  {
    name: 'helmvalues',
    files: (app) => texts(chartFiles(folderOf(app), { tag: 'v0' })),
    file: () => 'values-prod.yaml',
    text: (_, tag) => prodValues(tag),
    isThereBefore: true,
    target: 'helmvalues:values-prod.yaml',
    annotations: (_, target) => ({ 'watcher/write-back-target': target, 'watcher/main.helm.image-tag': 'image.tag' }),
    source: { helm: { valueFiles: ['values-prod.yaml'] } },
    unused: fixedImage,
  },
  {
    name: 'kustomization',
    files: (app) => {
      const { [`${folderOf(app)}/workloads.yaml`]: workloads } = texts(kustomizationFiles(folderOf(app), 'web', 'v1'))
      return { [`${folderOf(app)}/workloads.yaml`]: workloads ?? '' }
    },
    file: () => 'kustomization.yml',
    text: (app, tag) =>
      `images: # of the team\n  - newTag: "${tag}"\n    name: web\n    newName: registry.example/${app}\n`,
    isThereBefore: true,
    target: 'kustomization',
    annotations: (_, target) => ({ 'watcher/write-back-target': target, 'watcher/main.kustomize.image-name': 'web' }),
    unused: fixedImage,
  },
  {
    name: 'yaml',
    files: () => ({}),
    file: () => 'web.yaml',
    text: (app, tag) => deployment(`registry.example/${app}:${tag}`),
    isThereBefore: true,
    target: 'yaml:web.yaml',
    annotations: (_, target) => ({
      'watcher/write-back-target': target,
      'watcher/main.yaml.image': 'spec.template.spec.containers[name=web].image',
    }),
    unused: (app, file) => ({ [file]: `${deployment(`registry.example/${app}:v1`)}---\nunused: v1\n` }),
    unusedPlace: { 'watcher/main.yaml.image': 'unused' },
  },
]

/** The application with its tag in a file of its own folder, and that file. */
async function anApplication(
  kind: Kind,
  app: string,
  layout: 'one source' | 'several sources' | '$ref' = 'one source',
  text = kind.text(app, 'v1'),
): Promise<string> {
  const { git, control } = world.simulator
  const folder = folderOf(app)
  const file = `${folder}/${kind.file(app)}`
  await git.createRepository(app, { ...kind.files(app), 'extra/notes.yaml': 'a: 1\n' })
  if (kind.isThereBefore) await git.commit(app, { [file]: text })
  const own = { repoURL: git.url(app), targetRevision: 'main', path: folder, ...kind.source }
  const extra = { repoURL: git.url(app), targetRevision: 'main', path: 'extra' }
  const place = {
    'watcher/write-back-repo': git.url(app),
    'watcher/write-back-branch': 'main',
    'watcher/write-back-path': folder,
  }
  const ofApp = { 'watcher/managed': 'true', 'watcher/managed-images': `main=registry.example/${app}` }
  const named = kind.target ?? ''
  if (layout === '$ref') {
    const target = named.replace(/(:|$)/, `:$team/${folder}${named.includes(':') ? '/' : ''}`)
    const byRef = { helm: { valueFiles: [`$team/${file}`] } }
    const sources =
      kind.name === 'helmvalues'
        ? [
            { ...own, ...byRef },
            { repoURL: git.url(app), targetRevision: 'main', ref: 'team' },
          ]
        : [extra, { ...own, ref: 'team' }]
    await control.createApplication({ name: app, sources, annotations: { ...ofApp, ...kind.annotations(app, target) } })
  } else {
    const annotations = { ...ofApp, ...kind.annotations(app, named) }
    await control.createApplication(
      layout === 'one source'
        ? { name: app, source: own, annotations }
        : { name: app, sources: [own, extra], annotations: { ...annotations, ...place } },
    )
  }
  return file
}

const deploy = (app: string, tag = 'v2', fields: object = {}) =>
  world.service.acceptTask(aTask({ app, images: [{ image: `registry.example/${app}`, tag }], ...fields }), withToken)

describe.concurrent.for(kinds)('a tag that is written to a file of the kind $name', (kind) => {
  const layouts = (['one source', 'several sources', '$ref'] as const).filter(
    (layout) => layout !== '$ref' || kind.target !== undefined,
  )
  test.for(layouts)('is deployed, with %s', async (layout, { expect }) => {
    const { git, control } = world.simulator
    const app = `target-${kind.name}-${layouts.indexOf(layout)}`
    const file = await anApplication(kind, app, layout)
    const before = await git.head(app)
    const task = await world.service.waitForEnd(await deploy(app))
    expect(task).toMatchObject({ status: 'deployed', branch: 'main', repository: git.url(app) })
    expect(await control.truth(app)).toMatchObject({ runningImages: [`registry.example/${app}:v2`] })
    expect(await git.readFile(app, file)).toBe(kind.text(app, 'v2'))
    const [commit, last] = await git.log(app)
    expect([commit?.sha, last?.sha]).toEqual([task.commit, before])
  })

  test('is found there by the next deployment, which shows the commit that wrote it', async ({ expect }) => {
    const app = `target-${kind.name}-again`
    await anApplication(kind, app)
    const first = await world.service.waitForEnd(await deploy(app))
    const id = await deploy(app)
    expect(await world.service.waitForEnd(id)).toMatchObject({ status: 'deployed' })
    const again = await world.service.waitForTask(id, ({ commit }) => commit !== undefined)
    expect(again.commit).toBe(first.commit)
    expect(await world.simulator.git.head(app)).toBe(first.commit)
  })

  test('is superseded by a later commit of another author with another tag', async ({ expect }) => {
    const { git, controller } = world.simulator
    const app = `target-${kind.name}-retagged`
    const file = await anApplication(kind, app)
    const id = await deploy(app, 'v2', { refresh: false })
    await world.service.waitForTask(id, ({ commit }) => commit !== undefined)
    const other = await git.commit(app, { [file]: kind.text(app, 'v9') })
    controller.refreshNow({ name: app, namespace: 'argocd' }, 3)
    const task = await world.service.waitForEnd(id)
    expect(task).toMatchObject({ status: 'cancelled', cause: 'superseded' })
    expect(task.status_reason).toContain(`superseded in Git: commit ${other} sets tag`)
  })

  test('and changes nothing in the manifests is told so', async ({ expect }) => {
    const app = `target-${kind.name}-unused`
    const file = await anApplication(kind, app)
    const unused = { ...kind.files(app), ...kind.unused(app, file) }
    await world.simulator.git.commit(app, unused)
    await world.simulator.control.editApplication(app, (current) => ({
      ...current,
      metadata: {
        ...current.metadata,
        annotations: { ...current.metadata.annotations, ...kind.unusedPlace },
      },
    }))
    const task = await world.service.waitForEnd(await deploy(app, 'v2', { timeout: 15 }))
    expect(task).toMatchObject({ status: 'failed', cause: 'commit_without_effect' })
  })
})

describe.concurrent('a place that cannot be written', () => {
  const [, , values, kustomization] = kinds as [Kind, Kind, Kind, Kind]
  test.for<[what: string, kind: Kind, text: string, cause: string, says: string]>([
    [
      'missing',
      values,
      'image:\n  tags: v1\n',
      'values_key_missing',
      'values-prod.yaml has no image.tag: the nearest that exists is image, with tags',
    ],
    ['a block', values, 'image:\n  tag: |-\n    v1\n', 'override_file_invalid', 'has a block (|) at image.tag'],
    [
      'a digest',
      kustomization,
      'images: [{name: web, digest: "sha256:0"}]\n',
      'override_file_invalid',
      'has images[name=web].digest',
    ],
  ])(
    'because it is %s: the task says so, and nothing is committed',
    async ([what, kind, text, cause, says], { expect }) => {
      const app = `target-not-${what.replaceAll(' ', '-')}`
      await anApplication(kind, app, 'one source', text)
      const before = await world.simulator.git.head(app)
      const task = await world.service.waitForEnd(await deploy(app))
      expect(task).toMatchObject({ status: 'failed', cause })
      expect(task.status_reason).toContain(says)
      expect(await world.simulator.git.head(app)).toBe(before)
    },
  )

  test('because an override file beside it has the parameter, which would win', async ({ expect }) => {
    const app = 'target-not-winning'
    await anApplication(values, app)
    const beside = `${folderOf(app)}/.argocd-source-${app}.yaml`
    const before = await world.simulator.git.commit(app, { [beside]: overrideFile('v1') })
    const task = await world.service.waitForEnd(await deploy(app))
    expect(task).toMatchObject({ status: 'failed', cause: 'annotation_invalid' })
    expect(task.status_reason).toContain('Argo CD has image.tag from an override file, which wins')
    expect(await world.simulator.git.head(app)).toBe(before)
  })
})

test('100 deployments into one values file in one burst: 100 commits, each with its own value', async () => {
  const { git, control } = world.simulator
  const names = Array.from({ length: 100 }, (_, at) => `target-of-many-${at}`)
  const all = Object.assign({}, ...names.map((app) => chartFiles(folderOf(app), { tag: 'v0' })))
  const workloads = (app: string) => `workloads: [{image: "registry.example/${app}:\${${app}.tag}", replicas: 1}]\n`
  const charts = Object.fromEntries(names.map((app) => [`${folderOf(app)}/workloads.yaml`, workloads(app)]))
  const shared = (tag: string) => `# of all\n${names.map((app) => `${app}:\n  tag: ${tag} # ${app}\n`).join('')}`
  await git.createRepository('target-of-many', { ...all, ...charts, 'shared/values.yaml': shared('v1') })
  for (const name of names) {
    await control.createApplication({
      name,
      source: {
        repoURL: git.url('target-of-many'),
        path: folderOf(name),
        targetRevision: 'main',
        helm: { valueFiles: ['/shared/values.yaml'] },
      },
      annotations: {
        'watcher/managed': 'true',
        'watcher/managed-images': `main=registry.example/${name}`,
        'watcher/main.helm.image-tag': `${name}.tag`,
        'watcher/write-back-target': 'helmvalues:/shared/values.yaml',
      },
    })
  }
  const before = await git.head('target-of-many')
  const ids = await Promise.all(names.map((app, at) => deploy(app, `v2.${at}`, { timeout: 300 })))
  const tasks = await Promise.all(ids.map((id) => world.service.waitForEnd(id)))
  expect(tasks.filter(({ status }) => status !== 'deployed')).toEqual([])
  const log = (await git.log('target-of-many')).map(({ sha }) => sha)
  expect(log[100]).toBe(before)
  const made = log.slice(0, 100)
  expect(new Set(made)).toEqual(new Set(tasks.map(({ commit }) => commit)))
  const textAt = async (revision = '') => (await git.readFile('target-of-many', 'shared/values.yaml', revision)) ?? ''
  for (const [at, { app, commit = '' }] of tasks.entries()) {
    const tags = parse(await textAt(commit))
    const tagsBefore = parse(await textAt(log[log.indexOf(commit) + 1]))
    expect({ ...tagsBefore, [app]: { tag: `v2.${at}` } }).toEqual(tags)
    expect(tagsBefore[app].tag).toBe('v1')
  }
  expect(await textAt(log[0])).toBe(shared('TAG').replace(/TAG # target-of-many-(\d+)/g, 'v2.$1 # target-of-many-$1'))
})
