import { isDeepStrictEqual } from 'node:util'
import { isAlias, isMap, isScalar, isSeq, type Node, parse, type YAMLMap, type YAMLSeq } from 'yaml'
import { type FileEdit, FileEditError, invalidBecause, type OverrideEntry, type Place } from './file-edit.ts'
import { nameOfKustomizeImage } from './kustomize-image.ts'
import {
  byteOrderMark,
  entriesOf,
  listOf,
  maxOverrideIndicators,
  type OverrideDocument,
  pairOf,
  parameterNodes,
  parseOverrideFile,
  type SourceTool,
  valuesOf,
} from './parse-override-file.ts'
import { quoted } from './scalar-text.ts'
import { maxFileBytes, tooLarge, tooMany } from './yaml-limits.ts'

type EntriesByName = ReadonlyMap<string, OverrideEntry>

const unforeseenForm = 'has a form in which a tag cannot be set without changing other content'

/**
 * Sets entries of a tool's list in the text of an override file and leaves every other byte as it is: comments, order,
 * line ends, keys of others. `inherited` entries are added where the file lacks them, since its list replaces the source's
 * own.
 * Text is cut in at the places that the parser names, because rewriting the whole document would reshape it.
 */
export function mergeOverrideFile(
  text: string | undefined,
  own: readonly Place[],
  inherited: readonly OverrideEntry[],
  tool: SourceTool,
): FileEdit {
  try {
    const before = parseOverrideFile(text ?? '')
    const merged = mergeInto(before, own, inherited, tool)
    if (merged === before.text) return { kind: 'same' }
    const present = entriesOf(before, tool)
    return {
      kind: 'changed',
      text: `${byteOrderMark.exec(text ?? '')?.[0] ?? ''}${merged}`,
      replaced: new Map(own.map(({ name }) => [name, present.get(name)?.value])),
    }
  } catch (error) {
    return invalidBecause(error)
  }
}

function mergeInto(
  before: OverrideDocument,
  own: readonly Place[],
  inherited: readonly OverrideEntry[],
  tool: SourceTool,
): string {
  const ownNames = new Set(own.map(({ name }) => name))
  const present = entriesOf(before, tool)
  const lacking = inherited.filter(({ name }) => name !== '' && !ownNames.has(name) && !present.has(name))
  const wanted = [...lacking, ...own.map((entry) => ({ ...entry, forceString: tool === 'helm' }))]
  const entries = new Map(wanted.map((entry) => [entry.name, entry]))
  const text = setEntries(before, [...entries.values()], tool)
  if (text !== before.text && !areSwapsInQuotes(before, text, entries, tool)) checkEdit(before, text, entries, tool)
  return text
}

/**
 * Plain texts in quotes in the place of others, in a file in which nothing can refer to them: a parser would find those
 * entries changed and nothing else. To parse is what an edit takes its time for, and this is the usual edit.
 */
function areSwapsInQuotes(before: OverrideDocument, text: string, entries: EntriesByName, tool: SourceTool): boolean {
  if (tool !== 'helm' || /[&*!]/.test(before.text) || Buffer.byteLength(text) > maxFileBytes) return false
  const present = entriesOf(before, 'helm')
  const changed = [...entries.values()].filter(({ name, value }) => present.get(name)?.value !== value)
  const items = Map.groupBy(parameterNodes(before.document.contents), (item) =>
    isMap(item) ? scalarOf(item, 'name') : undefined,
  )
  const swaps = changed.flatMap(({ name, value, forceString }) => {
    const [node, ...others] = (items.get(name) ?? []).flatMap((item) => valuesOf(item, 'value'))
    const isPlain = /^[\w.+-]+$/.test(value) && present.get(name)?.forceString === forceString
    if (!isPlain || others.length > 0 || !isScalar(node) || node.type !== 'QUOTE_DOUBLE' || !node.range) return []
    const [start, end] = node.range
    return [{ start, end, value }]
  })
  const swapped = swaps
    .sort((one, other) => other.start - one.start)
    .reduce((edited, { start, end, value }) => `${edited.slice(0, start)}"${value}"${edited.slice(end)}`, before.text)
  return text === swapped
}

/** An edit must change its entries and nothing else; a shape we did not foresee is refused instead of damaged. */
function checkEdit(before: OverrideDocument, text: string, entries: EntriesByName, tool: SourceTool): void {
  const after = parseEdited(text)
  const found = entriesOf(after, tool)
  const areSet = [...entries.values()].every(({ name, value, forceString }) => {
    const set = found.get(name)
    return set?.value === value && set.forceString === forceString
  })
  const others = (of: OverrideDocument) => [withoutList(of.data, tool), withoutNames(entriesOf(of, tool), entries)]
  if (!areSet || !isDeepStrictEqual(others(before), others(after))) throw new FileEditError(unforeseenForm)
}

/** Our own text is at fault if it cannot be read, not the file. */
function parseEdited(text: string): OverrideDocument {
  try {
    return parseOverrideFile(text)
  } catch (cause) {
    if (!(cause instanceof FileEditError) || [tooLarge, tooMany(maxOverrideIndicators)].includes(cause.message))
      throw cause
    throw new FileEditError(unforeseenForm, { cause })
  }
}

function withoutNames<V>(map: ReadonlyMap<string, V>, names: ReadonlyMap<string, unknown>): ReadonlyMap<string, V> {
  return new Map([...map].filter(([key]) => !names.has(key)))
}

/** What lies outside the list of a tool. An empty section is the same as none. */
function withoutList(data: unknown, tool: SourceTool): unknown {
  if (!(data instanceof Map)) return data
  return new Map(
    [...data].flatMap(([key, value]) => {
      if (String(key).toLowerCase() !== tool) return [[key, value]]
      const rest = value instanceof Map ? withoutNames(value, new Map([[listKey(value, tool), true]])) : value
      return rest === null || (rest instanceof Map && rest.size === 0) ? [] : [[key, rest]]
    }),
  )
}

function listKey(section: ReadonlyMap<unknown, unknown>, tool: SourceTool): string {
  return [...section.keys()].map(String).find((key) => key.toLowerCase() === listOf[tool]) ?? listOf[tool]
}

/** Walks down to the list and returns the text with the entries set; the same text where they are set already. */
function setEntries({ text, document }: OverrideDocument, entries: readonly OverrideEntry[], tool: SourceTool): string {
  if (entries.length === 0) return text
  const root = document.contents
  if (!isMap(root)) return appendLines(text, text.length, sectionBlock(tool, entries, 0))
  const section = pairOf(root, tool)
  if (!section) return addPair(text, root, (column) => sectionBlock(tool, entries, column), sectionFlow(tool, entries))
  if (isEmpty(section.value)) {
    const flow = `{${listFlow(tool, entries)}}`
    return fillEmpty(text, section.value, root, (column) => listBlock(tool, entries, column + 2), flow)
  }
  if (!isMap(section.value)) throw new FileEditError(`must have a map under ${tool}`)
  const list = pairOf(section.value, listOf[tool])
  if (!list) {
    return addPair(text, section.value, (column) => listBlock(tool, entries, column), listFlow(tool, entries))
  }
  if (isEmpty(list.value)) {
    const flow = `[${itemsFlow(tool, entries)}]`
    return fillEmpty(text, list.value, section.value, (column) => itemsBlock(tool, entries, column + 2), flow)
  }
  if (!isSeq(list.value)) throw new FileEditError(`must have a list under ${tool}.${listOf[tool]}`)
  return setInList(text, list.value, tool, entries)
}

/**
 * The later of two with one name counts, but both are changed. All is done from the end, so that earlier places stay
 * true.
 */
function setInList(text: string, list: YAMLSeq, tool: SourceTool, entries: readonly OverrideEntry[]): string {
  const byName = new Map<unknown, OverrideEntry>(entries.map((entry) => [entry.name, entry]))
  const items = tool === 'helm' ? parametersIn(list) : imagesIn(list)
  const present = new Set(items.map(({ name }) => name))
  const lacking = entries.filter(({ name }) => !present.has(name))
  const extended = lacking.length === 0 ? text : addItems(text, list, tool, lacking)
  return items.reduceRight((changed, { name, set }) => {
    const entry = byName.get(name)
    return entry === undefined ? changed : set(changed, entry)
  }, extended)
}

type ListItem = { readonly name: unknown; set(text: string, entry: OverrideEntry): string }

function parametersIn(list: YAMLSeq): readonly ListItem[] {
  return list.items.map((item) => {
    if (isAlias(item) || !isMap(item)) throw new FileEditError('must have only maps under helm.parameters')
    return { name: scalarOf(item, 'name'), set: (text, entry) => setInItem(text, item, entry) }
  })
}

function imagesIn(list: YAMLSeq): readonly ListItem[] {
  return list.items.map((item) => {
    if (!isScalar(item) || typeof item.value !== 'string') {
      throw new FileEditError('must have only strings under kustomize.images')
    }
    return {
      name: nameOfKustomizeImage(item.value),
      set: (text, { value }) => (isString(text, item, value) ? text : replaceNode(text, item, quoted(value))),
    }
  })
}

function scalarOf(item: YAMLMap, key: string): unknown {
  const value = pairOf(item, key)?.value
  return isScalar(value) ? value.value : undefined
}

/** `forceString` first where it comes later in the text, again so that the earlier place stays true. */
function setInItem(text: string, item: YAMLMap, parameter: OverrideEntry): string {
  const edits = [
    {
      key: 'value',
      written: quoted(parameter.value),
      isRight: (node: Node | null) => isString(text, node, parameter.value),
    },
    { key: 'forceString', written: 'true', isRight: (node: Node | null) => isScalar(node) && node.value === true },
  ]
  const placed = edits.map((edit) => {
    const pair = pairOf(item, edit.key)
    return { ...edit, pair, at: nodeOf(pair?.value)?.range?.[0] ?? Number.POSITIVE_INFINITY }
  })
  let changed = text
  for (const { key, written, isRight, pair } of placed.sort((one, other) => other.at - one.at)) {
    if (!pair)
      changed = addPair(changed, item, (column) => [`${' '.repeat(column)}${key}: ${written}`], `${key}: ${written}`)
    else if (!isRight(nodeOf(pair.value))) changed = replaceNode(changed, nodeOf(pair.value), written)
  }
  return changed
}

/** Whether readers of YAML 1.1 and 1.2 alike see this very string; a plain `yes` or `1.20` they do not. */
function isString(text: string, node: Node | null, wanted: string): boolean {
  if (!isScalar(node) || node.value !== wanted || !node.range) return false
  return node.type !== 'PLAIN' || parse(text.slice(node.range[0], node.range[1]), { version: '1.1' }) === wanted
}

function replaceNode(text: string, node: Node | null, written: string): string {
  if (!node?.range) throw new FileEditError('has an entry whose position is unknown')
  const [start, end] = node.range
  const old = text.slice(start, end)
  const gap = /[\s[]/.test(text[start - 1] ?? ' ') ? '' : ' '
  return text.slice(0, start) + gap + written + (/\r?\n$/.exec(old)?.[0] ?? '') + text.slice(end)
}

function addItems(text: string, list: YAMLSeq, tool: SourceTool, entries: readonly OverrideEntry[]): string {
  if (list.flow) return addToFlow(text, list, itemsFlow(tool, entries))
  return appendLines(text, contentEnd(list), itemsBlock(tool, entries, dashColumn(text, list)))
}

function dashColumn(text: string, list: YAMLSeq): number {
  const start = list.range?.[0] ?? 0
  return start - lineStart(text, start)
}

/** Adds a key at the end of a map, in the map's own style. */
function addPair(text: string, map: YAMLMap, block: (column: number) => readonly string[], flow: string): string {
  return map.flow ? addToFlow(text, map, flow) : appendLines(text, contentEnd(map), block(columnOf(text, map)))
}

function addToFlow(text: string, collection: YAMLMap | YAMLSeq, flow: string): string {
  const isFilled = collection.items.length > 0
  const at = isFilled ? contentEndOfLast(collection) : (collection.range?.[0] ?? 0) + 1
  return `${text.slice(0, at)}${isFilled ? ', ' : ''}${flow}${text.slice(at)}`
}

/** A key without a value, or with `null` or `~`, which gives way: the lines go below it. */
function fillEmpty(
  text: string,
  value: unknown,
  parent: YAMLMap,
  lines: (column: number) => readonly string[],
  flow: string,
): string {
  const node = nodeOf(value)
  if (!node?.range) throw new FileEditError('has a key whose position is unknown')
  if (isScalar(node) && node.tag !== undefined) throw new FileEditError(unforeseenForm)
  if (parent.flow) return replaceNode(text, node, flow)
  const [start, end] = node.range
  const before = start === end ? text.slice(0, start) : text.slice(0, endOfText(text, start))
  return appendLines(before + text.slice(end), before.length, lines(columnOf(text, parent)))
}

/** Where the blanks before a place begin. */
function endOfText(text: string, place: number): number {
  let at = place
  while (text[at - 1] === ' ' || text[at - 1] === '\t') at -= 1
  return at
}

/** Puts lines below the line that holds `at`, so that a comment at its end stays there. */
function appendLines(text: string, at: number, lines: readonly string[]): string {
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
  const next = at > 0 && text[at - 1] === '\n' ? at : text.indexOf('\n', at) + 1
  const isLast = next === 0
  const head = isLast ? text : text.slice(0, next)
  const gap = isLast && head !== '' && !head.endsWith('\n') ? lineEnd : ''
  return head + gap + lines.map((line) => line + lineEnd).join('') + (isLast ? '' : text.slice(next))
}

function contentEnd(node: YAMLMap | YAMLSeq): number {
  return node.flow ? (node.range?.[1] ?? 0) : contentEndOfLast(node)
}

/** Where the last thing in a collection ends, before comments and blank lines behind it. */
function contentEndOfLast(collection: YAMLMap | YAMLSeq): number {
  const last = collection.items.at(-1)
  const pair = isMap(collection) ? collection.items.at(-1) : undefined
  const node = pair ? (nodeOf(pair.value) ?? nodeOf(pair.key)) : nodeOf(last)
  if (isMap(node) || isSeq(node)) return contentEnd(node)
  return node?.range?.[1] ?? collection.range?.[1] ?? 0
}

function nodeOf(value: unknown): Node | null {
  return isScalar(value) || isMap(value) || isSeq(value) || isAlias(value) ? value : null
}

function isEmpty(value: unknown): boolean {
  return value === null || (isScalar(value) && value.value === null)
}

function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1
}

function columnOf(text: string, map: YAMLMap): number {
  const start = map.range?.[0] ?? 0
  return start - lineStart(text, start)
}

function sectionBlock(tool: SourceTool, entries: readonly OverrideEntry[], column: number): readonly string[] {
  return [`${' '.repeat(column)}${tool}:`, ...listBlock(tool, entries, column + 2)]
}

function listBlock(tool: SourceTool, entries: readonly OverrideEntry[], column: number): readonly string[] {
  return [`${' '.repeat(column)}${listOf[tool]}:`, ...itemsBlock(tool, entries, column + 2)]
}

function itemsBlock(tool: SourceTool, entries: readonly OverrideEntry[], column: number): readonly string[] {
  const indent = ' '.repeat(column)
  return entries.flatMap((entry) => {
    const lines = tool === 'helm' ? fieldsOf(entry) : [quoted(entry.value)]
    return lines.map((line, at) => `${indent}${at === 0 ? '- ' : '  '}${line}`)
  })
}

function sectionFlow(tool: SourceTool, entries: readonly OverrideEntry[]): string {
  return `${tool}: {${listFlow(tool, entries)}}`
}

function listFlow(tool: SourceTool, entries: readonly OverrideEntry[]): string {
  return `${listOf[tool]}: [${itemsFlow(tool, entries)}]`
}

function itemsFlow(tool: SourceTool, entries: readonly OverrideEntry[]): string {
  return entries.map((entry) => (tool === 'helm' ? `{${fieldsOf(entry).join(', ')}}` : quoted(entry.value))).join(', ')
}

function fieldsOf({ name, value, forceString }: OverrideEntry): readonly string[] {
  return [`name: ${plainOrQuoted(name)}`, `value: ${quoted(value)}`, ...(forceString ? ['forceString: true'] : [])]
}

/** A dotted name that starts with a letter is a string to every reader. */
function plainOrQuoted(name: string): string {
  return /^[A-Za-z]\w*(?:\.[A-Za-z]\w*)+$/.test(name) ? name : quoted(name)
}
