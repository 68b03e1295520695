import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anApplication, aRawApplication } from '../../../test/support/application-builder.ts'
import { parseApplication } from './parse-application.ts'

describe('an Application that cannot be told apart from others', () => {
  test.for([
    null,
    undefined,
    7,
    'x',
    [],
    {},
    { metadata: null },
    { metadata: { name: 'x' } },
    { metadata: { name: 'x', namespace: 1, uid: 'u' } },
  ])('%j is none', (raw) => expect(parseApplication(raw)).toBeUndefined())
})

test('a new Application without any status has no sync status, no health and no images', () => {
  const application = anApplication({
    status: { sync: { status: '' }, health: {}, summary: {}, resources: null, reconciledAt: null },
  })
  expect(application).toMatchObject({
    syncStatus: undefined,
    healthStatus: undefined,
    images: [],
    revisions: [],
    reconciledAtMs: undefined,
  })
})

test.for<[unknown, string | undefined]>([
  [undefined, undefined],
  ['https://shop.example', undefined],
  [['https://shop.example/a', 'https://other.example'], 'https://shop.example/a'],
  [
    [7, 'javascript:alert(1)', 'https://user@shop.example', 'shop.example', 'http://shop.example'],
    'http://shop.example',
  ],
  [[`https://shop.example/${'x'.repeat(1_000)}`], undefined],
])('of the external addresses %j the one that may be a link is %s', ([externalURLs, expected]) => {
  expect(anApplication({ status: { summary: { externalURLs } } }).externalUrl).toBe(expected)
})

test('an empty source beside several sources does not count', () => {
  const sources = [
    { repoURL: 'a', path: 'app' },
    { repoURL: 'b', ref: 'values' },
  ]
  const application = anApplication({
    spec: { source: {}, sources },
    status: { sync: { status: 'Synced', revisions: ['1', '2'] } },
  })
  expect(application.isMultiSource).toBe(true)
  expect(application.sources.map(({ repository }) => repository)).toEqual(['a', 'b'])
  expect(application.revisions).toEqual(['1', '2'])
})

test.for([
  { syncPolicy: undefined, isAutoSynced: false },
  { syncPolicy: { automated: null }, isAutoSynced: false },
  { syncPolicy: { automated: {} }, isAutoSynced: true },
  { syncPolicy: { automated: { enabled: false } }, isAutoSynced: false },
])('with the sync policy $syncPolicy automated sync is $isAutoSynced', ({ syncPolicy, isAutoSynced }) => {
  expect(anApplication({ spec: { syncPolicy } }).isAutoSynced).toBe(isAutoSynced)
})

test('the images of a kustomization are read from its source', () => {
  const source = { repoURL: 'a', kustomize: { images: ['shop=r/shop:1', 7] } }
  expect(anApplication({ spec: { source } })).toMatchObject({ sources: [{ kustomizeImages: ['shop=r/shop:1'] }] })
})

test('a hydrated application is one of its dry source', () => {
  const sourceHydrator = {
    drySource: { repoURL: 'dry', path: 'app', targetRevision: 'main' },
    syncSource: { targetBranch: 'env' },
  }
  const application = anApplication({ spec: { sourceHydrator } })
  expect(application).toMatchObject({ isHydrated: true, isMultiSource: false, sources: [{ repository: 'dry' }] })
})

test.for([
  { spec: { source: { repoURL: 'a' } }, status: { sourceType: 'Kustomize' }, sourceTypes: ['Kustomize'] },
  { spec: { source: { repoURL: 'a' } }, status: {}, sourceTypes: [''] },
  {
    spec: { sources: [{ repoURL: 'a', ref: 'values' }, { repoURL: 'b' }] },
    status: { sourceTypes: ['', 'Helm'] },
    sourceTypes: ['', 'Helm'],
  },
  { spec: { sources: [{ repoURL: 'a' }, { repoURL: 'b' }] }, status: { sourceTypes: ['Helm'] }, sourceTypes: [] },
  {
    spec: { sourceHydrator: { drySource: { repoURL: 'dry' } } },
    status: { sourceType: 'Directory' },
    sourceTypes: [],
  },
])('what the sources are: $sourceTypes', ({ spec, status, sourceTypes }) => {
  expect(anApplication({ spec, status }).sourceTypes).toEqual(sourceTypes)
})

test('whatever stands where something else should, reading it never throws', () => {
  const junk = fc.oneof(fc.anything(), fc.constantFrom(null, '', [], {}, 0, true, 'Synced'))
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.constantFrom(
          'sync',
          'health',
          'summary',
          'resources',
          'conditions',
          'operationState',
          'reconciledAt',
          'sourceHydrator',
        ),
        junk,
      ),
      junk,
      junk,
      (status, spec, operation) => {
        const raw = { ...aRawApplication(), status, spec, operation }
        expect(parseApplication(raw)?.name).toBe('shop')
      },
    ),
    { numRuns: 300 },
  )
})

test('no text of an Application holds what PostgreSQL refuses to store', () => {
  const bad = 'a\0b\ud800c'
  const raw = JSON.parse(JSON.stringify(aRawApplication()).replaceAll('"Synced"', JSON.stringify(bad)))
  const application = parseApplication({
    ...raw,
    metadata: { ...raw.metadata, name: bad, uid: bad, annotations: { [bad]: bad } },
    status: {
      ...raw.status,
      summary: { images: [bad] },
      sync: { status: bad, revisions: [bad, 7] },
      conditions: [{ type: bad }],
    },
  })
  const all = JSON.stringify({ ...application, annotations: [...(application?.annotations ?? [])] })
  expect(all).toContain('a\uFFFDb\uFFFDc')
  expect(all).not.toMatch(/\\u0000|\\ud800/i)
})
