import { LRUCache } from 'lru-cache'
import { editors } from '../../edit/editors.ts'
import { FileEditError, type ValuesRead } from '../../edit/file-edit.ts'
import { tagOf } from '../../edit/planned-entry.ts'
import type { WriteBackPlan } from '../../plan/plan-write-back.ts'
import { repositoryName } from '../../plan/repository-address.ts'
import type { cloneLimits } from '../access/bare-clone.ts'
import type { GitAccess } from '../access/git-access.ts'
import { type CommitClone, createCommitClone, objectId } from './commit-clone.ts'
import { createFileHistory, type FileHistory } from './file-history.ts'
import type { FileText } from './read-file-text.ts'

/** How a revision stands to a commit. `unknown`: the Git host did not answer, or does not have one of them. */
export type Ancestry = 'same' | 'descendant' | 'unrelated' | 'unknown'

/** Commits of own pushes, and files at revisions. */
const maxRemembered = 20_000

export type CommitHistory = {
  /** Never throws. */
  ancestry(repository: string, commit: string, revision: string): Promise<Ancestry>
  /** The tags that the file of a plan sets at a revision, by image; undefined: not known. Never throws. */
  overrideAt(plan: WriteBackPlan, revision: string): Promise<ReadonlyMap<string, string> | undefined>
  /** Remembers commits of our own push, each on top of the one before it. */
  recordPush(repository: string, base: string, commits: readonly string[]): void
  /** Commits between two revisions that bear a task's trailer, by task. @throws {GitError} */
  trailersBetween(repository: string, base: string, tip: string): Promise<ReadonlyMap<string, string>>
  /**
   * The commit that gave the file of a plan the plan's values, which it has at the tip of the branch; undefined: it
   * is too far back. One question at a time for each branch. @throws {GitError}
   */
  commitThatSet(plan: WriteBackPlan, branch: string, tip: string): Promise<string | undefined>
}

/**
 * Answers from clones that hold commits only. One is fetched when a question needs it, once for everything asked
 * meanwhile.
 */
export function createCommitHistory(deps: {
  readonly access: GitAccess
  readonly limits?: typeof cloneLimits
  readonly nowMs: () => number
  /** The repository did not answer; what follows from it is not known for now. */
  readonly onError: (message: string, error: unknown, repository: string) => void
}): CommitHistory {
  const clones = new Map<string, CommitClone>()
  const files = new Map<string, FileHistory>()
  const parents = new LRUCache<string, string>({ max: maxRemembered })

  function cloneOf(repository: string): CommitClone {
    const { access, limits, nowMs } = deps
    const { name } = access.addressOf(repository)
    const clone = clones.get(name) ?? createCommitClone(name, () => access.addressOf(repository), access, limits, nowMs)
    clones.set(name, clone)
    return clone
  }

  function filesOf(repository: string, branch: string): FileHistory {
    const { access } = deps
    const { name } = access.addressOf(repository)
    const key = `${name} ${branch}`
    const found = files.get(key) ?? createFileHistory(name, branch, () => access.addressOf(repository), access)
    files.set(key, found)
    return found
  }

  function isOwnDescendant(repository: string, commit: string, revision: string): boolean {
    let at: string | undefined = revision
    while (at !== undefined && at !== commit) at = parents.get(`${repository} ${at}`)
    return at === commit
  }

  async function compare(repository: string, commit: string, revision: string): Promise<Ancestry> {
    if (commit === revision) return 'same'
    if (!objectId.test(commit) || !objectId.test(revision)) return 'unknown'
    const name = repositoryName(repository)
    if (isOwnDescendant(name, commit, revision)) return 'descendant'
    if (isOwnDescendant(name, revision, commit)) return 'unrelated'
    return cloneOf(repository).ancestry(commit, revision)
  }

  /** A request during the pause after a failure gets the same error again. */
  const reported = new WeakSet<object>()
  function reportOnce(repository: string, error: unknown): void {
    if (error instanceof Error && reported.has(error)) return
    if (error instanceof Error) reported.add(error)
    deps.onError('reading commits failed, retrying', error, repository)
  }

  const tags = new LRUCache<string, ReadonlyMap<string, string> | 'unreadable'>({ max: maxRemembered })
  /** Remembers the tags alone, for a file may have thousands of other values, and that a file cannot be read. */
  async function readOverride(plan: WriteBackPlan, revision: string) {
    const { repository, file, tool, entries } = plan
    const key = JSON.stringify([
      repositoryName(repository),
      revision,
      tool,
      file,
      entries.map(({ name, image }) => [name, image]),
    ])
    const known = tags.get(key)
    if (known !== undefined) return known === 'unreadable' ? undefined : known
    const text = await cloneOf(repository).textAt(revision, editors[tool].candidates(file))
    const read = valuesIn(text, plan)
    const found = read.kind === 'values' ? tagsOf(plan, read.values) : undefined
    tags.set(key, found ?? 'unreadable')
    if (read.kind === 'invalid') throw new FileEditError(`the file ${file} at ${revision} ${read.reason}`)
    return found
  }

  return {
    ancestry: (repository, commit, revision) =>
      compare(repository, commit, revision).catch((error: unknown) => {
        reportOnce(repository, error)
        return 'unknown' as const
      }),
    overrideAt: (plan, revision) =>
      readOverride(plan, revision).catch((error: unknown) => {
        reportOnce(plan.repository, error)
        return undefined
      }),
    recordPush(repository, base, commits) {
      const name = repositoryName(repository)
      let parent = base
      for (const commit of commits) {
        parents.set(`${name} ${commit}`, parent)
        parent = commit
      }
    },
    trailersBetween: (repository, base, tip) => cloneOf(repository).trailersBetween(base, tip),
    commitThatSet: (plan, branch, tip) =>
      filesOf(plan.repository, branch).lastToSet(tip, editors[plan.tool].candidates(plan.file), (text) => {
        const read = valuesIn(text, plan)
        return read.kind === 'values' && plan.entries.every(({ name, value }) => read.values.get(name) === value)
      }),
  }
}

function valuesIn(text: FileText, { tool, entries }: WriteBackPlan): ValuesRead {
  if (typeof text === 'object') return text
  const names = entries.map(({ name }) => name)
  return text === undefined ? { kind: 'values', values: new Map() } : editors[tool].read(text, names)
}

const tagsOf = ({ tool, entries }: WriteBackPlan, values: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map(
    entries.flatMap((entry) => {
      const tag = tagOf(tool, entry, values.get(entry.name))
      return tag === undefined ? [] : [[entry.image, tag] as const]
    }),
  )
