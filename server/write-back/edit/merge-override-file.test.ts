import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { cpuMs } from '../../../test/support/cpu-time.ts'
import { mergeOverrideFile } from './merge-override-file.ts'
import { entriesOf, parseOverrideFile } from './parse-override-file.ts'

const tag = (value: string) => [{ name: 'image.tag', value }]
const merge = (text: string | undefined, value = 'v2') => mergeOverrideFile(text, tag(value), [], 'helm')
const changed = (text: string | undefined, value = 'v2') => {
  const merged = merge(text, value)
  if (merged.kind !== 'changed') throw new Error(JSON.stringify(merged))
  return merged.text
}
const item = '    - name: image.tag\n      value: "v2"\n      forceString: true\n'
const fresh = `helm:\n  parameters:\n${item}`

describe('a new override file', () => {
  test.for([{ text: undefined }, { text: '' }])('from $text holds the parameter', ({ text }) => {
    expect(changed(text)).toBe(fresh)
  })
  test('keeps the comments of a file that has nothing else', () => {
    expect(changed('# ours\n')).toBe(`# ours\n${fresh}`)
    expect(changed('# ours')).toBe(`# ours\n${fresh}`)
  })
  test('holds inherited parameters first, ours with the new tag', () => {
    const inherited = [
      { name: 'replicas', value: '2', forceString: false },
      { name: 'image.tag', value: 'v0', forceString: false },
    ]
    const merged = mergeOverrideFile(undefined, tag('v2'), inherited, 'helm')
    expect(merged).toMatchObject({
      kind: 'changed',
      text: `helm:\n  parameters:\n    - name: "replicas"\n      value: "2"\n${item}`,
    })
  })
})

test('several entries are set together: in their places where the list has them, otherwise at its end', () => {
  const entry = (name: string, value: string) => ({ name, value })
  const inherited = [{ name: 'replicas.count', value: '2', forceString: false }]
  const own = [entry('new.tag', 'v3'), entry('b.tag', 'v2'), entry('a.tag', 'v2'), entry('last.tag', 'v4')]
  const set = (name: string, tag: string) => `  - name: ${name}\n    value: "${tag}"\n    forceString: true\n`
  const other = '  - {name: other, value: x} # theirs\n'
  const before = `helm:\n  parameters:\n${set('a.tag', 'v1')}${other}${set('b.tag', 'v1')}z: 1\n`
  const kept = `helm:\n  parameters:\n${set('a.tag', 'v2')}${other}${set('b.tag', 'v2')}`
  const added = `  - name: replicas.count\n    value: "2"\n${set('new.tag', 'v3')}${set('last.tag', 'v4')}`
  const after = `${kept}${added}z: 1\n`
  expect(mergeOverrideFile(before, own, inherited, 'helm')).toMatchObject({ kind: 'changed', text: after })
  expect(mergeOverrideFile(after, own, inherited, 'helm')).toEqual({ kind: 'same' })
  const flow = 'helm: {parameters: [{name: a.tag, value: "v2", forceString: true}]}\n'
  expect(mergeOverrideFile(flow, own.slice(1, 3), inherited, 'helm')).toMatchObject({
    kind: 'changed',
    text: flow.replace(']', ', {name: replicas.count, value: "2"}, {name: b.tag, value: "v2", forceString: true}]'),
  })
})

describe('an existing override file changes in the wanted line only', () => {
  test.for([
    {
      what: 'a value with a comment',
      before:
        '# top\nhelm:\n  # list\n  parameters:\n  - name: image.tag # ours\n    value: v1 # old\n    forceString: true\n# end\nother: {x: 1}\n',
      after:
        '# top\nhelm:\n  # list\n  parameters:\n  - name: image.tag # ours\n    value: "v2" # old\n    forceString: true\n# end\nother: {x: 1}\n',
    },
    {
      what: 'CRLF line ends',
      before: 'helm:\r\n  parameters:\r\n    - name: a\r\n      value: "1"\r\n',
      after: `helm:\r\n  parameters:\r\n    - name: a\r\n      value: "1"\r\n${item.replaceAll('\n', '\r\n')}`,
    },
    {
      what: 'a foreign parameter and a trailing comment',
      before: 'helm:\n  parameters:\n    - name: a\n      value: "1" # one\n    # tail\nkustomize: {}\n',
      after: `helm:\n  parameters:\n    - name: a\n      value: "1" # one\n${item}    # tail\nkustomize: {}\n`,
    },
    {
      what: 'no forceString',
      before: 'helm:\n  parameters:\n    - name: image.tag\n      value: "v2"\nz: 1\n',
      after: 'helm:\n  parameters:\n    - name: image.tag\n      value: "v2"\n      forceString: true\nz: 1\n',
    },
    {
      what: 'forceString before an old value',
      before: 'helm:\n  parameters:\n    - forceString: false\n      name: image.tag\n      value: 1.10\n',
      after: 'helm:\n  parameters:\n    - forceString: true\n      name: image.tag\n      value: "v2"\n',
    },
    {
      what: 'an empty value',
      before: 'helm:\n  parameters:\n    - name: image.tag\n      value:\n      forceString: true\n',
      after: fresh,
    },
    {
      what: 'a block text',
      before: 'helm:\n  parameters:\n    - name: image.tag\n      value: |-\n        v1\n      forceString: true\n',
      after: fresh,
    },
    {
      what: 'a helm without value',
      before: 'helm: # ours\nz: 1\n',
      after: `helm: # ours\n  parameters:\n${item}z: 1\n`,
    },
    { what: 'parameters without value', before: 'helm:\n  parameters:\n', after: fresh },
    {
      what: 'an empty list',
      before: 'helm:\n  parameters: []\n',
      after: 'helm:\n  parameters: [{name: image.tag, value: "v2", forceString: true}]\n',
    },
    {
      what: 'an empty map',
      before: '{}\n',
      after: '{helm: {parameters: [{name: image.tag, value: "v2", forceString: true}]}}\n',
    },
    {
      what: 'flow style',
      before: 'helm: {parameters: [{name: image.tag, value: v1}, {name: b, value: "2"}]} # x\n',
      after: 'helm: {parameters: [{name: image.tag, value: "v2", forceString: true}, {name: b, value: "2"}]} # x\n',
    },
    {
      what: 'helm with value files',
      before: 'helm:\n  valueFiles:\n  - a.yaml\n',
      after: `helm:\n  valueFiles:\n  - a.yaml\n  parameters:\n${item}`,
    },
    { what: 'other keys only', before: 'a: 1\nb:\n  - x\n# end\n', after: `a: 1\nb:\n  - x\n${fresh}# end\n` },
    { what: 'no line end at the end', before: 'a: 1', after: `a: 1\n${fresh}` },
    { what: 'a document start and end', before: '---\na: 1\n...\n', after: `---\na: 1\n${fresh}...\n` },
    {
      what: 'the name twice',
      before:
        'helm:\n  parameters:\n    - {name: image.tag, value: a, forceString: true}\n    - {name: image.tag, value: b}\n',
      after:
        'helm:\n  parameters:\n    - {name: image.tag, value: "v2", forceString: true}\n    - {name: image.tag, value: "v2", forceString: true}\n',
    },
    {
      what: 'another case of forceString',
      before: 'helm:\n  parameters:\n    - name: image.tag\n      value: v1\n      forcestring: true\n',
      after: 'helm:\n  parameters:\n    - name: image.tag\n      value: "v2"\n      forcestring: true\n',
    },
    {
      what: 'anchors elsewhere',
      before:
        'x: &one {a: 1}\ny: *one\nhelm:\n  parameters:\n    - name: image.tag\n      value: v1\n      forceString: true\n',
      after:
        'x: &one {a: 1}\ny: *one\nhelm:\n  parameters:\n    - name: image.tag\n      value: "v2"\n      forceString: true\n',
    },
    {
      what: 'an alias as the value',
      before: 'x: &one v1\nhelm:\n  parameters:\n    - name: image.tag\n      value: *one\n      forceString: true\n',
      after: 'x: &one v1\nhelm:\n  parameters:\n    - name: image.tag\n      value: "v2"\n      forceString: true\n',
    },
  ])('with $what', ({ before, after }) => {
    expect(changed(before)).toBe(after)
    expect(merge(after)).toEqual({ kind: 'same' })
  })
})

describe('the images of a kustomization', () => {
  const image = { name: 'shop', value: 'shop=registry.example/shop:v2' }
  const line = '"shop=registry.example/shop:v2"'
  const fresh = `kustomize:\n  images:\n    - ${line}\n`
  const inherit = (value: string, name = value.split(':')[0] ?? '') => ({ name, value, forceString: false })
  const merge = (text: string | undefined, inherited: readonly ReturnType<typeof inherit>[] = []) =>
    mergeOverrideFile(text, [image], inherited, 'kustomize')

  test.for([
    { what: 'no file', before: undefined, after: fresh },
    { what: 'comments only', before: '# ours\r\n', after: `# ours\r\n${fresh.replaceAll('\n', '\r\n')}` },
    {
      what: 'a new name and tag, with comments, order and other keys',
      before:
        '# top\nkustomize:\n  namePrefix: x-\n  images: # all\n  - other:v1 # first\n  - shop=old/shop:v1 # ours\n  # tail\nz: 1\n',
      after: `# top\nkustomize:\n  namePrefix: x-\n  images: # all\n  - other:v1 # first\n  - ${line} # ours\n  # tail\nz: 1\n`,
    },
    { what: 'a tag only', before: 'kustomize:\n  images:\n    - shop:v1\n', after: fresh },
    { what: 'a digest', before: 'kustomize:\n  images:\n    - shop@sha256:abc\n', after: fresh },
    { what: 'a block text', before: 'kustomize:\n  images:\n    - >-\n      shop:v1\n', after: fresh },
    {
      what: 'the name twice',
      before: 'kustomize:\n  images: [shop:v1, "shop=a:v0"]\n',
      after: `kustomize:\n  images: [${line}, ${line}]\n`,
    },
    {
      what: 'the same name behind the port of a registry',
      before: 'kustomize:\n  images:\n    - localhost:5000/shop:v1\n',
      after: `kustomize:\n  images:\n    - localhost:5000/shop:v1\n    - ${line}\n`,
    },
    { what: 'null', before: 'kustomize: ~\n', after: fresh },
    { what: 'a list that is null', before: 'kustomize:\n  images: null\n', after: fresh },
    { what: 'an empty list', before: 'kustomize:\n  images: []\n', after: `kustomize:\n  images: [${line}]\n` },
    { what: 'flow style', before: '{kustomize: {}}\n', after: `{kustomize: {images: [${line}]}}\n` },
    {
      what: 'another case',
      before: 'Kustomize:\n  Images:\n  - shop:v1\n',
      after: `Kustomize:\n  Images:\n  - ${line}\n`,
    },
    { what: 'a byte order mark', before: '\ufeffa: 1\n', after: `\ufeffa: 1\n${fresh}` },
  ])('are set in a file with $what', ({ before, after }) => {
    expect(merge(before)).toMatchObject({ kind: 'changed', text: after })
    expect(merge(after)).toEqual({ kind: 'same' })
    for (const version of ['1.1', '1.2'] as const) expect(JSON.stringify(parse(after, { version }))).toContain(line)
  })

  test('go behind those that the list would replace, by name', () => {
    const inherited = [inherit('a:1'), inherit('shop:v0'), inherit('b=c@sha256:00', 'b')]
    const before = 'kustomize:\n  images:\n  - b:2\n'
    expect(merge(before, inherited)).toMatchObject({ kind: 'changed', text: `${before}  - "a:1"\n  - ${line}\n` })
  })

  test.for([
    { text: 'kustomize: x\n', says: 'must have a map under kustomize' },
    { text: 'kustomize: {images: {a: 1}}\n', says: 'must have a list under kustomize.images' },
    { text: 'kustomize: {images: [{name: shop}]}\n', says: 'must have only strings under kustomize.images' },
    { text: 'x: &a shop:v1\nkustomize: {images: [*a]}\n', says: 'must have only strings' },
    { text: 'kustomize: {images: [&a shop:v1]}\nx: *a\n', says: 'without changing other content' },
    { text: 'x: &k {images: [a]}\nkustomize: {<<: *k}\n', says: 'merge key (<<)' },
    { text: 'kustomize: {}\nKustomize: {}\n', says: 'two spellings' },
    { text: 'kustomize: {}\nkustomize: {}\n', says: 'twice' },
  ])('are not set in $text, which stays as it is', ({ text, says }) => {
    expect(merge(text)).toMatchObject({ kind: 'invalid', reason: expect.stringContaining(says) })
  })
})

test('a Helm path inside a scalar is one more parameter (B65)', () => {
  const before = 'helm:\n  parameters:\n    - name: image\n      value: "x"\n'
  expect(merge(before)).toMatchObject({ kind: 'changed', text: `${before}${item}` })
})

describe('the same content is no change', () => {
  test.for(['"v2"', "'v2'", 'v2'])('for a value written %s', (value) => {
    const text = `helm:\n  parameters:\n  - name: image.tag\n    value: ${value}\n    forceString: true\n`
    expect(merge(text)).toEqual({ kind: 'same' })
  })
  test.for(['yes', '1_000', '2024-01-01', 'null'])('but a plain %s gets its quotes', (value) => {
    const text = `helm:\n  parameters:\n  - name: image.tag\n    value: ${value}\n    forceString: true\n`
    expect(changed(text, value)).toContain(`value: "${value}"`)
  })
})

describe('an unusual override file is edited safely, or fails with its name (B72)', () => {
  test.for([
    { what: 'not YAML', text: 'a: [1\nb: }' },
    { what: 'a list', text: '- a\n' },
    { what: 'a text', text: 'hello\n' },
    { what: 'two documents', text: 'a: 1\n---\nb: 2\n' },
    { what: 'a key twice', text: 'a: 1\na: 2\n' },
    { what: 'helm as a text', text: 'helm: x\n' },
    { what: 'parameters as a map', text: 'helm:\n  parameters: {a: 1}\n' },
    { what: 'an entry that is a text', text: 'helm:\n  parameters: [a]\n' },
    { what: 'two spellings of helm', text: 'helm: {}\nHelm: {}\n' },
    {
      what: 'an anchored value that is used elsewhere',
      text: 'helm:\n  parameters:\n  - name: image.tag\n    value: &v v1\nx: *v\n',
    },
    {
      what: 'an anchored value in quotes that is used elsewhere',
      text: 'helm:\n  parameters:\n  - name: image.tag\n    value: &v "v1"\n    forceString: true\nx: *v\n',
    },
    {
      what: 'a value in quotes in a list that is used elsewhere',
      text: 'helm:\n  parameters: &p\n  - name: image.tag\n    value: "v1"\n    forceString: true\nx: *p\n',
    },
    {
      what: 'more than 256 KiB with a longer tag',
      text: `helm: {parameters: [{name: image.tag, value: "", forceString: true}]}\n# ${'x'.repeat(256 * 1024 - 73)}\n`,
    },
    { what: 'more than 256 KiB', text: `# ${'x'.repeat(256 * 1024)}\n` },
    { what: 'deep brackets', text: `a: ${'['.repeat(20_000)}` },
    { what: 'deep dashes', text: `${'- '.repeat(20_000)}x\n` },
    { what: 'dashes with two blanks each', text: `${'-  '.repeat(40)}${'x'.repeat(200)}\n` },
    { what: 'deep maps', text: Array.from({ length: 1_100 }, (_, at) => `${' '.repeat(at)}a:`).join('\n') },
    { what: 'tabs as indentation', text: 'helm:\n\tparameters: []\n' },
    { what: 'an alias without anchor', text: 'a: *x\n' },
    {
      what: 'an alias bomb',
      text: Array.from(
        { length: 12 },
        (_, at) => `a${at}: &a${at} [${at === 0 ? 'x' : Array(12).fill(`*a${at - 1}`)}]`,
      ).join('\n'),
    },
  ])('$what', ({ text }) => {
    const started = cpuMs()
    expect(merge(text)).toMatchObject({ kind: 'invalid', reason: expect.stringMatching(/./) })
    expect(cpuMs() - started).toBeLessThan(2_000)
  })
})

describe('a tag in quotes gives way to another one', () => {
  const inBlock = (value: string, lineEnd = '\n') =>
    ['helm:', '  parameters:', '  - name: image.tag', `    value: ${value}`, '    forceString: true', 'z: 1', ''].join(
      lineEnd,
    )
  test.for([
    { before: inBlock('"v1"'), after: inBlock('"v2"') },
    { before: inBlock('"v1" # old'), after: inBlock('"v2" # old') },
    { before: inBlock('"v1"', '\r\n'), after: inBlock('"v2"', '\r\n') },
    { before: inBlock('"a \\"text\\": {\\u0041}"'), after: inBlock('"v2"') },
    { before: inBlock('"over\n      two lines"'), after: inBlock('"v2"') },
    { before: inBlock('\n      "v1"'), after: inBlock('\n      "v2"') },
    {
      before: '{"helm":{"parameters":[{"value":"v1","name":"image.tag","forceString":true}]},"z":1}',
      after: '{"helm":{"parameters":[{"value": "v2","name":"image.tag","forceString":true}]},"z":1}',
    },
  ])('in $before', ({ before, after }) => {
    expect(changed(before)).toBe(after)
    expect(parse(after)).toEqual({ ...parse(before), ...parse(inBlock('"v2"')) })
  })

  test('and the file is parsed once', () => {
    const others = Array.from({ length: 500 }, (_, at) => `  - name: other.p${at}\n    value: "a text ${at}"\n`)
    const text = inBlock('"v1"').replace('z: 1\n', others.join(''))
    const costOf = (work: () => unknown) => {
      const beganMs = cpuMs()
      work()
      return cpuMs() - beganMs
    }
    // Side by side: a machine that others use is faster at one moment than at the next.
    const ratio = () => costOf(() => changed(text)) / costOf(() => parseOverrideFile(text))
    expect(Math.min(...Array.from({ length: 8 }, ratio))).toBeLessThan(1.5)
  })
})

describe('helm and parameters that are null are filled', () => {
  const flow = '{parameters: [{name: image.tag, value: "v2", forceString: true}]}'
  test.for([
    { before: 'helm: null\n', after: fresh },
    { before: 'a: 1\nhelm: ~ # ours\nz: 1\n', after: `a: 1\nhelm: # ours\n  parameters:\n${item}z: 1\n` },
    { before: 'helm: NULL', after: fresh },
    { before: 'helm:\n  parameters: null\n', after: fresh },
    { before: 'helm:\n  parameters:   ~\n  valueFiles: []\n', after: `${fresh}  valueFiles: []\n` },
    { before: '{helm: null, a: 1}\n', after: `{helm: ${flow}, a: 1}\n` },
    { before: 'helm: {parameters: ~}\n', after: `helm: ${flow}\n` },
    { before: '{helm: , a: 1}\n', after: `{helm: ${flow}, a: 1}\n` },
  ])('$before', ({ before, after }) => {
    expect(changed(before)).toBe(after)
    expect(entriesOf(parseOverrideFile(after), 'helm')).toEqual(
      new Map([['image.tag', { value: 'v2', forceString: true }]]),
    )
    expect(merge(after)).toEqual({ kind: 'same' })
  })

  test.for(['helm: !!null null\n', '? helm\n'])('or refused by their form: %j', (text) => {
    const merged = merge(text)
    expect(merged).toMatchObject({ kind: 'invalid', reason: expect.not.stringContaining('not YAML') })
  })
})

describe('parameters that come by a merge key', () => {
  const shared = 'x: &shared\n  parameters: [{name: replicas, value: "2"}]\n'
  test.for([
    { where: 'in helm', text: `${shared}helm:\n  <<: *shared\n  valueFiles: []\n` },
    { where: 'at the top', text: 'x: &top {helm: {parameters: []}}\n<<: *top\n' },
    {
      where: 'in a parameter',
      text: 'x: &tag {name: image.tag}\nhelm:\n  parameters:\n    - <<: *tag\n      value: v1\n',
    },
  ])('$where: the file is refused by that name', ({ text }) => {
    expect(merge(text)).toMatchObject({ kind: 'invalid', reason: expect.stringContaining('merge key (<<)') })
  })

  test('elsewhere they are of no concern', () => {
    const text = 'a: &a {b: 1}\nc:\n  <<: *a\n'
    expect(changed(text)).toBe(`${text}${fresh}`)
  })
})

describe('a byte order mark', () => {
  test('is kept and counts for nothing', () => {
    expect(changed('\ufeffhelm:\n  valueFiles: []\n')).toBe(`\ufeffhelm:\n  valueFiles: []\n  parameters:\n${item}`)
    expect(changed('\ufeff')).toBe(`\ufeff${fresh}`)
    expect(merge(`\ufeff${fresh}`)).toEqual({ kind: 'same' })
    expect(merge('\ufeffhelm: x\n')).toEqual(merge('helm: x\n'))
  })

  test('does not hide the parameters of a file', () => {
    expect(entriesOf(parseOverrideFile(`\ufeff${fresh}`), 'helm').get('image.tag')).toMatchObject({ value: 'v2' })
  })
})

test.for([
  { what: 'flow items', text: `x: [${'1,'.repeat(5_000)}1]\n` },
  { what: 'items', text: `x:\n${'- 1\n'.repeat(2_500)}` },
  { what: 'nested items', text: `x:\n${'- - - 1\n'.repeat(1_250)}` },
  { what: 'aliases', text: `x: &a 1\ny: ${'*a '.repeat(5_000)}\n` },
  { what: 'tags', text: '!a '.repeat(5_001) },
  { what: 'blank lines', text: `x: 1\n${'\n'.repeat(5_000)}` },
  { what: 'lines of a quoted text', text: `x: "${'a\n'.repeat(5_000)}"\n` },
  { what: 'colons', text: 'a: '.repeat(5_001) },
  { what: 'brackets that close nothing', text: ']'.repeat(5_001) },
])('an override file that is a bomb is rejected within its bounds (T19) ($what)', ({ text }) => {
  expect(merge(text)).toMatchObject({ kind: 'invalid', reason: 'has more than 5,000 lines and YAML indicators' })
})

test('a file of 256 KiB is edited where its text is long, not its structure', () => {
  const before = `x: ${'a'.repeat(250 * 1024)}\n`
  expect(changed(before)).toBe(`${before}${fresh}`)
})

describe('a tag is one quoted string to readers of YAML 1.1 and 1.2 (T18)', () => {
  const words = [
    'yes',
    'no',
    'on',
    'off',
    'y',
    'n',
    'true',
    'False',
    'null',
    '~',
    'NULL',
    '',
    ' ',
    '  x  ',
    '.inf',
    '-.INF',
    '.nan',
    '<<',
    '=',
    '!',
    '&a',
    '*a',
    '-',
    '- x',
    '?',
    ':',
    'a: b',
    'a #b',
    '#',
    '@',
    '`',
    '%',
    '|',
    '>',
    '{}',
    '[]',
    '{{.App}}',
    '$(id)',
    '`id`',
    "'",
    '"',
    '\\',
    '\\n',
    "it's",
    '"q"',
    ',',
    'a,b',
    '../x',
    '---',
    '...',
    '!!str x',
    '__proto__',
    'constructor',
    '\u00e4',
    '\u{1f600}',
    '\u200f',
    '\u2028',
    '\u2029',
    '\ufeff',
    '\u0085',
    '\u007f',
    '\u00a0',
    '日本',
    'e\u0301',
    '\ufffd',
    '\u202ex',
    'latest',
    'v1.2.3',
    'v1.2.3+build.5',
    'sha256:abc',
    'x'.repeat(255),
  ]
  const numbers = [
    '0',
    '1',
    '-1',
    '+1',
    '0123',
    '0o17',
    '0x1F',
    '0b101',
    '1e3',
    '1E-3',
    '1.',
    '.1',
    '1.20',
    '1_000',
    '190:20:30',
    '1:30',
    '2024-01-01',
    '2024-01-01T00:00:00Z',
    '123456789012345678901234567890',
    '00',
    '-0',
    '1e',
    '08',
    '0.0',
    '12e03',
    '0x',
    '685230.15',
    '1e400',
    '9007199254740993',
    '.5e1',
  ]
  const generated = Array.from(
    { length: 110 },
    (_, at) => String.fromCodePoint(0x20 + at).repeat(1 + (at % 3)) + (at % 2 ? 'x' : ''),
  )
  const tags = [...words, ...numbers, ...generated]

  test(`${tags.length} odd ones come back from a YAML 1.1 and a YAML 1.2 reader`, () => {
    expect(tags.length).toBeGreaterThanOrEqual(200)
    for (const value of tags) {
      for (const before of [undefined, 'helm:\n  parameters:\n  - name: image.tag\n    value: old\n']) {
        const text = changed(before, value)
        expect(text).toMatch(/value: "/)
        for (const version of ['1.1', '1.2'] as const) {
          expect(parse(text, { version })).toEqual({
            helm: { parameters: [{ name: 'image.tag', value, forceString: true }] },
          })
        }
        expect(merge(text, value)).toEqual({ kind: 'same' })
      }
    }
  })
})
