import { hash } from 'node:crypto'
import { commitPattern, type GitView, type SourceFiles, tidyPath, unresolved } from './git-view.ts'

type Commit = { parent: string | undefined; files: ReadonlyMap<string, string>; message: string }

/** Files to write; `null` deletes. */
export type FileChanges = Readonly<Record<string, string | null>>

/** Git repositories without Git: branches and commits in memory, for the deterministic simulation. */
export function createMemoryGit() {
  const commits = new Map<string, Commit>()
  const branches = new Map<string, Map<string, string>>()

  function branchesOf(repoUrl: string): Map<string, string> {
    const known = branches.get(repoUrl) ?? new Map<string, string>()
    branches.set(repoUrl, known)
    return known
  }

  function push(repoUrl: string, changes: FileChanges, { branch = 'main', message = 'change' } = {}): string {
    const heads = branchesOf(repoUrl)
    const parent = heads.get(branch)
    const files = new Map(parent ? commits.get(parent)?.files : [])
    for (const [path, content] of Object.entries(changes)) {
      if (content === null) files.delete(path)
      else files.set(path, content)
    }
    const sha = hash('sha1', JSON.stringify([commits.size, parent, message, [...files]]))
    commits.set(sha, { parent, files, message })
    heads.set(branch, sha)
    return sha
  }

  const view: GitView = {
    async resolve(repoUrl, targetRevision) {
      if (commitPattern.test(targetRevision) && commits.has(targetRevision))
        return { kind: 'commit', sha: targetRevision }
      const branch = targetRevision === '' || targetRevision === 'HEAD' ? 'main' : targetRevision
      const sha = branches.get(repoUrl)?.get(branch)
      return sha ? { kind: 'commit', sha } : unresolved(targetRevision)
    },
    async filesAt(_repoUrl, sha, path) {
      const folder = tidyPath(path)
      const inside = [...(commits.get(sha)?.files ?? [])].flatMap(([name, content]): [string, string][] =>
        folder === ''
          ? [[name, content]]
          : name.startsWith(`${folder}/`)
            ? [[name.slice(folder.length + 1), content]]
            : [],
      )
      return inside.length === 0 ? undefined : (new Map(inside) satisfies SourceFiles)
    },
  }

  return {
    ...view,
    push,
    head: (repoUrl: string, branch = 'main') => branches.get(repoUrl)?.get(branch),
    /** Moves a branch, also backwards, as a replicated Git host may do. */
    setHead: (repoUrl: string, branch: string, sha: string) => void branchesOf(repoUrl).set(branch, sha),
    /** Whether `ancestor` is `sha` or reachable from it. */
    isAncestor(ancestor: string, sha: string): boolean {
      for (let at: string | undefined = sha; at; at = commits.get(at)?.parent) if (at === ancestor) return true
      return false
    },
    parentOf: (sha: string) => commits.get(sha)?.parent,
  }
}
