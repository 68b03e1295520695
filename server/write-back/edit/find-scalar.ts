import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Scalar, visit, type YAMLMap } from 'yaml'
import type { PathStep } from './value-path.ts'

export type FoundScalar =
  | { readonly kind: 'scalar'; readonly node: Scalar }
  /** `depth`: how many steps lead somewhere; `keys`: what is there instead of the next. */
  | { readonly kind: 'missing'; readonly depth: number; readonly keys: readonly string[] }
  /** Something is there that is not edited. */
  | { readonly kind: 'refused'; readonly reason: string }

/** Walks a path to the scalar at its end. */
export function findScalar(document: Document, steps: readonly PathStep[]): FoundScalar {
  const trail: Node[] = []
  let node = nodeOf(document.contents)
  for (const [depth, step] of steps.entries()) {
    if (isAlias(node))
      return refused(`has an alias (*${node.source}) at ${textOf(steps, depth)}: write its value there`)
    if (node) trail.push(node)
    const next = follow(node, step)
    if (next === undefined) return { kind: 'missing', depth, keys: keysOf(node) }
    if ('reason' in next) return refused(`${next.reason} at ${textOf(steps, depth) || 'its top'}`)
    node = next.node
  }
  if (node === null) return { kind: 'missing', depth: steps.length - 1, keys: [] }
  return checkEnd(document, node, [...trail, node], textOf(steps, steps.length))
}

export const textOf = (steps: readonly PathStep[], depth: number): string =>
  steps
    .slice(0, depth)
    .map(({ text }) => text)
    .join('')

const refused = (reason: string): FoundScalar => ({ kind: 'refused', reason })
const nodeOf = (value: unknown): Node | null =>
  isScalar(value) || isMap(value) || isSeq(value) || isAlias(value) ? value : null

/** undefined: there is no such thing. */
function follow(node: Node | null, step: PathStep): { node: Node | null } | { reason: string } | undefined {
  if (step.kind === 'key') return isMap(node) ? ownValueOf(node, step.key) : undefined
  if (!isSeq(node)) return undefined
  if (step.kind === 'index') return step.at < node.items.length ? { node: nodeOf(node.items[step.at]) } : undefined
  const matching = node.items.filter((item) => isMap(item) && isValue(ownValueOf(item, step.key), step.value))
  if (matching.length > 1) return { reason: `has ${matching.length} items that match ${step.text}` }
  return matching.length === 0 ? undefined : { node: nodeOf(matching[0]) }
}

/** A map's own key wins over what a merge key brings. */
function ownValueOf(map: YAMLMap, key: string): { node: Node | null } | { reason: string } | undefined {
  const found = map.items.filter((pair) => isScalar(pair.key) && keyText(pair.key) === key)
  if (found.length > 1) return { reason: `has the key ${key} in two spellings` }
  if (found[0]) return { node: nodeOf(found[0].value) }
  const isMerged = map.items.some((pair) => isScalar(pair.key) && isMergeKey(pair.key))
  return isMerged ? { reason: `may have ${key} from a merge key (<<), which is not edited,` } : undefined
}

/** `1.10` is a key of that text, as its author meant it. */
const keyText = (key: Scalar): string => (key.type === 'PLAIN' ? (key.source ?? '') : String(key.value))
const isMergeKey = (key: Scalar): boolean => key.type === 'PLAIN' && key.source === '<<'

function isValue(found: ReturnType<typeof ownValueOf>, wanted: string): boolean {
  return found !== undefined && 'node' in found && isScalar(found.node) && keyText(found.node) === wanted
}

function keysOf(node: Node | null): readonly string[] {
  return isMap(node) ? node.items.flatMap(({ key }) => (isScalar(key) ? [keyText(key)] : [])) : []
}

const ours = new Set([undefined, '!', 'tag:yaml.org,2002:str'])

function checkEnd(document: Document, node: Node, trail: readonly Node[], path: string): FoundScalar {
  if (isAlias(node)) return refused(`has an alias (*${node.source}) at ${path}: write its value there`)
  if (!isScalar(node)) return refused(`has a ${isMap(node) ? 'map' : 'list'} at ${path}, not a single value`)
  if (node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED') {
    return refused(`has a block (${node.type === 'BLOCK_LITERAL' ? '|' : '>'}) at ${path}: write its value on one line`)
  }
  if (!ours.has(node.tag)) return refused(`has the YAML tag ${node.tag?.slice(0, 80)} at ${path}: remove it`)
  const anchors = trail.flatMap((one) => ('anchor' in one && one.anchor !== undefined ? [one.anchor] : []))
  const used = anchors.find((anchor) => hasAlias(document, anchor))
  if (used === undefined) return { kind: 'scalar', node }
  return refused(`repeats the value of ${path} elsewhere by an alias (*${used}): write it out there`)
}

function hasAlias(document: Document, anchor: string): boolean {
  let isFound = false
  visit(document, {
    Alias(_, { source }) {
      isFound ||= source === anchor
    },
  })
  return isFound
}
