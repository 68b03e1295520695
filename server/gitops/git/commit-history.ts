import { createHash } from 'node:crypto'
import { rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Ancestry } from '../../rollout/judge/rollout-observation.ts'
import { taskTrailer } from '../plan/commit-message.ts'
import { parametersOf, parseOverrideFile } from '../plan/parse-override-file.ts'
import type { WriteBackPlan } from '../plan/plan-write-back.ts'
import { type RepositoryAddress, repositoryName } from '../plan/repository-address.ts'
import { directorySize } from './cache-limit.ts'
import type { GitAccess } from './git-access.ts'
import { GitError } from './git-error.ts'

/** Where answers that can never change are kept; replicas may share one. */
export type AncestryAnswers = {
  read(repository: string, commit: string, revision: string): Promise<Ancestry | undefined>
  write(repository: string, commit: string, revision: string, ancestry: 'descendant' | 'unrelated'): Promise<void>
}

export type CommitHistory = {
  /** Never throws. */
  ancestry(repository: string, commit: string, revision: string): Promise<Ancestry>
  /** The tags that the override file of a plan sets at a revision, by image; undefined: not known. Never throws. */
  overrideAt(plan: WriteBackPlan, revision: string): Promise<ReadonlyMap<string, string> | undefined>
  /** Remembers commits of our own push, each on top of the one before it. */
  recordPush(repository: string, base: string, commits: readonly string[]): void
  /** Commits between two revisions that bear a task's trailer, by task. @throws {GitError} */
  trailersBetween(repository: string, base: string, tip: string): Promise<ReadonlyMap<string, string>>
  /** The last commit up to `tip` that changed a file. @throws {GitError} */
  lastChange(repository: string, tip: string, file: string): Promise<string | undefined>
}

const objectId = /^[0-9a-f]{40}$/
const maxRemembered = 20_000
const pauseAfterFailureMs = 2_000
const pauseAfterMissMs = 5_000
const maxFetches = 1_000
const maxCloneBytes = 100 * 1024 * 1024
const fetchesBetweenLooks = 20
/** Commits asked for at first and, when that did not reach far enough, in all. */
const depths = [1_000, 2_147_483_647] as const

/** Answers from clones that hold commits only; fetched when a question needs it, once for all who ask meanwhile. */
export function createCommitHistory(deps: {
  readonly access: GitAccess
  readonly answers?: AncestryAnswers
  readonly nowMs: () => number
  /** The repository did not answer; what follows from it is not known for now. */
  readonly onError: (message: string, error: unknown, repository: string) => void
}): CommitHistory {
  const clones = new Map<string, CommitClone>()
  const answers = deps.answers ?? rememberedAnswers()
  const parents = new Map<string, string>()

  function cloneOf(repository: string): CommitClone {
    const address = deps.access.addressOf(repository)
    const clone = clones.get(address.text) ?? createClone(address, deps.access, deps.nowMs)
    clones.set(address.text, clone)
    return clone
  }

  function isOwnDescendant(repository: string, commit: string, revision: string): boolean {
    let at: string | undefined = revision
    while (at !== undefined && at !== commit) at = parents.get(`${repository} ${at}`)
    return at === commit
  }

  async function judge(repository: string, commit: string, revision: string): Promise<Ancestry> {
    if (commit === revision) return 'same'
    if (!objectId.test(commit) || !objectId.test(revision)) return 'unknown'
    const name = repositoryName(repository)
    if (isOwnDescendant(name, commit, revision)) return 'descendant'
    if (isOwnDescendant(name, revision, commit)) return 'unrelated'
    const answered = await answers.read(name, commit, revision)
    if (answered !== undefined) return answered
    const ancestry = await cloneOf(repository).ancestry(commit, revision)
    if (ancestry !== 'unknown') await answers.write(name, commit, revision, ancestry)
    return ancestry
  }

  /** Whoever asks while a host is left alone after a failure gets the same error again. */
  const reported = new WeakSet<object>()
  function reportOnce(repository: string, error: unknown): void {
    if (error instanceof Error && reported.has(error)) return
    if (error instanceof Error) reported.add(error)
    deps.onError('reading commits failed, retrying', error, repository)
  }

  const files = new Map<string, ReadonlyMap<string, string>>()
  async function readOverride(plan: WriteBackPlan, revision: string): Promise<ReadonlyMap<string, string>> {
    const key = `${plan.repository} ${revision} ${plan.file}`
    const values = files.get(key) ?? (await cloneOf(plan.repository).parametersAt(revision, plan.file))
    remember(files, key, values)
    const tags = plan.parameters.flatMap(({ name, image }) => {
      const value = values.get(name)
      return value === undefined ? [] : [[image, value] as const]
    })
    return new Map(tags)
  }

  return {
    ancestry: (repository, commit, revision) =>
      judge(repository, commit, revision).catch((error: unknown) => {
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
        remember(parents, `${name} ${commit}`, parent)
        parent = commit
      }
    },
    trailersBetween: (repository, base, tip) => cloneOf(repository).trailersBetween(base, tip),
    lastChange: (repository, tip, file) => cloneOf(repository).lastChange(tip, file),
  }
}

function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.set(key, value)
  const oldest = map.keys().next()
  if (map.size > maxRemembered && !oldest.done) map.delete(oldest.value)
}

function rememberedAnswers(): AncestryAnswers {
  const known = new Map<string, Ancestry>()
  return {
    read: async (...names) => known.get(names.join(' ')),
    write: async (repository, commit, revision, ancestry) =>
      remember(known, [repository, commit, revision].join(' '), ancestry),
  }
}

type CommitClone = {
  ancestry(commit: string, revision: string): Promise<'descendant' | 'unrelated' | 'unknown'>
  parametersAt(revision: string, file: string): Promise<ReadonlyMap<string, string>>
  trailersBetween(base: string, tip: string): Promise<ReadonlyMap<string, string>>
  lastChange(tip: string, file: string): Promise<string | undefined>
}

function createClone(remote: RepositoryAddress, access: GitAccess, nowMs: () => number): CommitClone {
  const directory = path.join(access.folder, `h${createHash('sha256').update(remote.text).digest('hex').slice(0, 16)}`)
  let isReady = false
  let fetches = 0
  let removing: Promise<void> | undefined
  access.caches.add(directory, discard)
  let fetching: Promise<void> | undefined
  let isComplete = false
  const missedAtMs = new Map<string, number>()
  let failed: { error: unknown; atMs: number } | undefined

  async function discard(): Promise<void> {
    isReady = false
    fetches = 0
    removing = rm(directory, { recursive: true, force: true })
    await removing
  }

  /** Each fetch leaves a pack behind, and a new clone is cheaper than a collection. */
  async function discardIfWornOut(): Promise<void> {
    fetches += 1
    const isLookDue = fetches % fetchesBetweenLooks === 0
    if (fetches > maxFetches || (isLookDue && (await directorySize(directory)) > maxCloneBytes)) await discard()
  }

  async function prepare(): Promise<void> {
    if (isReady && (await stat(directory).catch(() => undefined))) return
    await removing?.catch(() => undefined)
    await rm(directory, { recursive: true, force: true })
    await access.git(directory, undefined, ['init', '-q', '--bare', directory])
    await writeFile(path.join(directory, 'config'), cloneConfig(remote.text))
    isReady = true
    isComplete = false
  }

  async function fetchNow(depth: number): Promise<void> {
    await discardIfWornOut()
    await prepare()
    // a depth would cut a complete clone short again
    const reach = isComplete ? [] : [`--depth=${depth}`]
    const options = ['-q', ...reach, '--no-tags', '--filter=tree:0', '--no-auto-maintenance', '--no-write-fetch-head']
    await access.git(directory, remote, ['fetch', ...options, 'origin', '+refs/heads/*:refs/remotes/origin/*'])
    isComplete ||= depth === depths[1]
  }

  /** A damaged clone is made anew once. After a failure nobody asks the host again for two seconds. */
  async function fetchOrRenew(depth: number): Promise<void> {
    if (failed && nowMs() - failed.atMs < pauseAfterFailureMs) throw failed.error
    try {
      await fetchNow(depth).catch(async (error: unknown) => {
        if (!(error instanceof GitError) || error.code !== 'broken') throw error
        isReady = false
        await fetchNow(depth)
      })
      failed = undefined
    } catch (error) {
      failed = { error, atMs: nowMs() }
      throw error
    }
  }

  function fetchCommits(depth: number): Promise<void> {
    fetching ??= fetchOrRenew(depth).finally(() => {
      fetching = undefined
    })
    return fetching
  }

  /** Without a way to the network git must answer from what is here, so that a missing commit is just missing. */
  async function ask(address: RepositoryAddress | undefined, args: readonly string[]) {
    return access.ask(directory, address, args)
  }

  async function has(commit: string): Promise<boolean> {
    return isReady && (await ask(undefined, ['cat-file', '-e', `${commit}^{commit}`])).exitCode === 0
  }

  async function hasAll(commits: readonly string[]): Promise<boolean> {
    for (const commit of commits) if (!(await has(commit))) return false
    return true
  }

  /** Fetches until the commits are here, or nothing more can come. */
  async function bring(commits: readonly string[]): Promise<boolean> {
    if (await hasAll(commits)) return true
    const names = commits.join(' ')
    if (nowMs() - (missedAtMs.get(names) ?? Number.NEGATIVE_INFINITY) < pauseAfterMissMs) return false
    for (const depth of depths) {
      await fetchCommits(depth)
      if (await hasAll(commits)) return true
    }
    remember(missedAtMs, names, nowMs())
    return false
  }

  async function isAncestor(one: string, other: string): Promise<boolean> {
    return (await ask(undefined, ['merge-base', '--is-ancestor', one, other])).exitCode === 0
  }

  async function isShallow(): Promise<boolean> {
    return (await ask(undefined, ['rev-parse', '--is-shallow-repository'])).stdout.toString().trim() === 'true'
  }

  async function logOf(args: readonly string[], address: RepositoryAddress | undefined): Promise<string> {
    return (await access.git(directory, address, ['log', ...args, '--'])).toString()
  }

  return {
    async ancestry(commit, revision) {
      if (!(await bring([commit, revision]))) return 'unknown'
      if (await isAncestor(commit, revision)) return 'descendant'
      if (await isAncestor(revision, commit)) return 'unrelated'
      if (!(await isShallow())) return 'unrelated'
      await fetchCommits(depths[1])
      return (await isAncestor(commit, revision)) ? 'descendant' : 'unrelated'
    },
    async parametersAt(revision, file) {
      if (!objectId.test(revision) || !(await bring([revision]))) throw new GitError('unreachable', 'no such commit')
      const listed = await access.git(directory, remote, ['ls-tree', revision, '--', file])
      if (listed.length === 0) return new Map()
      const text = (await access.git(directory, remote, ['cat-file', 'blob', `${revision}:${file}`])).toString()
      return new Map([...parametersOf(parseOverrideFile(text))].map(([name, { value }]) => [name, value]))
    },
    async trailersBetween(base, tip) {
      if (!(await bring([tip]))) throw new GitError('unreachable', `the commit ${tip} cannot be fetched`)
      const range = (await bring([base])) ? [`${base}..${tip}`] : ['--max-count=1000', tip]
      const format = `--format=%H %(trailers:key=${taskTrailer},valueonly,separator=%x20)`
      const lines = (await logOf([format, ...range], undefined)).split('\n')
      return new Map(
        lines.flatMap((line) => {
          const [commit = '', ...tasks] = line.trim().split(/\s+/)
          return tasks.map((task) => [task, commit] as const)
        }),
      )
    },
    async lastChange(tip, file) {
      if (!(await bring([tip]))) throw new GitError('unreachable', `the commit ${tip} cannot be fetched`)
      const found = await access.git(directory, remote, ['log', '-1', '--format=%H', tip, '--', file])
      return found.toString().trim() || undefined
    },
  }
}

function cloneConfig(url: string): string {
  return [
    '[core]\n\trepositoryFormatVersion = 1\n\tbare = true\n\thooksPath = /dev/null',
    '[extensions]\n\tpartialClone = origin',
    `[remote "origin"]\n\turl = "${url}"\n\tpromisor = true\n\tpartialclonefilter = tree:0`,
    '[gc]\n\tauto = 0',
    '[transfer]\n\tfsckObjects = true\n',
  ].join('\n')
}
