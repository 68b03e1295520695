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
  const info = (name: string) => {
    const found = listAt(node, 'info').find((one) => textAt(one, 'name') === name)
    return textAt(found, 'value')
  }
  const restarts = Number(info('Restart Count') ?? 0)
  return {
    namespace: textAt(node, 'namespace') ?? '',
    name: textAt(node, 'name') ?? '',
    uid: textAt(node, 'uid') ?? '',
    images: textsAt(node, 'images'),
    reason: info('Status Reason'),
    health: textAt(health, 'status'),
    message: textAt(health, 'message'),
    createdAtMs: timeAt(node, 'createdAt'),
    restarts: Number.isSafeInteger(restarts) && restarts >= 0 ? restarts : undefined,
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
