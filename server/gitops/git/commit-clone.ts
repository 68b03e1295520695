import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { LRUCache } from 'lru-cache'
import type { RepositoryAddress } from '../plan/repository-address.ts'
import { type cloneLimits, createBareClone } from './bare-clone.ts'
import { createCommitGraph } from './commit-graph.ts'
import type { GitAccess } from './git-access.ts'
import { GitError } from './git-error.ts'
import { type Commit, parseCommit } from './parse-commit.ts'
import { type OverrideText, readOverrideText } from './read-override-text.ts'

/** A clone that holds the commits of all branches, and their graph in memory. All of it may throw GitError. */
export type CommitClone = {
  ancestry(commit: string, revision: string): Promise<'descendant' | 'unrelated' | 'unknown'>
  textAt(revision: string, file: string): Promise<OverrideText>
  trailersBetween(base: string, tip: string): Promise<ReadonlyMap<string, string>>
}

export const objectId = /^[0-9a-f]{40}$/
const pauseAfterFailureMs = 2_000
const pauseAfterMissMs = 5_000
/** Far enough for most questions, and for all: a task does not last for so many commits. */
const depths = { first: 1_000, max: 100_000 } as const
const maxCommits = 200_000
const maxMissed = 20_000
/** A larger commit counts as one without parents. */
const maxCommitBytes = 1024 * 1024

export function createCommitClone(
  name: string,
  address: () => RepositoryAddress,
  access: GitAccess,
  limits: typeof cloneLimits | undefined,
  nowMs: () => number,
): CommitClone {
  const clone = createBareClone(access, { name, prefix: 'h', filter: 'tree:0', onDiscard, ...(limits && { limits }) })
  const { directory, discard } = clone
  const reader = access.openReader(directory, address)
  let graph = createCommitGraph()
  /** More depth would bring nothing. */
  let isDeep = false
  let discards = 0
  let fetching: Promise<void> | undefined
  const missedAtMs = new LRUCache<string, number>({ max: maxMissed })
  let failed: { error: unknown; atMs: number } | undefined

  function onDiscard(): void {
    reader.close()
    isDeep = false
    discards += 1
    graph = createCommitGraph()
  }

  async function fetchNow(depth: number): Promise<void> {
    if (graph.size() > maxCommits) await discard()
    await clone.prepareFetch()
    // a depth would cut a deeper clone short again
    const reach = isDeep ? [] : [`--depth=${depth}`]
    const options = ['-q', ...reach, '--no-tags', '--filter=tree:0', '--no-auto-maintenance']
    await access.git(directory, address(), ['fetch', ...options, 'origin', '+refs/heads/*:refs/remotes/origin/*'])
    const isDeeper = !isDeep && depth === depths.max
    const read = isDeeper ? createCommitGraph() : graph // the ends of the graph have got parents now
    const ends = await idsIn('shallow')
    await readCommits(read, ends)
    graph = read
    isDeep ||= isDeeper || ends.size === 0
  }

  /** Those that are new, from the branches to the ends of the clone: the reader is there anyway, another process is not. */
  async function readCommits(into: typeof graph, ends: ReadonlySet<string>): Promise<void> {
    const open = [...(await idsIn('FETCH_HEAD'))]
    const seen = new Map<string, Commit>()
    for (let id = open.at(-1); id !== undefined && into.size() <= maxCommits; id = open.at(-1)) {
      const commit = into.has(id) ? rootless : (seen.get(id) ?? (await readCommit(id)))
      const parents = ends.has(id) ? [] : commit.parents
      const missing = parents.filter((parent) => !into.has(parent))
      if (missing.length === 0) {
        into.add(id, parents, commit.tasks)
        open.pop()
      } else {
        seen.set(id, commit)
        open.push(...missing)
      }
    }
  }

  async function readCommit(id: string): Promise<Commit> {
    const found = await reader.inspect(id)
    if (found === undefined) throw new GitError('broken', `the commit ${id} cannot be read`)
    if (found.type !== 'commit' || found.size > maxCommitBytes) return rootless
    return parseCommit((await reader.read(id))?.body.toString() ?? '')
  }

  /** At the beginnings of the lines of one of git's own files. */
  async function idsIn(file: string): Promise<ReadonlySet<string>> {
    const text = await readFile(path.join(directory, file), 'utf8').catch(() => '')
    return structuredClone(new Set(text.match(/^[0-9a-f]{40}/gm))) // copied, as in parse-commit.ts
  }

  /** A damaged clone is made anew once, for all that meet the damage meanwhile. */
  async function orRenewed<T>(work: () => Promise<T>): Promise<T> {
    const before = discards
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof GitError) || error.code !== 'broken') throw error
      if (discards === before) await discard()
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
    for (const commit of missing()) missedAtMs.set(commit, nowMs())
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

  async function readText(revision: string, file: string): Promise<OverrideText> {
    if (!objectId.test(revision) || !(await bring([revision]))) throw new GitError('unreachable', 'no such commit')
    return readOverrideText(reader, revision, file)
  }

  return {
    ancestry,
    textAt: (revision, file) => orRenewed(() => readText(revision, file)),
    async trailersBetween(base, tip) {
      if (!(await bring([tip]))) throw new GitError('unreachable', `the commit ${tip} cannot be fetched`)
      await ancestry(base, tip) // the graph reaches from one to the other then
      return graph.tasksBetween(base, tip)
    },
  }
}

const rootless: Commit = { parents: [], tasks: [] }
