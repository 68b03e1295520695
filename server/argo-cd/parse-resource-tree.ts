import type { ObservedPod, ResourceTree, UnhealthyResource } from '../rollout/judge/observed-resources.ts'
import { listAt, objectAt, textAt, textsAt, timeAt } from './untrusted-json.ts'

/** Reads the answer of `resource-tree`; nodes that cannot be read are left out. */
export function parseResourceTree(raw: unknown): ResourceTree {
  const nodes = listAt(raw, 'nodes')
  return {
    pods: nodes.filter((node) => textAt(node, 'kind') === 'Pod').map(readPod),
    unhealthy: nodes.flatMap(readUnhealthy),
  }
}

function readPod(node: unknown): ObservedPod {
  const health = objectAt(node, 'health')
  const reason = listAt(node, 'info').find((info) => textAt(info, 'name') === 'Status Reason')
  return {
    namespace: textAt(node, 'namespace') ?? '',
    name: textAt(node, 'name') ?? '',
    uid: textAt(node, 'uid') ?? '',
    images: textsAt(node, 'images'),
    reason: textAt(reason, 'value'),
    health: textAt(health, 'status'),
    message: textAt(health, 'message'),
    createdAtMs: timeAt(node, 'createdAt'),
  }
}

function readUnhealthy(node: unknown): readonly UnhealthyResource[] {
  const health = textAt(objectAt(node, 'health'), 'status')
  const kind = textAt(node, 'kind') ?? ''
  if (health === undefined || health === 'Healthy' || kind === 'Pod') return []
  return [
    { kind, name: textAt(node, 'name') ?? '', health, message: textAt(objectAt(node, 'health'), 'message') ?? '' },
  ]
}
