type Node = {
  readonly order: number
  readonly parents: readonly string[]
  /** Named by its trailers. */
  readonly tasks: readonly string[]
}

/** Commits and their parents. A parent is added before its children; one that was never added is where the graph ends. */
export function createCommitGraph() {
  const nodes = new Map<string, Node>()
  const heads = new Set<string>()

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
    /** Commits without a child. */
    heads: (): readonly string[] => [...heads],
    add(commit: string, parents: readonly string[], tasks: readonly string[]): void {
      if (nodes.has(commit)) return
      nodes.set(commit, { order: nodes.size, parents, tasks })
      for (const parent of parents) heads.delete(parent)
      heads.add(commit)
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
