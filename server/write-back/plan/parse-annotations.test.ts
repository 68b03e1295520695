import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseAnnotations } from './parse-annotations.ts'

const prefixes = ['watcher/', 'argo-watcher/']
const parse = (annotations: Record<string, string>) => parseAnnotations(new Map(Object.entries(annotations)), prefixes)

describe('the annotations of an application (spec 2.6)', () => {
  test('a full set is read', () => {
    const annotations = parse({
      'watcher/managed': 'true',
      'watcher/managed-images': ' app = registry.example/shop , job=registry.example/job ',
      'watcher/app.helm.image-tag': 'image.tag',
      'watcher/job.helm.image-tag': 'jobs[0].image\\.tag',
      'watcher/write-back-filename': 'tags.yaml',
      'watcher/fire-and-forget': 'true',
      'watcher/bad-pod-grace': '2m',
    })
    expect(annotations).toMatchObject({
      managed: true,
      issues: [],
      managedImages: [
        { alias: 'app', image: 'registry.example/shop', tag: { kind: 'place', name: 'image.tag' } },
        { alias: 'job', image: 'registry.example/job', tag: { kind: 'place', name: 'jobs[0].image\\.tag' } },
      ],
      writeBackFilename: 'tags.yaml',
      fireAndForget: true,
      skipImageValidation: false,
      acceptSuspended: undefined,
      badPodGraceMs: 120_000,
    })
  })

  test('the first prefix that has an annotation wins, each annotation by itself', () => {
    const annotations = parse({
      'argo-watcher/managed': 'true',
      'watcher/managed-images': 'a=x',
      'argo-watcher/managed-images': 'b=y',
      'argo-watcher/a.helm.image-tag': 'image.tag',
    })
    expect(annotations.managed).toBe(true)
    expect(annotations.managedImages).toMatchObject([{ alias: 'a', tag: { kind: 'place' } }])
  })

  test.for(['True', '1', 'yes', 'TRUE', ' true'])(
    'managed other than "true" is ignored with a note (B60) (%j)',
    (value) => {
      const annotations = parse({ 'watcher/managed': value })
      expect(annotations.managed).toBe(false)
      expect(annotations.notes).toEqual([expect.stringContaining(JSON.stringify(value))])
    },
  )

  test.for([
    { list: '', quotes: '""' },
    { list: '  ', quotes: '"  "' },
    { list: '=x', quotes: '"=x"' },
    { list: 'a=', quotes: '"a="' },
    { list: 'a', quotes: '"a"' },
    { list: 'a=x,', quotes: '""' },
    { list: 'a=x,a=y', quotes: '"a=y"' },
    { list: 'a/b=x', quotes: '"a/b=x"' },
    { list: 'a..b=x', quotes: '"a..b=x"' },
    { list: `${'a'.repeat(64)}=x`, quotes: 'aaaa' },
    { list: 'ä=x', quotes: '"ä=x"' },
    { list: '__proto__=x', quotes: '"__proto__=x"' },
    { list: 'constructor=x', quotes: '"constructor=x"' },
    { list: 'a=x y', quotes: '"a=x y"' },
  ])(`managed-images that breaks the grammar fails with the entry (T21; B61, B62: $list)`, ({ list, quotes }) => {
    expect(parse({ 'watcher/managed-images': list }).issues).toEqual([expect.stringContaining(quotes)])
  })

  test('an invalid entry of managed-images fails the task with the entry (B61): a=b=c, one image may have several aliases', () => {
    const { managedImages, issues } = parse({ 'watcher/managed-images': 'a=b=c,d=b=c' })
    expect(issues).toEqual([])
    expect(managedImages.map(({ image }) => image)).toEqual(['b=c', 'b=c'])
  })

  test.for([201, 10_000])(
    'managed-images that breaks the grammar fails with the entry (T21) (%i entries)',
    (length) => {
      const list = Array.from({ length }, (_, at) => `a${at}=x`).join(',')
      expect(parse({ 'watcher/managed-images': list })).toMatchObject({
        managedImages: [],
        issues: [expect.stringContaining(`has ${length} entries, at most 200`)],
      })
    },
  )

  test('an alias without its Helm value path fails with the missing annotation (B63), that alias alone', () => {
    const { managedImages, issues } = parse({ 'watcher/managed-images': 'a=x' })
    expect(issues).toEqual([])
    expect(managedImages[0]?.tag).toEqual({ kind: 'invalid', reason: expect.stringContaining('a.helm.image-tag') })
  })

  test.for([
    '',
    '.',
    'a..b',
    'a.',
    '.a',
    'a.[0]',
    'a.b: c',
    'a'.repeat(2048),
    'a\nb',
    Array(40).fill('a').join('.'),
    '__proto__.tag',
    'a.{{b}}',
    'a,b',
  ])('an invalid Helm value path fails with the grammar (B64) (%j)', (path) => {
    const { managedImages } = parse({ 'watcher/managed-images': 'a=x', 'watcher/a.helm.image-tag': path })
    expect(managedImages[0]?.tag).toMatchObject({
      kind: 'invalid',
      reason: expect.stringMatching(/a\.helm\.image-tag .*names joined by dots/),
    })
  })

  test('an image of a kustomization is named by its own annotation', () => {
    const annotations = parse({
      'watcher/managed-images': 'a=registry.example:5000/shop,b=registry.example/job,c=x',
      'argo-watcher/a.kustomize.image-name': ' localhost:5000/shop ',
      'watcher/b.kustomize.image-name': 'registry.example/job',
      'watcher/c.helm.image-tag': 'image.tag',
    })
    expect(annotations).toMatchObject({ issues: [], notes: [] })
    expect(annotations.managedImages.map(({ tag }) => tag)).toMatchObject([
      { kind: 'place', name: 'localhost:5000/shop', annotation: { tool: 'kustomize' } },
      { kind: 'place', name: 'registry.example/job', annotation: { tool: 'kustomize' } },
      { kind: 'place', name: 'image.tag', annotation: { tool: 'helm' } },
    ])
  })

  test.for([
    '',
    'my shop',
    'sh\nop',
    'a=b',
    'a,b',
    'shop:v1',
    'r/shop:v1',
    'shop@sha256:abc',
    '-shop',
    'a'.repeat(256),
  ])('the kustomization name %j is a fault of that alias that names the annotation', (name) => {
    const { managedImages, issues } = parse({
      'watcher/managed-images': 'a=x',
      'watcher/a.kustomize.image-name': name,
    })
    expect(issues).toEqual([])
    expect(managedImages[0]?.tag).toEqual({
      kind: 'invalid',
      reason: expect.stringMatching(/^annotation a\.kustomize\.image-name is .*without a tag$/),
    })
  })

  test('an image that Kustomize would read in another way is a fault, and so are both kinds of annotation', () => {
    const { managedImages } = parse({
      'watcher/managed-images': 'a=b=c,d=x',
      'watcher/a.kustomize.image-name': 'shop',
      'watcher/d.kustomize.image-name': 'shop',
      'watcher/d.helm.image-tag': 'image.tag',
    })
    const reasons = [
      /a\.kustomize\.image-name is for "b=c"/,
      /"d" has .*d\.helm\.image-tag and d\.kustomize\.image-name/,
    ]
    expect(managedImages.map(({ tag }) => tag)).toEqual(
      reasons.map((reason) => ({ kind: 'invalid', reason: expect.stringMatching(reason) })),
    )
  })

  test.for([
    { value: '0', ms: 0 },
    { value: '90', ms: 90_000 },
    { value: '500ms', ms: 500 },
    { value: '1h', ms: 3_600_000 },
    { value: '-1', ms: undefined },
    { value: 'soon', ms: undefined },
  ])('bad-pod-grace $value is $ms ms', ({ value, ms }) => {
    const annotations = parse({ 'watcher/bad-pod-grace': value })
    expect(annotations.badPodGraceMs).toBe(ms)
    expect(annotations.notes).toHaveLength(ms === undefined ? 1 : 0)
  })

  test('unexpected annotations fail only their own task (T20; the first part)', () => {
    const names = fc.constantFrom(
      'managed',
      'managed-images',
      'a.helm.image-tag',
      'a.kustomize.image-name',
      'bad-pod-grace',
      'write-back-repo',
      'fire-and-forget',
      '__proto__',
    )
    const name = fc.oneof(names, fc.string()).map((text) => `watcher/${text}`)
    const value = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a=x,b=y', 'a==', ',,,', '=', 'a=x,a'))
    const entry = fc.constantFrom(...fc.sample(fc.tuple(name, value), 2_000)) // to make each anew would take 10 s
    fc.assert(
      fc.property(
        fc.array(entry, { maxLength: 5 }),
        (entries) => parseAnnotations(new Map(entries), prefixes).managedImages.length <= 200,
      ),
      { numRuns: 100_000 },
    )
  })
})

test.for<[string, Record<string, string>, object | undefined, string[]]>([
  ['targets', { notify: 'team, audit ,team' }, { targets: ['team', 'audit'], events: undefined }, []],
  [
    'events',
    { notify: 'a', 'notify-on': 'failed, recovered' },
    { targets: ['a'], events: ['failed', 'recovered'] },
    [],
  ],
  ['an unknown event', { notify: 'a', 'notify-on': 'failed,lost' }, { targets: ['a'], events: ['failed'] }, ['"lost"']],
  ['no target', { notify: ' , ' }, undefined, []],
  ['events without targets', { 'notify-on': 'failed' }, undefined, ['names no target']],
  ['too many targets', { notify: Array.from({ length: 21 }, (_, at) => at).join(',') }, undefined, ['at most 20']],
])('notify: %s', ([, given, notify, expected]) => {
  const annotations = new Map(Object.entries(given).map(([name, value]) => [`watcher/${name}`, value]))
  const parsed = parseAnnotations(annotations, ['watcher/'])
  expect(parsed.notify).toEqual(notify)
  expect(parsed.notes).toEqual(expected.map((part) => expect.stringContaining(part)))
})

test.for([
  ['rollback', 'rollback', 0],
  ['none', 'none', 0],
  ['undo', undefined, 1],
] as const)('on-failure: %s', ([given, onFailure, notes]) => {
  const parsed = parseAnnotations(new Map([['watcher/on-failure', given]]), ['watcher/'])
  expect([parsed.onFailure, parsed.notes.length]).toEqual([onFailure, notes])
})
