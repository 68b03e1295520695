import { type Document, isMap, isScalar, isSeq, parseDocument, visit, type YAMLMap } from 'yaml'
import type { SourceTool } from './application-source.ts'
import { nameOfKustomizeImage } from './kustomize-image.ts'

/** A file that a write-back does not dare to edit, and why. */
export class OverrideFileError extends Error {
  override readonly name = 'OverrideFileError'
}

export type InvalidOverrideFile = { readonly kind: 'invalid'; readonly reason: string }
export type EntriesRead = { readonly kind: 'entries'; readonly entries: OverrideEntries } | InvalidOverrideFile
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

export const maxOverrideFileBytes = 256 * 1024
export const tooLarge = 'is larger than 256 KiB'
export const tooMany = 'has more than 5,000 lines and YAML indicators'
const maxDepth = 64
/** Each takes the parser up to 50 µs on the main thread, and 1 KiB of memory. */
const maxIndicators = 5_000

export const byteOrderMark = /^\ufeff/

/**
 * Reads an override file strictly: one YAML document, a map or nothing, no key twice. A byte order mark counts for nothing.
 * @throws {OverrideFileError}
 */
export function parseOverrideFile(file: string): OverrideDocument {
  const text = file.replace(byteOrderMark, '')
  if (Buffer.byteLength(text) > maxOverrideFileBytes) throw new OverrideFileError(tooLarge)
  if (isTooDeep(text)) throw new OverrideFileError('is nested too deeply')
  if (countIndicators(text) > maxIndicators) throw new OverrideFileError(tooMany)
  // the library compares every key of a map with every other one; our own look below is linear
  const document = parseDocument(text, { uniqueKeys: false, prettyErrors: false })
  if (document.errors.some(({ code }) => code === 'MULTIPLE_DOCS'))
    throw new OverrideFileError('contains more than one document')
  if (document.errors.length > 0) throw new OverrideFileError(`is not YAML: ${document.errors[0]?.message}`)
  refuseDoubleKeys(document)
  const isEmpty = document.contents === null || (isScalar(document.contents) && document.contents.source === '')
  if (!isEmpty && !isMap(document.contents)) throw new OverrideFileError('is not a YAML map')
  refuseMergeKeys(document)
  return { text, document, data: isEmpty ? new Map() : plainData(document) }
}

/** Brackets and dashes in front of a line are all that nests; counting those in texts too only errs to the safe side. */
function isTooDeep(text: string): boolean {
  let open = 0
  for (const character of text) {
    if (character === '[' || character === '{') open += 1
    else if (character === ']' || character === '}') open = Math.max(0, open - 1)
    if (open > maxDepth) return true
  }
  return /^[ \t]*(?:[-?:][ \t]+){65}/m.test(text) || /^ {1000}/m.test(text)
}

/** All that makes the parser begin something; those in texts and comments count too. */
function countIndicators(text: string): number {
  return text.match(/[\n\r,[\]{}#&*!%@`?'"|>]|[-:]\s/g)?.length ?? 0
}

function refuseDoubleKeys(document: Document): void {
  visit(document, {
    Map(_, map) {
      const seen = new Set<string>()
      for (const { key } of map.items) {
        const name = isScalar(key) ? `${typeof key.value} ${String(key.value)}` : undefined
        if (name !== undefined && seen.has(name)) throw new OverrideFileError(`has the key ${name.slice(0, 80)} twice`)
        if (name !== undefined) seen.add(name)
      }
    },
  })
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
    throw new OverrideFileError(`has a merge key (<<) ${where}: write out its keys`)
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
    throw new OverrideFileError('has too many or invalid YAML aliases', { cause })
  }
}

/** The entry of a map under a name in any letter case: the delivery controller does not mind the case either. */
export function pairOf(map: YAMLMap, name: string) {
  const found = map.items.filter(({ key }) => isScalar(key) && String(key.value).toLowerCase() === name.toLowerCase())
  if (found.length > 1) throw new OverrideFileError(`has the key ${name} in two spellings`)
  return found[0]
}

/** What an error in reading or editing a file says about it; errors of other kinds are thrown on. */
export function invalidBecause(error: unknown): InvalidOverrideFile {
  if (error instanceof OverrideFileError) return { kind: 'invalid', reason: error.message }
  if (error instanceof RangeError) return { kind: 'invalid', reason: 'is nested too deeply' }
  throw error
}

export function readEntries(text: string, tool: SourceTool): EntriesRead {
  try {
    return { kind: 'entries', entries: entriesOf(parseOverrideFile(text), tool) }
  } catch (error) {
    return invalidBecause(error)
  }
}

/** The tags and other values that the list of a tool sets. Of two with one name the last counts. */
export function entriesOf({ data }: OverrideDocument, tool: SourceTool): OverrideEntries {
  const list = fieldOf(fieldOf(data, tool), listOf[tool])
  const read = tool === 'helm' ? readParameter : readImage
  return new Map((Array.isArray(list) ? list : []).flatMap(read))
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
