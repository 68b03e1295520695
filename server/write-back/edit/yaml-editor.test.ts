import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { cpuMs } from '../../../test/support/cpu-time.ts'
import { kustomizationEditor } from './kustomization-editor.ts'
import { yamlEditor } from './yaml-editor.ts'

const set = (text: string | undefined, name: string, value = 'v2') => yamlEditor.set(text, [{ name, value }], [])
const changed = (text: string, name = 'image.tag', value = 'v2') => {
  const edit = set(text, name, value)
  if (edit.kind !== 'changed') throw new Error(JSON.stringify(edit))
  return edit.text
}

describe('the bytes of one scalar change', () => {
  test.for<[what: string, before: string, after: string, path?: string]>([
    ['a plain tag with a comment', 'image:\n  tag: v1 # ours\n', 'image:\n  tag: v2 # ours\n'],
    ['double quotes', 'image:\n  tag:   "v1"\n', 'image:\n  tag:   "v2"\n'],
    ['single quotes', "image: {tag: 'v1', x: 1}\n", "image: {tag: 'v2', x: 1}\n"],
    ['a number', 'image:\n  tag: 1.10\n', 'image:\n  tag: v2\n'],
    ['Windows line ends', 'image:\r\n  tag: v1\r\nx: 1\r\n', 'image:\r\n  tag: v2\r\nx: 1\r\n'],
    ['a byte order mark', '\ufeffimage:\n  tag: v1', '\ufeffimage:\n  tag: v2'],
    ['several lines', 'image:\n  tag: v1\n    more\n\nx: 1\n', 'image:\n  tag: v2\n\nx: 1\n'],
    ['nothing', 'image:\n  tag:\nx: 1\n', 'image:\n  tag: v2\nx: 1\n'],
    ['nothing before a comment', 'image:\n  tag:  # here\nx: 1\n', 'image:\n  tag:  v2 # here\nx: 1\n'],
    ['nothing in a flow map', 'image: {tag:, x: 1}\n', 'image: {tag: v2, x: 1}\n'],
    ['null', 'image:\n  tag: ~\n', 'image:\n  tag: v2\n'],
    ['JSON', '{"image":{"tag":1,"x":2}}', '{"image":{"tag":"v2","x":2}}'],
    ['an anchor that nothing repeats', 'image: &i\n  tag: &t v1\n', 'image: &i\n  tag: &t v2\n'],
    [
      'anchors and aliases elsewhere',
      'a: &a {b: 1}\nc: *a\nimage: {tag: v1}\n',
      'a: &a {b: 1}\nc: *a\nimage: {tag: v2}\n',
    ],
    [
      "a key of a map's own beside a merge key",
      'a: &a {tag: v0}\nimage:\n  <<: *a\n  tag: v1\n',
      'a: &a {tag: v0}\nimage:\n  <<: *a\n  tag: v2\n',
    ],
    ['a tag that says it is a string', 'image:\n  tag: !!str 1.0\n', 'image:\n  tag: !!str v2\n'],
    ['a key with a dot', 'a.b:\n  tag: v1\n', 'a.b:\n  tag: v2\n', 'a\\.b.tag'],
    ['a place in a list', 'l:\n  - v0\n  - tag: v1\n', 'l:\n  - v0\n  - tag: v2\n', 'l[1].tag'],
    [
      'an item of a list by a value',
      'spec:\n  containers:\n    - name: side\n      image: a:1\n    - image: r/web:1\n      name: web\n',
      'spec:\n  containers:\n    - name: side\n      image: a:1\n    - image: v2\n      name: web\n',
      'spec.containers[name=web].image',
    ],
    [
      'the one document that has it',
      'kind: Service\n---\nimage:\n  tag: v1\n---\n# nothing\n',
      'kind: Service\n---\nimage:\n  tag: v2\n---\n# nothing\n',
    ],
  ])('%s', ([, before, after, path = 'image.tag']) => {
    expect(changed(before, path)).toBe(after)
    expect(set(after, path)).toEqual({ kind: 'same' })
  })

  test.for([
    ['v1.2.3', 'v1.2.3'],
    ['1.2.3', '1.2.3'],
    ['registry.example:5000/shop:v2', 'registry.example:5000/shop:v2'],
    ['4e5f6a7b', '"4e5f6a7b"'],
    ...[
      '1.10',
      '007',
      '1e3',
      'yes',
      'No',
      'y',
      'null',
      '~',
      '2024-01-02',
      '0x1F',
      '1_000',
      '12:30',
      '.5',
      'true',
      '',
      'a: b',
      'a #b',
      '- a',
      '*a',
      '"',
      '\u2028',
    ].map((value) => [value, JSON.stringify(value).replace('\u2028', '\\u2028')] as const),
  ] as const)('a tag %j is written as %j, which every reader takes for that text', ([value, written]) => {
    const text = changed('image:\n  tag: v0 # here\n', 'image.tag', value)
    expect(text).toBe(`image:\n  tag: ${written} # here\n`)
    for (const version of ['1.1', '1.2'] as const) expect(parse(text, { version })).toEqual({ image: { tag: value } })
  })

  test('a single quote in single quotes is doubled', () => {
    expect(changed("image: {tag: 'v1'}", 'image.tag', "it's")).toBe("image: {tag: 'it''s'}")
  })

  test('several places change together, and the edit says what they had', () => {
    const places = [
      { name: 'a.tag', value: 'v2' },
      { name: 'b.tag', value: '3' },
      { name: 'c', value: 'same' },
    ]
    expect(yamlEditor.set('b: {tag: 1.10}\na: {tag: }\nc: same\n', places, [])).toEqual({
      kind: 'changed',
      text: 'b: {tag: "3"}\na: {tag: v2}\nc: same\n',
      replaced: new Map([
        ['a.tag', undefined],
        ['b.tag', '1.10'],
        ['c', 'same'],
      ]),
    })
  })
})

describe('a key that is missing is not added', () => {
  test.for<[path: string, says: string]>([
    ['image.tag', 'has no image.tag: the nearest that exists is image, with repository, pullPolicy'],
    ['imgae.tag', 'has no imgae.tag: the nearest that exists is the top, with image, list, containers'],
    ['list[2].tag', 'has no list[2].tag: the nearest that exists is list, with no keys'],
    [
      'containers[name=web].image',
      'has no containers[name=web].image: the nearest that exists is containers, with no keys',
    ],
    ['image.repository.tag', 'has no image.repository.tag: the nearest that exists is image.repository, with no keys'],
  ])('%s', ([path, reason]) => {
    const text = 'image: {repository: r, pullPolicy: Always}\nlist: [a, b]\ncontainers: [{name: side}]\n'
    expect(set(text, path)).toEqual({ kind: 'invalid', cause: 'values_key_missing', reason })
  })

  test('in a file that is empty or not there', () => {
    expect(set('# nothing\n', 'image.tag')).toMatchObject({ cause: 'values_key_missing' })
    expect(set(undefined, 'image.tag')).toEqual({
      kind: 'invalid',
      cause: 'values_key_missing',
      reason: 'does not exist',
    })
  })
})

describe('a value that cannot be edited is left alone, with the reason', () => {
  test.for<[text: string, says: string]>([
    ['x: &x v1\nimage: {tag: *x}\n', 'has an alias (*x) at image.tag'],
    ['x: &x {tag: v1}\nimage: *x\n', 'has an alias (*x) at image'],
    ['image: {tag: &x v1}\ny: *x\n', 'repeats the value of image.tag elsewhere by an alias (*x)'],
    ['image: &x {tag: v1}\ny: {<<: *x}\n', 'repeats the value of image.tag elsewhere by an alias (*x)'],
    ['x: &x {tag: v1}\nimage: {<<: *x}\n', 'may have tag from a merge key (<<), which is not edited, at image'],
    ['image:\n  tag: |\n    v1\n', 'has a block (|) at image.tag'],
    ['image:\n  tag: >-\n    v1\n', 'has a block (>) at image.tag'],
    ['image: {tag: {a: 1}}\n', 'has a map at image.tag'],
    ['image: {tag: [a]}\n', 'has a list at image.tag'],
    ['image:\n  tag: !secret v1\n', 'has the YAML tag !secret at image.tag'],
    ['image: {tag: v1}\nimage: {tag: v2}\n', 'has the key string image twice'],
    ['image: {tag: v1}\n---\nimage: {tag: v2}\n', 'has image.tag in 2 documents'],
    ['image: [\n', 'is not YAML'],
  ])('%j', ([text, says]) => {
    expect(set(text, 'image.tag')).toEqual({
      kind: 'invalid',
      cause: 'override_file_invalid',
      reason: expect.stringContaining(says),
    })
  })

  test('two items that match', () => {
    expect(set('l: [{name: a, t: 1}, {name: a, t: 2}]\n', 'l[name=a].t')).toMatchObject({
      cause: 'override_file_invalid',
      reason: 'has 2 items that match [name=a] at l',
    })
  })

  test('what an override file beside it has wins', () => {
    const beside = yamlEditor.entriesBeside(
      'helm: {parameters: [{name: a.tag, value: v1}], valuesObject: {b.c: {tag: v1}}, values: "d: {tag: v1}"}',
    )
    for (const name of ['a.tag', 'b\\.c.tag', 'd.tag']) {
      expect(yamlEditor.set('x: 1', [{ name, value: 'v2' }], beside)).toMatchObject({
        cause: 'annotation_invalid',
        reason: expect.stringContaining(`Argo CD has ${name} from an override file`),
      })
    }
  })
})

describe('a kustomization', () => {
  const images =
    'images:\n  - name: shop\n    newName: r/shop\n    newTag: v1 # now\n  - name: r:5000/job\n    digest: sha256:0\n  - name: bare\n'
  const setImage = (name: string) => kustomizationEditor.set(images, [{ name, value: '1.10' }], [])

  test('gets the new tag of the image that it calls so', () => {
    expect(setImage('shop')).toEqual({
      kind: 'changed',
      text: images.replace('v1', '"1.10"'),
      replaced: new Map([['shop', 'v1']]),
    })
    expect(kustomizationEditor.read(images, ['shop', 'bare'])).toEqual({
      kind: 'values',
      values: new Map([['shop', 'v1']]),
    })
  })

  test.for([
    [
      'r:5000/job',
      'override_file_invalid',
      'has images[name=r:5000/job].digest: remove it, it takes the place of a tag',
    ],
    [
      'bare',
      'values_key_missing',
      'has no images[name=bare].newTag: the nearest that exists is images[name=bare], with name',
    ],
    [
      'other',
      'values_key_missing',
      'has no images[name=other].newTag: the nearest that exists is images, with no keys',
    ],
  ] as const)('of %s is refused', ([name, cause, reason]) => {
    expect(setImage(name)).toEqual({ kind: 'invalid', cause, reason })
  })

  test('is looked for under its three names', () => {
    expect(kustomizationEditor.candidates('a/kustomization.yaml')).toEqual([
      'a/kustomization.yaml',
      'a/kustomization.yml',
      'a/Kustomization',
    ])
  })
})

describe('a hostile file costs at most what the limits allow', () => {
  const size = 250 * 1024
  test.for<[what: string, text: string]>([
    ['flow items', `a: [${'x,'.repeat(size / 2)}]`],
    ['empty flow items', `a: [${','.repeat(size)}]`],
    ['depth', '['.repeat(size)],
    ['dashes', '- '.repeat(size / 2)],
    ['colons', ': '.repeat(size / 2)],
    ['blanks', ' '.repeat(size)],
    ['quotes', '"'.repeat(size)],
    ['documents', '---\n'.repeat(size / 4)],
    ['keys', Array.from({ length: size / 10 }, (_, at) => `k${at}: v\n`).join('')],
    [
      'aliases',
      `a: &a [x,x,x,x,x,x,x,x,x]\n${Array.from({ length: 12 }, (_, at) => `${'bcdefghijklm'[at]}: &${'bcdefghijklm'[at]} [${`*${'abcdefghijkl'[at]},`.repeat(9)}]\n`).join('')}`,
    ],
    ['brackets of a path', `a: ${'x'.repeat(size)}`],
  ])('%s', ([, text]) => {
    const before = cpuMs()
    expect(set(text, 'image.tag')).toMatchObject({ kind: 'invalid' })
    expect(cpuMs() - before).toBeLessThan(1_000)
  })
})
