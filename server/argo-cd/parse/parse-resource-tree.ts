import type { ObservedPod, ResourceTree, TreeResource } from '../../rollout/observed/observed-resources.ts'
import { listAt, objectAt, textAt, textsAt, timeAt } from './untrusted-json.ts'

/** Reads the answer of `resource-tree`; what is missing of a node is `undefined` or empty. */
export function parseResourceTree(raw: unknown): ResourceTree {
  const nodes = listAt(raw, 'nodes')
  const isPod = (node: unknown) => textAt(node, 'kind') === 'Pod'
  return {
    pods: nodes.filter(isPod).map(readPod),
    resources: nodes.filter((node) => !isPod(node)).map(readResource),
  }
}

function readPod(node: unknown): ObservedPod {
  const restarts = Number(infoOf(node, 'Restart Count') ?? 0)
  return {
    ...commonOf(node),
    images: textsAt(node, 'images'),
    reason: infoOf(node, 'Status Reason'),
    createdAtMs: timeAt(node, 'createdAt'),
    restarts: Number.isSafeInteger(restarts) && restarts >= 0 ? restarts : undefined,
  }
}

function readResource(node: unknown): TreeResource {
  const revision = /^Rev:(\d{1,9})$/.exec(infoOf(node, 'Revision') ?? '')?.[1]
  return {
    ...commonOf(node),
    group: textAt(node, 'group') ?? '',
    kind: textAt(node, 'kind') ?? '',
    revision: revision === undefined ? undefined : Number(revision),
  }
}

function commonOf(node: unknown) {
  const health = objectAt(node, 'health')
  return {
    namespace: textAt(node, 'namespace') ?? '',
    name: textAt(node, 'name') ?? '',
    uid: textAt(node, 'uid') ?? '',
    owners: listAt(node, 'parentRefs').flatMap((parent) => textAt(parent, 'uid') ?? []),
    health: textAt(health, 'status'),
    message: textAt(health, 'message'),
  }
}

function infoOf(node: unknown, name: string): string | undefined {
  const found = listAt(node, 'info').find((one) => textAt(one, 'name') === name)
  return textAt(found, 'value')
}
