import { describe, expect, test } from 'vitest'
import type { Source } from './application.ts'
import { chartFiles } from './example-repository.ts'
import { helmValues, renderTemplate } from './helm-values.ts'
import { applyKustomizeImages } from './kustomize-images.ts'
import { renderSources } from './render-manifests.ts'

const instance = { name: 'shop', instanceName: 'shop', destinationNamespace: 'shop' }

function render(
  source: Partial<Source>,
  files: Record<string, string | null>,
  refs: Record<string, Record<string, string>> = {},
) {
  const texts = new Map(
    Object.entries(files).flatMap(([name, text]): [string, string][] => (text === null ? [] : [[name, text]])),
  )
  const trees = new Map(Object.entries(refs).map(([ref, tree]) => [ref, new Map(Object.entries(tree))]))
  return renderSources([{ source: { repoURL: 'r', path: 'app', ...source }, files: texts }], trees, instance)
}

const chart = chartFiles('', { workloads: [{ image: `shop:\${image.tag}` }] })

describe('rendering', () => {
  test('a chart takes its values from the file, and parameters win', () => {
    expect(render({}, chart)).toMatchObject({
      sourceTypes: ['Helm'],
      manifests: [{ kind: 'Deployment', containers: [{ image: 'shop:1.0.0' }] }],
    })
    const helm = { parameters: [{ name: 'image.tag', value: '2', forceString: true }] }
    expect(render({ helm }, chart)).toMatchObject({ manifests: [{ containers: [{ image: 'shop:2' }] }] })
  })

  test('values files of another source are read through its ref', () => {
    const helm = { valueFiles: ['$values/prod/values.yaml'] }
    expect(render({ helm }, chart, { values: { 'prod/values.yaml': 'image: {tag: "3"}' } })).toMatchObject({
      manifests: [{ containers: [{ image: 'shop:3' }] }],
    })
    expect(render({ helm }, chart)).toMatchObject({
      kind: 'error',
      message: expect.stringContaining('no such file or directory'),
    })
    expect(render({ helm: { ...helm, ignoreMissingValueFiles: true } }, chart)).toMatchObject({
      manifests: [{ containers: [{ image: 'shop:1.0.0' }] }],
    })
  })

  test('a values file may lie beside or above the chart, in its repository', () => {
    const source = (name: string): Source => ({ repoURL: 'r', path: 'apps/shop', helm: { valueFiles: [name] } })
    const tree = new Map([
      ['shared.yaml', 'image: {tag: "4"}'],
      ['apps/shared.yaml', 'image: {tag: "5"}'],
    ])
    const files = new Map(Object.entries(chart).map(([name, text]) => [name, String(text)]))
    for (const [name, image] of [
      ['/shared.yaml', 'shop:4'],
      ['../shared.yaml', 'shop:5'],
    ] as const) {
      const rendered = renderSources([{ source: source(name), files, tree }], new Map(), instance)
      expect(rendered).toMatchObject({ manifests: [{ containers: [{ image }] }] })
    }
  })

  test('a kustomization may have one of three names', () => {
    for (const name of ['kustomization.yaml', 'kustomization.yml', 'Kustomization']) {
      const files = {
        [name]: 'images: [{name: shop, newTag: "2"}]',
        'workloads.yaml': 'workloads: [{image: "shop:1"}]',
      }
      expect(render({}, files)).toMatchObject({
        sourceTypes: ['Kustomize'],
        manifests: [{ containers: [{ image: 'shop:2' }] }],
      })
    }
  })

  test('plain manifests of a folder are read as they are, others are not taken for any', () => {
    const pod = '{spec: {containers: [{name: web, image: "shop:2"}], initContainers: [{image: "init:1"}]}}'
    const files = {
      'shop.yaml': `apiVersion: v1\nkind: Service\nmetadata: {name: shop}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop}\nspec: {replicas: 3, template: ${pod}}\n`,
      'job.yml': `apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: nightly}\nspec: {schedule: "* * * * *", jobTemplate: {spec: {template: ${pod}}}}\n`,
      'notes.yaml': 'a: 1\n',
      'below/other.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n',
    }
    const containers = [{ name: 'web', image: 'shop:2' }]
    expect(render({}, files)).toMatchObject({
      sourceTypes: ['Directory'],
      manifests: [
        { kind: 'Service', group: '', containers: [] },
        { kind: 'Deployment', group: 'apps', version: 'v1', name: 'shop', replicas: 3, containers },
        { kind: 'CronJob', name: 'nightly', schedule: '* * * * *', containers, initContainers: [{ image: 'init:1' }] },
      ],
    })
  })

  test('a kustomization takes images from the source', () => {
    const files = { 'kustomization.yaml': '{}', 'workloads.yaml': 'workloads: [{image: "shop:1"}]' }
    expect(render({ kustomize: { images: ['shop:2'] } }, files)).toMatchObject({
      sourceTypes: ['Kustomize'],
      manifests: [{ containers: [{ image: 'shop:2' }] }],
    })
  })

  test('images in a source that is no kustomization are an error', () => {
    expect(render({ kustomize: { images: ['shop:2'] } }, chart)).toMatchObject({
      kind: 'error',
      message: expect.stringContaining("unable to find one of 'kustomization.yaml'"),
    })
  })

  test('two tools at once are an error with both names', () => {
    expect(render({ helm: {}, kustomize: {} }, chart)).toEqual({
      kind: 'error',
      message:
        'Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: code = Unknown desc = error getting app source type: multiple application sources defined: Kustomize,Helm',
    })
  })

  test('a value that is not there is an error', () => {
    expect(render({}, { ...chart, 'values.yaml': 'other: 1' })).toMatchObject({
      kind: 'error',
      message: expect.stringContaining('nil pointer evaluating interface {}.tag'),
    })
  })

  test('a folder that is not there is an error', () => {
    expect(
      renderSources([{ source: { repoURL: 'r', path: 'nowhere' }, files: undefined }], new Map(), instance),
    ).toMatchObject({
      kind: 'error',
      message: expect.stringContaining('nowhere: app path does not exist'),
    })
  })
})

describe('Helm parameters', () => {
  test.for([
    { value: '123456', rendered: '123456' },
    { value: '1.20', rendered: '1.20' },
    { value: '007', rendered: '007' },
    { value: 'v1.0', rendered: 'v1.0' },
  ])('$value is rendered as $rendered', ({ value, rendered }) => {
    const values = helmValues(['image: {tag: old, other: kept}'], [{ name: 'image.tag', value }])
    expect(renderTemplate(`\${image.tag} \${image.other}`, values)).toEqual({ kind: 'text', text: `${rendered} kept` })
  })

  test('a dot in a name is escaped by a backslash', () => {
    expect(helmValues([], [{ name: 'a\\.b.c', value: 'x' }])).toEqual({ 'a.b': { c: 'x' } })
  })
})

describe('kustomize.images', () => {
  test.for([
    { image: 'shop:1', entry: 'shop:2', result: 'shop:2' },
    { image: 'registry:5000/shop:1', entry: 'registry:5000/shop:2', result: 'registry:5000/shop:2' },
    { image: 'shop:1', entry: 'shop=mirror/shop:2', result: 'mirror/shop:2' },
    { image: 'shop:1', entry: 'shop=mirror/shop', result: 'mirror/shop:1' },
    { image: 'shop:1', entry: 'shop@sha256:00', result: 'shop@sha256:00' },
    { image: 'shop:1', entry: 'cart:2', result: 'shop:1' },
  ])('$entry makes $result of $image', ({ image, entry, result }) =>
    expect(applyKustomizeImages(image, [entry])).toBe(result),
  )
})
