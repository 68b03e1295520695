import type { ObservedPod, ResourceTree, TreeResource } from './observed-resources.ts'

export type Below = { readonly resources: readonly TreeResource[]; readonly pods: readonly ObservedPod[] }

/**
 * What a resource owns, itself first and its Pods apart, nearer ones before deeper ones. Of several ReplicaSets only the newest
 * is followed: the others belong to earlier rollouts.
 */
export function newestBelow(tree: ResourceTree, root: TreeResource): Below {
  const resources: TreeResource[] = [root]
  for (const resource of resources) {
    const children = tree.resources.filter(({ owners }) => owners.includes(resource.uid))
    resources.push(...withoutOlder(children).filter((child) => !resources.includes(child)))
  }
  const uids = new Set(resources.map(({ uid }) => uid))
  return { resources, pods: tree.pods.filter(({ owners = [] }) => owners.some((uid) => uids.has(uid))) }
}

/** Pods of the newest ReplicaSets, and of everything that has no revisions. */
export function newestPods(tree: ResourceTree, pods: readonly ObservedPod[]): readonly ObservedPod[] {
  const older = tree.resources.filter((resource) => isOlder(resource, tree.resources)).map(({ uid }) => uid)
  return pods.filter(({ owners = [] }) => !owners.some((uid) => older.includes(uid)))
}

const withoutOlder = (siblings: readonly TreeResource[]) => siblings.filter((one) => !isOlder(one, siblings))

function isOlder({ kind, owners, revision }: TreeResource, among: readonly TreeResource[]): boolean {
  if (kind !== 'ReplicaSet' || revision === undefined) return false
  return among.some(
    (other) =>
      other.kind === kind && (other.revision ?? 0) > revision && other.owners.some((owner) => owners.includes(owner)),
  )
}

/** A claim of a Pod's namespace that is not bound: the tree does not say which Pod uses which. */
export const unboundClaim = (tree: ResourceTree | undefined, { namespace }: ObservedPod): TreeResource | undefined =>
  tree?.resources.find(
    (one) => one.kind === 'PersistentVolumeClaim' && one.namespace === namespace && one.health !== 'Healthy',
  )

type Named = Pick<TreeResource, 'group' | 'kind' | 'namespace' | 'name'>

export const isSameResource = (one: Named, other: Named): boolean =>
  one.kind === other.kind && one.name === other.name && one.group === other.group && one.namespace === other.namespace
