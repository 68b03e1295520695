import { type Document, isMap, isScalar, isSeq, parseDocument, type YAMLMap } from 'yaml'
import { FileEditError, type OverrideEntry } from './file-edit.ts'
import { inlineValueNames } from './helm-values.ts'
import { nameOfKustomizeImage } from './kustomize-image.ts'
import { refuseCostly, refuseDoubleKeys } from './yaml-limits.ts'

/** What renders a source, where an override file can set tags for it. */
export type SourceTool = 'helm' | 'kustomize'

/** By name. */
export type OverrideEntries = ReadonlyMap<string, { readonly value: string; readonly forceString: boolean }>

export type OverrideDocument = {
  readonly text: string
  readonly document: Document
  /** The content as plain data, maps as Map, so that a key such as `__proto__` is only a key. */
  readonly data: unknown
}

/** The list below the section of a tool, which has the tool's name. */
export const listOf = { helm: 'parameters', kustomize: 'images' } as const satisfies Record<SourceTool, string>

export const maxOverrideIndicators = 5_000

export const byteOrderMark = /^\ufeff/

/**
 * Reads an override file strictly: one YAML document, a map or nothing, no key twice. A byte order mark counts for nothing.
 * @throws {FileEditError}
 */
export function parseOverrideFile(file: string): OverrideDocument {
  const text = file.replace(byteOrderMark, '')
  refuseCostly(text, maxOverrideIndicators)
  const document = parseDocument(text, { uniqueKeys: false, prettyErrors: false })
  if (document.errors.some(({ code }) => code === 'MULTIPLE_DOCS'))
    throw new FileEditError('contains more than one document')
  if (document.errors.length > 0) throw new FileEditError(`is not YAML: ${document.errors[0]?.message}`)
  refuseDoubleKeys(document)
  const isEmpty = document.contents === null || (isScalar(document.contents) && document.contents.source === '')
  if (!isEmpty && !isMap(document.contents)) throw new FileEditError('is not a YAML map')
  refuseMergeKeys(document)
  return { text, document, data: isEmpty ? new Map() : plainData(document) }
}

/** The delivery controller follows `<<`, this library does not: what it brings into the lists that we edit would be lost. */
function refuseMergeKeys({ contents }: Document): void {
  const places = [
    contents,
    ...valuesOf(contents, 'helm'),
    ...parameterNodes(contents),
    ...valuesOf(contents, 'kustomize'),
  ]
  if (places.some((node) => valuesOf(node, '<<').length > 0)) {
    const where = 'above or in helm.parameters or kustomize.images'
    throw new FileEditError(`has a merge key (<<) ${where}: write out its keys`)
  }
}

/** The items of helm.parameters. */
export function parameterNodes(contents: unknown): readonly unknown[] {
  const lists = valuesOf(contents, 'helm').flatMap((map) => valuesOf(map, 'parameters'))
  return lists.flatMap((list) => (isSeq(list) ? list.items : []))
}

/** What a map has under a name in any letter case. */
export function valuesOf(node: unknown, name: string): readonly unknown[] {
  if (!isMap(node)) return []
  return node.items.flatMap(({ key, value }) =>
    isScalar(key) && String(key.value).toLowerCase() === name ? [value] : [],
  )
}

function plainData(document: Document): unknown {
  try {
    return document.toJS({ mapAsMap: true, maxAliasCount: 100 })
  } catch (cause) {
    throw new FileEditError('has too many or invalid YAML aliases', { cause })
  }
}

/** The entry of a map under a name in any letter case: the delivery controller does not mind the case either. */
export function pairOf(map: YAMLMap, name: string) {
  const found = map.items.filter(({ key }) => isScalar(key) && String(key.value).toLowerCase() === name.toLowerCase())
  if (found.length > 1) throw new FileEditError(`has the key ${name} in two spellings`)
  return found[0]
}

/** The tags and other values that the list of a tool sets. Of two with one name the last counts. */
export function entriesOf({ data }: OverrideDocument, tool: SourceTool): OverrideEntries {
  const list = fieldOf(fieldOf(data, tool), listOf[tool])
  const read = tool === 'helm' ? readParameter : readImage
  return new Map((Array.isArray(list) ? list : []).flatMap(read))
}

/** @throws {FileEditError} */
export function overrideEntriesIn(text: string, tool: SourceTool): readonly OverrideEntry[] {
  return [...entriesOf(parseOverrideFile(text), tool)].map(([name, entry]) => ({ name, ...entry }))
}

/** The values that an override file gives to Helm inline, by their paths. @throws {FileEditError} */
export function inlineEntriesIn(text: string): readonly OverrideEntry[] {
  const helm = fieldOf(parseOverrideFile(text).data, 'helm')
  const names = inlineValueNames(fieldOf(helm, 'valuesObject'), fieldOf(helm, 'values'))
  return names.map((name) => ({ name, value: '', forceString: false }))
}

type NamedEntry = readonly [string, { readonly value: string; readonly forceString: boolean }]

function readParameter(entry: unknown): readonly NamedEntry[] {
  const name = fieldOf(entry, 'name')
  const value = fieldOf(entry, 'value')
  if (typeof name !== 'string') return []
  return [[name, { value: String(value ?? ''), forceString: fieldOf(entry, 'forceString') === true }]]
}

function readImage(entry: unknown): readonly NamedEntry[] {
  return typeof entry === 'string' ? [[nameOfKustomizeImage(entry), { value: entry, forceString: false }]] : []
}

function fieldOf(data: unknown, name: string): unknown {
  if (!(data instanceof Map)) return undefined
  for (const [key, value] of data) if (String(key).toLowerCase() === name.toLowerCase()) return value
  return undefined
}
