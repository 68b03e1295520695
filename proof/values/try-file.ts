import { isDeepStrictEqual } from 'node:util'
import { isMap, isScalar, parseAllDocuments, type Scalar, visit } from 'yaml'
import { editors } from '../../server/write-back/edit/editors.ts'

type FileResult = {
  readonly scalars: number
  readonly edited: number
  /** How many edits each reason kept from being made. */
  readonly refused: ReadonlyMap<string, number>
  /** Why no value of the file is edited. */
  readonly unreadable: string | undefined
  readonly faults: readonly string[]
}

const maxScalars = 200
/** Each scalar gets the next one: plain, and such as a reader takes for something else without quotes. */
const tags = [
  'v2.0.1',
  '1.10',
  '007',
  '1e3',
  'yes',
  'null',
  '2024-01-02',
  'registry.example:5000/shop:1.2.3',
  '4e5f6a7',
]

/** Sets a tag in the scalars of a file, one after the other, each in the file as it was. */
export function tryFile(text: string, edit = editors.yaml.set): FileResult {
  const refused = new Map<string, number>()
  const faults: string[] = []
  const unreadable = editors.yaml.read(text, [])
  if (unreadable.kind === 'invalid') {
    return { scalars: 0, edited: 0, refused, unreadable: unreadable.reason, faults }
  }
  const places = scalarsOf(text).slice(0, maxScalars)
  let edited = 0
  for (const [at, { name, node }] of places.entries()) {
    const value = tags[at % tags.length] ?? ''
    const made = edit(text, [{ name, value }], [])
    if (made.kind === 'invalid') {
      const kind = made.reason.replaceAll(name, '…').replace(/\(\*[^)]*\)/, '(*…)')
      refused.set(kind, (refused.get(kind) ?? 0) + 1)
    } else if (made.kind === 'changed') {
      edited += 1
      faults.push(...faultsOf(text, made.text, node, name, value))
    }
  }
  return { scalars: places.length, edited, refused, unreadable: undefined, faults }
}

type ScalarPlace = { readonly name: string; readonly node: Scalar }

/** Every text and number of a file by its path, found without the editor. */
function scalarsOf(text: string): readonly ScalarPlace[] {
  const found: ScalarPlace[] = []
  const documents = parseAllDocuments(text)
  for (const document of Array.isArray(documents) ? documents : []) {
    visit(document, {
      Scalar(key, node, ancestors) {
        if (key === 'key' || !['string', 'number'].includes(typeof node.value)) return
        found.push({ name: pathOf([...ancestors, node]), node })
      },
    })
  }
  return found
}

function pathOf(trail: readonly unknown[]): string {
  let path = ''
  for (const [at, node] of trail.entries()) {
    const next = trail[at + 1]
    if (typeof node === 'object' && node !== null && 'items' in node && Array.isArray(node.items) && !isMap(node)) {
      path += `[${node.items.indexOf(next)}]`
    } else if (typeof node === 'object' && node !== null && 'key' in node && isScalar(node.key)) {
      const text = node.key.type === 'PLAIN' ? (node.key.source ?? '') : String(node.key.value)
      path += `${path === '' ? '' : '.'}${text.replace(/[\\.[\]]/g, '\\$&')}`
    }
  }
  return path
}

function faultsOf(before: string, after: string, { range }: Scalar, name: string, value: string): readonly string[] {
  const [start, end] = range ?? [0, 0]
  const tail = before.length - end
  const faults: string[] = []
  if (before.slice(0, start) !== after.slice(0, start)) faults.push(`${name}: bytes before it differ`)
  if (before.slice(end) !== after.slice(after.length - tail)) faults.push(`${name}: bytes behind it differ`)
  for (const version of ['1.1', '1.2'] as const) {
    const read = (text: string) => {
      const documents = parseAllDocuments(text, { version })
      return (Array.isArray(documents) ? documents : []).map((document) => document.toJS({ mapAsMap: true }))
    }
    const [was, is] = [read(before), read(after)]
    const changed = differences(was, is)
    const [only] = changed
    if (changed.length !== 1 || only?.is !== value) {
      faults.push(
        `${name}: a reader of YAML ${version} finds ${changed.length} values changed, not only this to ${value}`,
      )
    }
  }
  return faults
}

type Difference = { readonly was: unknown; readonly is: unknown }

function differences(was: unknown, is: unknown): readonly Difference[] {
  if (isDeepStrictEqual(was, is)) return []
  if (Array.isArray(was) && Array.isArray(is) && was.length === is.length) {
    return was.flatMap((item, at) => differences(item, is[at]))
  }
  if (was instanceof Map && is instanceof Map && isDeepStrictEqual([...was.keys()], [...is.keys()])) {
    return [...was].flatMap(([key, item]) => differences(item, is.get(key)))
  }
  return [{ was, is }]
}

export function renderTotals(results: readonly FileResult[]): readonly string[] {
  const sum = (of: (result: FileResult) => number) => results.reduce((total, result) => total + of(result), 0)
  const reasons = new Map<string, number>()
  for (const { refused } of results)
    for (const [reason, count] of refused) reasons.set(reason, (reasons.get(reason) ?? 0) + count)
  const total = [...reasons.values()].reduce((all, count) => all + count, 0)
  return [
    `${results.length} files, ${sum(({ scalars }) => scalars)} scalars, ${sum(({ edited }) => edited)} edited, ${total} refused`,
    ...[...reasons]
      .sort(([, one], [, other]) => other - one)
      .map(([reason, count]) => `  ${count} refused: the file ${reason}`),
    `${results.filter(({ unreadable }) => unreadable !== undefined).length} files not edited`,
    `${sum(({ faults }) => faults.length)} edits that did anything but set their value`,
  ]
}
