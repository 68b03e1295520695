import { type Document, isAlias, isNode, isScalar, parseAllDocuments, type Scalar, visit } from 'yaml'
import { FileEditError, type FileEditor, invalidBecause, type OverrideEntry, type Place } from './file-edit.ts'
import { findScalar, textOf } from './find-scalar.ts'
import { inlineEntriesIn, overrideEntriesIn } from './parse-override-file.ts'
import { inStyleOf, isReadAs } from './scalar-text.ts'
import { type PathStep, parseValuePath } from './value-path.ts'
import { refuseCostly, refuseDoubleKeys } from './yaml-limits.ts'

const byteOrderMark = /^\ufeff?/
const maxIndicators = 20_000

/** Where the value of a named place stands. */
type ScalarPlaces = {
  stepsOf(name: string): readonly PathStep[]
  /** What may not stand beside it. */
  mustLack?(name: string): { readonly steps: readonly PathStep[]; readonly because: string }
}

/** Sets single values of any YAML file, which must be there already. */
export const yamlEditor: FileEditor = {
  candidates: (file) => [file],
  entriesBeside: (text) => [...overrideEntriesIn(text, 'helm'), ...inlineEntriesIn(text)],
  ...scalarEditor({
    stepsOf(name) {
      const steps = parseValuePath(name)
      if (steps === undefined) throw new FileEditError(`cannot have a value at ${name}: this is not a path`)
      return steps
    },
  }),
}

export function scalarEditor(places: ScalarPlaces): Pick<FileEditor, 'read' | 'set' | 'describe'> {
  return {
    read(text, names) {
      try {
        const documents = parseDocuments(text ?? '')
        const values = names.flatMap((name) => {
          const [found] = scalarsAt(documents, places.stepsOf(name))
          const value = found?.kind === 'scalar' ? textOfScalar(found.node) : undefined
          return value === undefined ? [] : [[name, value] as const]
        })
        return { kind: 'values', values: new Map(values) }
      } catch (error) {
        return invalidBecause(error)
      }
    },
    set(text, wanted, inherited) {
      try {
        if (text === undefined) throw new FileEditError('does not exist', { taskCause: 'values_key_missing' })
        refuseInherited(wanted, inherited)
        return setScalars(text, wanted, places)
      } catch (error) {
        return invalidBecause(error)
      }
    },
    describe: ({ name, value }) => `${name}=${value}`,
  }
}

function refuseInherited(wanted: readonly Place[], inherited: readonly OverrideEntry[]): void {
  const other = wanted.find(({ name }) => inherited.some((entry) => entry.name === name))
  if (other === undefined) return
  const reason = `would have no effect: Argo CD has ${other.name} from an override file, which wins`
  throw new FileEditError(reason, { taskCause: 'annotation_invalid' })
}

type Change = { readonly node: Scalar; readonly name: string; readonly value: string }

function setScalars(file: string, wanted: readonly Place[], places: ScalarPlaces): ReturnType<FileEditor['set']> {
  const [mark = ''] = byteOrderMark.exec(file) ?? []
  const text = file.slice(mark.length)
  const documents = parseDocuments(text)
  const scalars = wanted.map(({ name, value }) => ({ name, value, node: scalarAt(documents, places, name) }))
  const changes = scalars
    .filter(({ node, value }) => !isSet(text, node, value))
    .sort((one, other) => startOf(other.node) - startOf(one.node))
  if (changes.length === 0) return { kind: 'same' }
  const after = changes.reduce(withScalar, text)
  checkEdit(documents, after, changes)
  return {
    kind: 'changed',
    text: mark + after,
    replaced: new Map(scalars.map(({ name, node }) => [name, textOfScalar(node)])),
  }
}

/** @throws {FileEditError} */
function parseDocuments(text: string): readonly Document[] {
  refuseCostly(text, maxIndicators)
  const documents = parseAllDocuments(text.replace(byteOrderMark, ''), { uniqueKeys: false, prettyErrors: false })
  for (const document of Array.isArray(documents) ? documents : []) {
    const [error] = document.errors
    if (error) throw new FileEditError(`is not YAML: ${error.message}`)
    refuseDoubleKeys(document)
  }
  return Array.isArray(documents) ? documents : []
}

/** In those documents that have something there. */
function scalarsAt(documents: readonly Document[], steps: readonly PathStep[]) {
  return documents.map((document) => findScalar(document, steps)).filter((found) => found.kind !== 'missing')
}

function scalarAt(documents: readonly Document[], places: ScalarPlaces, name: string): Scalar {
  const steps = places.stepsOf(name)
  const lacked = places.mustLack?.(name)
  if (lacked !== undefined && scalarsAt(documents, lacked.steps).length > 0) {
    throw new FileEditError(`has ${textOf(lacked.steps, lacked.steps.length)}: remove it, ${lacked.because}`)
  }
  const [found, ...others] = scalarsAt(documents, steps)
  if (found === undefined) throw missing(documents, steps)
  if (others.length > 0) {
    throw new FileEditError(`has ${textOf(steps, steps.length)} in ${others.length + 1} documents: one must have it`)
  }
  if (found.kind === 'refused') throw new FileEditError(found.reason)
  return found.node
}

const maxKeysNamed = 8

function missing(documents: readonly Document[], steps: readonly PathStep[]): FileEditError {
  const [nearest] = documents
    .map((document) => findScalar(document, steps))
    .flatMap((found) => (found.kind === 'missing' ? [found] : []))
    .sort((one, other) => other.depth - one.depth || other.keys.length - one.keys.length)
  const { depth, keys } = nearest ?? { depth: 0, keys: [] }
  const parent = depth === 0 ? 'the top' : textOf(steps, depth)
  const named = keys.slice(0, maxKeysNamed).map((key) => key.slice(0, 80))
  const has = keys.length === 0 ? 'no keys' : `${named.join(', ')}${keys.length > named.length ? ', …' : ''}`
  const reason = `has no ${textOf(steps, steps.length)}: the nearest that exists is ${parent}, with ${has}`
  return new FileEditError(reason, { taskCause: 'values_key_missing' })
}

const startOf = ({ range }: Scalar): number => range?.[0] ?? 0

/** What a reader of the text takes the value for; undefined: nothing. */
function textOfScalar(node: Scalar): string | undefined {
  if (node.value === null) return undefined
  return node.type === 'PLAIN' ? node.source : String(node.value)
}

function isSet(text: string, { value, range }: Scalar, wanted: string): boolean {
  return value === wanted && range != null && isReadAs(text.slice(range[0], range[1]), wanted)
}

/** An empty value stands where its key ends, without a blank, and so may a value in JSON. */
function withScalar(text: string, { node, value }: Change): string {
  if (!node.range) throw new FileEditError('has a value whose position is unknown')
  const [start, end] = node.range
  const isTight = !/[\s[]/.test(text[start - 1] ?? ' ')
  const written = inStyleOf(isTight && start < end ? 'QUOTE_DOUBLE' : node.type, value)
  const before = isTight && start === end ? ' ' : ''
  const after = /[\s,\]}]/.test(text[end] ?? ' ') ? '' : ' '
  return `${text.slice(0, start)}${before}${written}${after}${text.slice(end)}`
}

/** An edit must change its scalars and nothing else; a form that we did not foresee is refused instead of damaged. */
function checkEdit(before: readonly Document[], text: string, changes: readonly Change[]): void {
  const wanted = new Map<unknown, string>(changes.map(({ node, value }) => [node, value]))
  const expected = before.flatMap(nodesOf)
  const found = parseDocuments(text).flatMap(nodesOf)
  const isRight = expected.every((node, at) => {
    const value = wanted.get(node)
    const now = found[at]
    return value === undefined ? signOf(node) === signOf(now) : isScalar(now) && now.value === value
  })
  if (!isRight || found.length !== expected.length) {
    throw new FileEditError('has a form in which a tag cannot be set without changing other content')
  }
}

function nodesOf(document: Document): readonly unknown[] {
  const nodes: unknown[] = []
  visit(document, { Node: (_, node) => void nodes.push(node) })
  return nodes
}

/** All of a node that counts, but for what is below it. */
function signOf(node: unknown): string {
  if (!isNode(node)) return ''
  const props = isAlias(node) ? node.source : `${node.anchor ?? ''} ${node.tag ?? ''}`
  return `${node.constructor.name} ${props} ${isScalar(node) ? `${node.type} ${node.source} ${String(node.value)}` : ''}`
}
