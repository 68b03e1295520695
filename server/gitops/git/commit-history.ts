import { createHash } from 'node:crypto'
import { mkdir, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Ancestry } from '../../rollout/judge/rollout-observation.ts'
import type { SourceTool } from '../plan/application-source.ts'
import { taskTrailer } from '../plan/commit-message.ts'
import { tagOfKustomizeImage } from '../plan/kustomize-image.ts'
import {
  type EntriesRead,
  type InvalidOverrideFile,
  maxOverrideFileBytes,
  type OverrideEntries,
  OverrideFileError,
  tooLarge,
} from '../plan/parse-override-file.ts'
import type { WriteBackPlan } from '../plan/plan-write-back.ts'
import { type RepositoryAddress, repositoryName } from '../plan/repository-address.ts'
import { directorySize } from './cache-limit.ts'
import { createCommitGraph } from './commit-graph.ts'
import type { GitAccess } from './git-access.ts'
import { GitError, machineFailure } from './git-error.ts'
import { createObjectReader } from './object-reader.ts'

export type CommitHistory = {
  /** Never throws. */
  ancestry(repository: string, commit: string, revision: string): Promise<Ancestry>
  /** The tags that the override file of a plan sets at a revision, by image; undefined: not known. Never throws. */
  overrideAt(plan: WriteBackPlan, revision: string): Promise<ReadonlyMap<string, string> | undefined>
  /** Remembers commits of our own push, each on top of the one before it. */
  recordPush(repository: string, base: string, commits: readonly string[]): void
  /** Commits between two revisions that bear a task's trailer, by task. @throws {GitError} */
  trailersBetween(repository: string, base: string, tip: string): Promise<ReadonlyMap<string, string>>
  /** The last commit between two revisions that changed a file. @throws {GitError} */
  lastChange(repository: string, base: string, tip: string, file: string): Promise<string | undefined>
}

const objectId = /^[0-9a-f]{40}$/
const maxRemembered = 20_000
const pauseAfterFailureMs = 2_000
const pauseAfterMissMs = 5_000
/** A clone that has grown beyond them is replaced by a new one. */
const cloneLimits = { fetches: 1_000, bytes: 100 * 1024 * 1024 }
const fetchesBetweenChecks = 20
/** A reader process that nobody asks for so long is ended. */
const readerIdleMs = 10_000
/** Far enough for most questions, and for all: a task does not last for so many commits. */
const depths = { first: 1_000, max: 100_000 } as const
const maxCommits = 200_000
const commitsInARow = 1_000

/**
 * Answers from clones that hold commits only. One is fetched when a question needs it, once for everything asked
 * meanwhile; its commits are then read into memory, and asked there.
 */
export function createCommitHistory(deps: {
  readonly access: GitAccess
  /** Reads override files in a thread of its own, for a limited time. */
  readonly editor: {
    readEntries(
      request: { readonly text: string; readonly tool: SourceTool },
      isWanted: () => boolean,
    ): Promise<EntriesRead | { readonly kind: 'exhausted'; readonly reason: string } | { readonly kind: 'postponed' }>
  }
  readonly limits?: typeof cloneLimits
  readonly nowMs: () => number
  /** The repository did not answer; what follows from it is not known for now. */
  readonly onError: (message: string, error: unknown, repository: string) => void
}): CommitHistory {
  const clones = new Map<string, CommitClone>()
  const parents = new Map<string, string>()

  function cloneOf(repository: string): CommitClone {
    const address = deps.access.addressOf(repository)
    const clone = clones.get(address.text) ?? createClone(address, deps.access, deps.limits ?? cloneLimits, deps.nowMs)
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
    return cloneOf(repository).ancestry(commit, revision)
  }

  /** Whoever asks while a host is left alone after a failure gets the same error again. */
  const reported = new WeakSet<object>()
  function reportOnce(repository: string, error: unknown): void {
    if (error instanceof Error && reported.has(error)) return
    if (error instanceof Error) reported.add(error)
    deps.onError('reading commits failed, retrying', error, repository)
  }

  const tags = new Map<string, ReadonlyMap<string, string> | undefined>()
  /** Remembers the tags alone, for a file may have thousands of other values, and that a file cannot be read. */
  async function readOverride(plan: WriteBackPlan, revision: string) {
    const { repository, file, tool, entries } = plan
    const key = JSON.stringify([repository, revision, tool, file, entries.map(({ name, image }) => [name, image])])
    if (tags.has(key)) return tags.get(key)
    const text = await cloneOf(repository).textAt(revision, file)
    const read =
      typeof text === 'string' ? await deps.editor.readEntries({ text, tool }, () => true) : (text ?? noEntries)
    if (read.kind === 'postponed') return undefined
    remember(tags, key, read.kind === 'entries' ? tagsOf(plan, read.entries) : undefined)
    if (read.kind !== 'entries') throw new OverrideFileError(`the override file ${file} at ${revision} ${read.reason}`)
    return tags.get(key)
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
    lastChange: (repository, base, tip, file) => cloneOf(repository).lastChange(base, tip, file),
  }
}

const noEntries: EntriesRead = { kind: 'entries', entries: new Map() }

const tagsOf = ({ tool, entries }: WriteBackPlan, found: OverrideEntries): ReadonlyMap<string, string> =>
  new Map(
    entries.flatMap(({ name, image }) => {
      const value = found.get(name)?.value
      const tag = value !== undefined && tool === 'kustomize' ? tagOfKustomizeImage(value, image) : value
      return tag === undefined ? [] : [[image, tag] as const]
    }),
  )

function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.set(key, value)
  const oldest = map.keys().next()
  if (map.size > maxRemembered && !oldest.done) map.delete(oldest.value)
}

type CommitClone = {
  ancestry(commit: string, revision: string): Promise<'descendant' | 'unrelated' | 'unknown'>
  textAt(revision: string, file: string): Promise<string | InvalidOverrideFile | undefined>
  trailersBetween(base: string, tip: string): Promise<ReadonlyMap<string, string>>
  lastChange(base: string, tip: string, file: string): Promise<string | undefined>
}

function createClone(
  remote: RepositoryAddress,
  access: GitAccess,
  limits: typeof cloneLimits,
  nowMs: () => number,
): CommitClone {
  const directory = path.join(access.folder, `h${createHash('sha256').update(remote.text).digest('hex').slice(0, 16)}`)
  const reader = createObjectReader({
    environment: () => access.environment(directory, remote),
    isCurrent: access.isCurrent,
    timeoutMs: () => access.commandLimitMs,
    onTimeOut: access.leaveConnection,
  })
  let readerTimer: NodeJS.Timeout | undefined
  let graph = createCommitGraph()
  let isReady = false
  /** More depth would bring nothing. */
  let isDeep = false
  let fetches = 0
  let removing: Promise<void> | undefined
  access.caches.add(directory, discard)
  let fetching: Promise<void> | undefined
  const missedAtMs = new Map<string, number>()
  let failed: { error: unknown; atMs: number } | undefined

  async function discard(): Promise<void> {
    reader.close()
    isReady = false
    isDeep = false
    fetches = 0
    graph = createCommitGraph()
    removing = rm(directory, { recursive: true, force: true })
    await removing
  }

  /** Each fetch leaves a pack behind, and a new clone is cheaper than a collection. */
  async function discardIfWornOut(): Promise<void> {
    const isCheckDue = fetches % fetchesBetweenChecks === 0
    const isTooLarge = isCheckDue && (await directorySize(directory)) > limits.bytes
    if (fetches >= limits.fetches || graph.size() > maxCommits || isTooLarge) await discard()
  }

  async function prepare(): Promise<void> {
    if (isReady && (await isThere(directory))) return
    await removing?.catch(() => undefined)
    try {
      await discard()
      // what `git init` would make, without a process
      for (const folder of ['objects', 'refs']) await mkdir(path.join(directory, folder), { recursive: true })
      await writeFile(path.join(directory, 'HEAD'), 'ref: refs/heads/main\n')
      await writeFile(path.join(directory, 'config'), cloneConfig(remote.text))
    } catch (error) {
      throw machineFailure(error)
    }
    isReady = true
  }

  async function fetchNow(depth: number): Promise<void> {
    await discardIfWornOut()
    await prepare()
    // a depth would cut a deeper clone short again
    const reach = isDeep ? [] : [`--depth=${depth}`]
    const options = ['-q', ...reach, '--no-tags', '--filter=tree:0', '--no-auto-maintenance', '--no-write-fetch-head']
    fetches += 1
    await access.git(directory, remote, ['fetch', ...options, 'origin', '+refs/heads/*:refs/remotes/origin/*'])
    const isDeeper = !isDeep && depth === depths.max
    await readCommits(isDeeper)
    isDeep ||= isDeeper || !(await isThere(path.join(directory, 'shallow')))
  }

  /** Those that are new, or all of them where the ends of the graph have got parents now. */
  async function readCommits(isDeeper: boolean): Promise<void> {
    const known = graph.heads().map((head) => `${isDeeper ? '' : '^'}${head}\n`)
    const read = isDeeper ? createCommitGraph() : graph
    const trailers = `%(trailers:key=${taskTrailer},valueonly,unfold,separator=%x20)`
    const order = ['--date-order', '--reverse', `--max-count=${maxCommits}`]
    const command = ['log', '-z', `--format=%H %P%x09${trailers}`, ...order, '--remotes', '--stdin']
    const text = (await access.git(directory, undefined, command, { input: known.join('') })).toString()
    for (const [at, entry] of text.split('\0').entries()) {
      const [ids = '', tasks = ''] = entry.split('\t')
      const [commit = '', ...parents] = ids.split(' ').filter((id) => objectId.test(id))
      if (commit !== '') read.add(commit, parents, tasks.split(/\s+/).filter(Boolean))
      if (at % commitsInARow === 0) await setImmediate() // others wait meanwhile
    }
    graph = read
  }

  /** A damaged clone is made anew once. */
  async function orRenewed<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof GitError) || error.code !== 'broken') throw error
      await discard()
      return work()
    }
  }

  /** After a failure nobody asks the host again for two seconds. */
  async function fetchOrFail(depth: number): Promise<void> {
    if (failed && nowMs() - failed.atMs < pauseAfterFailureMs) throw failed.error
    try {
      await orRenewed(() => fetchNow(depth))
      failed = undefined
    } catch (error) {
      failed = { error, atMs: nowMs() }
      throw error
    }
  }

  function fetchCommits(depth: number): Promise<void> {
    fetching ??= fetchOrFail(depth).finally(() => {
      fetching = undefined
    })
    return fetching
  }

  async function deepen(): Promise<void> {
    while (!isDeep) await fetchCommits(depths.max) // the first may be one that was under way
  }

  /** Fetches until the commits are here, or nothing more can come. */
  async function bring(commits: readonly string[]): Promise<boolean> {
    const missing = () => commits.filter((commit) => !graph.has(commit))
    if (missing().some(wasMissed)) return false
    if (missing().length > 0) await fetching?.catch(() => undefined) // it may have begun before they were pushed
    if (missing().length > 0) await fetchCommits(depths.first)
    if (missing().length > 0) await deepen()
    for (const commit of missing()) remember(missedAtMs, commit, nowMs())
    return missing().length === 0
  }

  const wasMissed = (commit: string) =>
    nowMs() - (missedAtMs.get(commit) ?? Number.NEGATIVE_INFINITY) < pauseAfterMissMs

  async function ancestry(commit: string, revision: string) {
    if (!(await bring([commit, revision]))) return 'unknown'
    const known = graph.ancestry(commit, revision)
    if (known !== undefined) return known
    await deepen()
    return graph.ancestry(commit, revision) ?? 'unrelated'
  }

  async function readFile(revision: string, file: string): Promise<string | InvalidOverrideFile | undefined> {
    if (!objectId.test(revision) || !(await bring([revision]))) throw new GitError('unreachable', 'no such commit')
    clearTimeout(readerTimer)
    const name = `${revision}:${file}`
    const isTooLarge = ((await reader.inspect(name))?.size ?? 0) > maxOverrideFileBytes
    const found = isTooLarge ? undefined : await reader.read(name)
    readerTimer = setTimeout(reader.close, readerIdleMs).unref()
    return isTooLarge ? { kind: 'invalid', reason: tooLarge } : found?.body.toString()
  }

  async function bringTip(tip: string): Promise<void> {
    if (!(await bring([tip]))) throw new GitError('unreachable', `the commit ${tip} cannot be fetched`)
  }

  return {
    ancestry,
    textAt: (revision, file) => orRenewed(() => readFile(revision, file)),
    async trailersBetween(base, tip) {
      await bringTip(tip)
      await ancestry(base, tip) // the graph reaches from one to the other then
      return graph.tasksBetween(base, tip)
    },
    async lastChange(base, tip, file) {
      await bringTip(tip)
      if (base === tip || (await ancestry(base, tip)) !== 'descendant') return undefined
      const range = [`${base}..${tip}`, '--']
      const trees = await access.git(directory, undefined, ['log', '--format=%T', '--boundary', ...range])
      // all at once, with what is in them: git itself would fetch them one by one
      const options = ['-q', '--refetch', '--no-tags', '--filter=blob:none', '--no-auto-maintenance']
      const command = ['fetch', ...options, '--no-write-fetch-head', '--stdin', 'origin']
      await access.git(directory, remote, command, { input: trees })
      const found = await access.git(directory, undefined, ['log', '-1', '--format=%H', ...range, file])
      return found.toString().trim() || undefined
    },
  }
}

/**
 * Without `transfer.fsckObjects`: it rejects a history for one odd date of an old import, and git ignores `fetch.fsck.*` in
 * a partial clone. What it guards against acts in a work tree, and a clone of commits has none.
 */
function cloneConfig(url: string): string {
  return [
    '[core]\n\trepositoryFormatVersion = 1\n\tbare = true\n\thooksPath = /dev/null',
    '[extensions]\n\tpartialClone = origin',
    `[remote "origin"]\n\turl = "${url}"\n\tpromisor = true\n\tpartialclonefilter = tree:0`,
    '[gc]\n\tauto = 0\n',
  ].join('\n')
}

async function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}
