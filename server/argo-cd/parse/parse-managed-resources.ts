import { isBuiltInGroup } from '../../rollout/observed/kubernetes-groups.ts'
import type { ManagedResources } from '../../rollout/observed/observed-resources.ts'
import { listAt, parseJson, textAt } from './untrusted-json.ts'

/** Reads the answer of `managed-resources`, whose states are JSON in texts. */
export function parseManagedResources(raw: unknown): ManagedResources {
  const items = listAt(raw, 'items')
  const imagesOfEach = (state: string) => items.flatMap((item) => imagesIn(parseJson(textAt(item, state) ?? '')))
  return {
    liveImages: imagesOfEach('liveState'),
    declaredImages: imagesOfEach('targetState'),
    hasForeignKinds: items.some((item) => !isBuiltInGroup(textAt(item, 'group') ?? '')),
  }
}

/** Deeper than any manifest of Kubernetes' own kinds; a hostile one must not exhaust the stack. */
const maxDepth = 40

function imagesIn(value: unknown, depth = 0): readonly string[] {
  if (typeof value !== 'object' || value === null || depth > maxDepth) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'image' && typeof inner === 'string' ? [inner] : key === 'managedFields' ? [] : imagesIn(inner, depth + 1),
  )
}
