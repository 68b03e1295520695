import { describe, expect, test } from 'vitest'
import type { Source } from './application.ts'
import { mergeSourceParameters } from './merge-source-parameters.ts'

const source: Source = {
  repoURL: 'r',
  path: 'app',
  targetRevision: 'main',
  helm: { parameters: [{ name: 'a', value: '1' }] },
}

function merged(files: Record<string, string>, from = source, instance = 'shop') {
  return mergeSourceParameters(from, new Map(Object.entries(files)), instance)
}

describe('override files', () => {
  test('arrays replace: the parameters of the spec are hidden', () => {
    expect(merged({ '.argocd-source-shop.yaml': 'helm: {parameters: [{name: b, value: "2"}]}' })).toMatchObject({
      source: { helm: { parameters: [{ name: 'b', value: '2' }] } },
    })
  })

  test("the application's own file comes after the general one, and null deletes", () => {
    const files = {
      '.argocd-source.yaml': 'kustomize: {images: ["x:1"]}\nhelm: null',
      '.argocd-source-shop.yaml': 'kustomize: {images: ["x:2"]}',
    }
    expect(merged(files)).toEqual({
      kind: 'source',
      source: { repoURL: 'r', path: 'app', targetRevision: 'main', kustomize: { images: ['x:2'] } },
    })
  })

  test.for([
    '.argocd-source-other.yaml',
    '.watcher-source-shop.yaml',
    'argocd-source-shop.yaml',
    '.argocd-source-Shop.yaml',
  ])('%s has no effect', (name) => {
    expect(merged({ [name]: 'helm: {parameters: []}' })).toEqual({ kind: 'source', source })
  })

  test('repository, path and revision cannot be changed, and unknown members are ignored', () => {
    expect(
      merged({ '.argocd-source-shop.yaml': 'repoURL: x\npath: y\ntargetRevision: z\nchart: c\nnonsense: 1' }),
    ).toEqual({ kind: 'source', source })
  })

  test('the case of a member does not matter', () => {
    expect(
      merged({ '.argocd-source-shop.yaml': 'helm: {parameters: [{name: a, value: "1", forcestring: true}]}' }),
    ).toMatchObject({
      source: { helm: { parameters: [{ forceString: true }] } },
    })
  })

  test.for([
    { value: '123456', type: 'number' },
    { value: 'true', type: 'bool' },
    { value: 'yes', type: 'bool' },
    { value: '1.20', type: 'number' },
    { value: '1e5', type: 'number' },
  ])('a value that YAML takes for a $type is an error: $value', ({ value, type }) => {
    expect(merged({ '.argocd-source-shop.yaml': `helm: {parameters: [{name: a, value: ${value}}]}` })).toMatchObject({
      kind: 'error',
      message: expect.stringContaining(
        `json: cannot unmarshal ${type} into Go struct field HelmParameter.helm.parameters.value of type string`,
      ),
    })
  })

  test('a file that is no YAML is an error that names it', () => {
    expect(merged({ '.argocd-source-shop.yaml': 'helm: [' })).toMatchObject({
      kind: 'error',
      message: expect.stringContaining('app/.argocd-source-shop.yaml'),
    })
  })
})
