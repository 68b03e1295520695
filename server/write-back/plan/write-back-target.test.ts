import { describe, expect, test } from 'vitest'
import { planSettings } from '../../../test/support/write-back-settings.ts'
import type { ApplicationSource, WriteBackApplication } from './application-source.ts'
import { planWriteBack } from './plan-write-back.ts'

const settings = planSettings()
const deploy = 'ssh://git@git.example/team/deploy.git'
const config = 'ssh://git@git.example/team/config.git'

const aSource = (source: Partial<ApplicationSource> = {}): ApplicationSource => ({
  repository: deploy,
  targetRevision: 'main',
  path: 'apps/shop',
  chart: undefined,
  ref: undefined,
  helmParameters: [],
  helmValueFiles: [],
  helmInlineValues: { object: {}, text: '' },
  kustomizeImages: [],
  ...source,
})
const values = (name: string, spelled: Partial<ApplicationSource> = {}) =>
  aSource({ helmValueFiles: [name], ...spelled })
const ref = aSource({ repository: config, targetRevision: 'release', path: '', ref: 'values' })

type Example = {
  readonly target?: string
  /** Annotations of the alias `app`, by their suffix, or others by their whole name. */
  readonly annotations?: Readonly<Record<string, string>>
  readonly sources?: readonly ApplicationSource[]
  readonly sourceTypes?: readonly string[]
}

function plan({ target, annotations = {}, sources = [aSource()], sourceTypes = [] }: Example) {
  const application: WriteBackApplication = {
    name: 'Shop',
    namespace: 'argocd',
    annotations: new Map(
      Object.entries({
        'watcher/managed': 'true',
        'watcher/managed-images': 'app=registry.example/shop',
        ...(target === undefined ? {} : { 'watcher/write-back-target': target }),
        ...Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`watcher/${name}`, value])),
      }),
    ),
    sources,
    isMultiSource: sources.length > 1,
    sourceTypes,
  }
  const images = [{ image: 'registry.example/shop', tag: 'v2' }]
  const task = { id: '019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11', app: 'Shop', author: 'ada', project: 'shop' }
  return planWriteBack({ ...task, images, mayWrite: true }, application, settings)
}

const tag = { 'app.helm.image-tag': 'image.tag' }
const toDeploy = { 'write-back-repo': deploy, 'write-back-branch': 'main', 'write-back-path': 'apps/shop' }

describe('what is written for each kind of target', () => {
  const entry = { name: 'image.tag', value: 'v2', image: 'registry.example/shop' }
  const reference = { value: 'registry.example/shop:v2', isReference: true }
  test.for<[target: string | undefined, annotations: Record<string, string>, tool: string, entry: object]>([
    [undefined, tag, 'helm', entry],
    [undefined, { 'app.helm.image-spec': 'image' }, 'helm', { ...entry, name: 'image', ...reference }],
    [
      undefined,
      { 'app.kustomize.image-name': 'web' },
      'kustomize',
      { name: 'web', value: 'web=registry.example/shop:v2' },
    ],
    ['helmvalues:values-prod.yaml', tag, 'yaml', entry],
    [
      'helmvalues: values-prod.yaml ',
      { 'app.helm.image-spec': 'l[name=a.b].image' },
      'yaml',
      { name: 'l[name=a.b].image', ...reference },
    ],
    [
      'kustomization',
      { 'app.kustomize.image-name': 'r:5000/web' },
      'kustomization',
      { name: 'r:5000/web', value: 'v2' },
    ],
    ['yaml:web.yaml', { 'app.yaml.image-tag': 'version' }, 'yaml', { ...entry, name: 'version' }],
    [
      'yaml:web.yaml',
      { 'app.yaml.image': 'spec.template.spec.containers[name=web].image' },
      'yaml',
      { name: 'spec.template.spec.containers[name=web].image', ...reference },
    ],
  ])('%s with %j', ([target, annotations, tool, wanted]) => {
    expect(plan({ ...(target === undefined ? {} : { target }), annotations })).toMatchObject({
      kind: 'write',
      plan: { tool, entries: [wanted] },
    })
  })
})

describe('which file a target names', () => {
  const of = (target: string, file: string, example: Example = {}, place: object = {}) =>
    [target, { file, branch: 'main', repository: deploy, ...place }, example] as const
  const inConfig = { branch: 'release', repository: config }
  const chart = aSource({ repository: 'https://charts.example', chart: 'shop', path: '', targetRevision: '1.2.3' })
  test.for([
    of('helmvalues:values-prod.yaml', 'apps/shop/values-prod.yaml'),
    of('helmvalues:./env//prod.yml', 'apps/shop/env/prod.yml'),
    of('helmvalues:/apps/shop/env/prod.yaml', 'apps/shop/env/prod.yaml'),
    of('helmvalues:/shared/prod.yaml', 'shared/prod.yaml', { sources: [values('/shared/prod.yaml')] }),
    of('helmvalues:/apps/prod.yaml', 'apps/prod.yaml', { sources: [values('../prod.yaml')] }),
    of('kustomization', 'apps/shop/kustomization.yaml'),
    of('kustomization:overlays/prod', 'apps/shop/overlays/prod/kustomization.yaml'),
    of('kustomization:/apps/shop/base', 'apps/shop/base/kustomization.yaml'),
    of('yaml:web.yaml', 'apps/shop/web.yaml'),
    of('helmvalues:values-prod.yaml', 'apps/shop/values-prod.yaml', {
      sources: [chart, aSource()],
      annotations: toDeploy,
    }),
    of(
      'helmvalues:$values/prod/values.yaml',
      'prod/values.yaml',
      { sources: [values('$values/prod/values.yaml'), ref] },
      inConfig,
    ),
    of('yaml:$values/prod/web.yaml', 'prod/web.yaml', { sources: [chart, { ...ref, path: 'prod' }] }, inConfig),
    of(
      'kustomization:$values/prod',
      'prod/kustomization.yaml',
      { sources: [chart, { ...ref, path: 'prod' }] },
      inConfig,
    ),
  ])('%s is %j', ([target, place, { annotations, ...example }]) => {
    const [kind] = target.split(':')
    const alias = {
      helmvalues: tag,
      yaml: { 'app.yaml.image-tag': 'tag' },
      kustomization: { 'app.kustomize.image-name': 'web' },
    }
    const all = { ...alias[kind as keyof typeof alias], ...annotations }
    expect(plan({ target, annotations: all, ...example })).toMatchObject({ kind: 'write', plan: place })
  })

  test('override files that would win are read besides, in the folder of what renders the file', () => {
    const beside = [
      'apps/shop/.argocd-source.yaml',
      'apps/shop/.watcher-source-shop.yaml',
      'apps/shop/.argocd-source-shop.yaml',
    ]
    expect(plan({ target: 'helmvalues:values.yaml', annotations: tag })).toMatchObject({
      plan: { filesBeside: beside },
    })
    const sources = [values('/shared/prod.yaml')]
    expect(plan({ target: 'helmvalues:/shared/prod.yaml', annotations: tag, sources })).toMatchObject({
      plan: { filesBeside: beside },
    })
  })

  test('a values file that no source names is written, with a warning', () => {
    expect(plan({ target: 'helmvalues:unused.yaml', annotations: tag })).toMatchObject({
      kind: 'write',
      warnings: ['no source of the application has apps/shop/unused.yaml among its helm.valueFiles'],
    })
    expect(plan({ target: 'helmvalues:values.yaml', annotations: tag })).toMatchObject({ kind: 'write', warnings: [] })
  })
})

describe('a target is refused before any commit', () => {
  const parameter = { name: 'image.tag', value: 'v1', forceString: true }
  const inline = (object: unknown, text = '') => ({ helmInlineValues: { object, text } })
  test.for<[what: string, example: Example, says: string, cause?: string]>([
    ['another word', { target: 'git:main' }, 'must be helmvalues:<file>'],
    ['no file', { target: 'helmvalues', annotations: tag }, 'must be helmvalues:<file>'],
    ['no file after the colon', { target: 'yaml: ' }, 'must be helmvalues:<file>'],
    ['an empty directory', { target: 'kustomization:' }, 'must be helmvalues:<file>'],
    [
      'write-back-filename beside it',
      { target: 'yaml:a.yaml', annotations: { 'write-back-filename': 'b.yaml' } },
      'may not stand beside',
    ],
    [
      'a place of another kind',
      { target: 'yaml:a.yaml', annotations: tag },
      'app.helm.image-tag does not fit write-back-target yaml',
    ],
    [
      'a place that needs a target',
      { annotations: { 'app.yaml.image': 'a' } },
      'app.yaml.image needs a write-back-target',
    ],
    [
      'two places',
      { target: 'helmvalues:a.yaml', annotations: { ...tag, 'app.helm.image-spec': 'image' } },
      'only one of them is allowed',
    ],
    [
      'a match where Helm itself sets the value',
      { annotations: { 'app.helm.image-tag': 'l[name=a].tag' } },
      'a Helm value path is',
    ],
    ['a path upwards', { target: 'helmvalues:../other/values.yaml', annotations: tag }, 'leaves the repository'],
    [
      'a file of another team',
      { target: 'helmvalues:/apps/other/values.yaml', annotations: tag },
      'neither below the path of a source nor',
    ],
    [
      'a values file of another branch',
      {
        target: 'helmvalues:/x.yaml',
        annotations: tag,
        sources: [values('$values/x.yaml'), { ...ref, repository: deploy }, aSource()],
      },
      'needs write-back-repo',
    ],
    [
      'a file of a ref that nothing reads',
      {
        target: 'helmvalues:$values/other/values.yaml',
        annotations: tag,
        sources: [values('$values/prod/values.yaml'), ref],
      },
      'neither below the path of a source nor',
    ],
    [
      'an unknown ref',
      { target: 'helmvalues:$other/x.yaml', annotations: tag, sources: [aSource(), ref] },
      'no source of the application has the ref "other"',
    ],
    [
      'a ref with one source',
      { target: 'helmvalues:$values/x.yaml', annotations: tag, sources: [aSource({ ref: 'values' })] },
      'no source of the application has the ref',
    ],
    [
      'a ref that is a tag',
      {
        target: 'helmvalues:$values/x.yaml',
        annotations: tag,
        sources: [aSource(), { ...ref, targetRevision: 'refs/tags/v1' }],
      },
      'is a tag, not a branch',
      'not_followed',
    ],
    ['a hidden directory', { target: 'helmvalues:.env/x.yaml', annotations: tag }, 'enters the hidden directory'],
    [
      'a pipeline',
      { target: 'yaml:/.github/x.yaml', annotations: { 'app.yaml.image-tag': 'x' }, sources: [aSource({ path: '.' })] },
      'where nothing is committed',
    ],
    ['no YAML', { target: 'helmvalues:values.json', annotations: tag }, 'does not end in .yaml or .yml'],
    [
      'another type',
      { target: 'helmvalues:values.yaml', annotations: tag, sourceTypes: ['Kustomize'] },
      'of type Kustomize, not Helm',
    ],
    [
      'another type, of a kustomization',
      { target: 'kustomization', annotations: { 'app.kustomize.image-name': 'w' }, sourceTypes: ['Helm'] },
      'of type Helm, not Kustomize',
    ],
    [
      'a parameter of the name',
      { target: 'helmvalues:values.yaml', annotations: tag, sources: [aSource({ helmParameters: [parameter] })] },
      'image.tag stands in helm.parameters',
    ],
    [
      'a value of an object',
      { target: 'helmvalues:values.yaml', annotations: tag, sources: [aSource(inline({ image: { tag: 'x' } }))] },
      'image.tag stands in helm.valuesObject',
    ],
    [
      'a value of a text',
      { target: 'helmvalues:values.yaml', annotations: tag, sources: [aSource(inline({}, 'image: {tag: x}'))] },
      'image.tag stands in helm.values ',
    ],
    [
      'an image of the name',
      {
        target: 'kustomization',
        annotations: { 'app.kustomize.image-name': 'w' },
        sources: [aSource({ kustomizeImages: ['w=x:1'] })],
      },
      'w stands in kustomize.images',
    ],
  ])('%s', ([, example, says, cause = 'annotation_invalid']) => {
    expect(plan({ ...example, annotations: { ...(example.annotations ?? {}) } })).toEqual({
      kind: 'refused',
      cause,
      reason: expect.stringContaining(says),
    })
  })
})
