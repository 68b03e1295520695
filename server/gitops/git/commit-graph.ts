import type { Commit } from './parse-commit.ts'

type Node = Commit & { readonly order: number }

/** Commits and their parents. A parent is added before its children; one that was never added is where the graph ends. */
export function createCommitGraph() {
  const nodes = new Map<string, Node>()

  /** A commit and its ancestors, apart from those that were added before `oldest`. */
  function* walk(from: string, oldest: string) {
    const minOrder = nodes.get(oldest)?.order ?? 0
    const found = new Set([from])
    for (const commit of found) {
      const node = nodes.get(commit)
      if (node === undefined || node.order < minOrder) continue
      yield { commit, tasks: node.tasks }
      for (const parent of node.parents) found.add(parent)
    }
  }

  function isAncestor(commit: string, of: string): boolean {
    for (const reached of walk(of, commit)) if (reached.commit === commit) return true
    return false
  }

  return {
    size: () => nodes.size,
    has: (commit: string) => nodes.has(commit),
    add(commit: string, parents: readonly string[], tasks: readonly string[]): void {
      if (nodes.has(commit)) return
      nodes.set(commit, { order: nodes.size, parents, tasks })
    },
    /** undefined: neither is an ancestor of the other, as far as the graph reaches. */
    ancestry(commit: string, revision: string): 'descendant' | 'unrelated' | undefined {
      if (isAncestor(commit, revision)) return 'descendant'
      return isAncestor(revision, commit) ? 'unrelated' : undefined
    },
    /** By task, the commits up to `tip` that name it; of those before `base` none. */
    tasksBetween(base: string, tip: string): ReadonlyMap<string, string> {
      const found = [...walk(tip, base)].filter(({ commit }) => commit !== base)
      return new Map(found.flatMap(({ commit, tasks }) => tasks.map((task) => [task, commit] as const)))
    },
  }
}
