import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseBranchName } from '../../plan/branch-name.ts'
import { parseRepositoryAddress, type RepositoryAddress } from '../../plan/repository-address.ts'
import { commitId, onParent, type Sign, withSignature } from '../access/commit-signer.ts'
import { type GitAccess, gitError } from '../access/git-access.ts'
import { GitError, machineFailure } from '../access/git-error.ts'
import { hookText, unpackText } from '../access/redact-git-text.ts'
import type { RepositoryCache } from '../access/repository-cache.ts'
import { type FileRead, maxTreeBytes, parseTree, readTreeFile, type TreeEntry } from '../history/read-tree-file.ts'
import { type CommitAuthor, type FileCommit, fastImportStream } from './fast-import-stream.ts'
import { parsePushReport, wasNeverSent } from './parse-push-report.ts'

/** `isFresh`: asked of the server by this very call, not remembered. */
export type Tip = { readonly commit: string; readonly isFresh: boolean }

export type PushOutcome =
  | { readonly kind: 'pushed'; readonly commits: readonly string[] }
  /**
   * The branch is not at the tip any more: moved on, set back or gone. The next `readTip` asks the server; if it still is
   * there, the reason is why the server could not move it.
   */
  | { readonly kind: 'lost_race'; readonly reason: string }
  /** `mayStillPush` said no; nothing was sent. */
  | { readonly kind: 'withdrawn' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'not_sent'; readonly error: GitError }
  /** The connection ended without an answer: the commits may be on the branch. */
  | { readonly kind: 'unknown'; readonly reason: string }

/** One branch of a repository, written to without a work tree by one address. All but `endCommandsAt` may throw GitError. */
export type GitRepository = {
  /** The name of the repository's default branch; the host is asked unless it said so within `maxAgeMs`. */
  readDefaultBranch(maxAgeMs: number): Promise<string>
  readTip(want: 'known' | 'fresh'): Promise<Tip>
  readFiles(tip: Tip, paths: readonly string[]): Promise<ReadonlyMap<string, FileRead>>
  /** Pushes a commit for each change, if the branch still is at `tip`. `mayStillPush` is asked last before anything is sent. */
  push(tip: Tip, commits: readonly FileCommit[], mayStillPush: () => Promise<boolean>): Promise<PushOutcome>
  /** No command goes on past that moment, or past GIT_OP_TIMEOUT. */
  endCommandsAt(atMs: number): void
  /** Throws the cache away; it is made again at the next use. */
  discardCache(): Promise<void>
  /** The next read opens it again. */
  closeReader(): void
}

type RepositoryDeps = {
  readonly access: GitAccess
  readonly author: CommitAuthor
  readonly gitOpTimeoutMs: number
  readonly nowMs: () => number
}

const storeCommits = ['hash-object', '-t', 'commit', '-w', '--stdin-paths']
const filter = '--filter=blob:limit=1k'

/** A cache serves several addresses, each with a push or fetch at a time when no other one has. */
export function openGitRepository(address: string, cache: RepositoryCache, deps: RepositoryDeps): GitRepository {
  const { access } = deps
  const { directory, branch } = cache
  const remote = readAddress(address)
  const reader = access.openReader(directory, () => remote, limitMs)
  let defaultBranch: { name: string; atMs: number } | undefined
  let endMs = Number.POSITIVE_INFINITY
  cache.onDiscard(reader.close)

  /** For one command. */
  function limitMs(): number {
    return Math.max(1, Math.min(deps.gitOpTimeoutMs, endMs - deps.nowMs()))
  }

  const ask = (args: readonly string[]) => access.git(directory, remote, args, { timeoutMs: limitMs() })

  async function readDefaultBranch(maxAgeMs: number): Promise<string> {
    if (defaultBranch && deps.nowMs() - defaultBranch.atMs < maxAgeMs) return defaultBranch.name
    const answer = (await ask(['ls-remote', '--symref', remote.text, 'HEAD'])).toString()
    const name = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(answer)?.[1]
    if (name === undefined)
      throw new GitError('branch_missing', `the repository at ${remote.host} has no default branch`)
    if (parseBranchName(name) === undefined)
      throw new GitError('branch_missing', access.redact(`the name of the default branch is not allowed: ${name}`))
    defaultBranch = { name, atMs: deps.nowMs() }
    return name
  }

  async function fetchTip(): Promise<string> {
    const ref = `refs/remotes/origin/${branch}`
    const options = ['-q', '--depth=1', '--no-tags', filter, '--no-auto-maintenance', '--no-write-fetch-head']
    try {
      await ask(['fetch', ...options, 'origin', `+refs/heads/${branch}:${ref}`])
    } catch (error) {
      if (!(error instanceof GitError) || error.code !== 'branch_missing') throw error
      const why = `a write-back needs a branch: the repository at ${remote.host} has none named ${branch}`
      throw new GitError('branch_missing', why, { cause: error })
    }
    const tip = await reader.inspect(ref)
    if (tip?.type !== 'commit') throw new GitError('broken', `the fetched branch ${branch} cannot be read`)
    return tip.oid
  }

  async function readTip(want: 'known' | 'fresh'): Promise<Tip> {
    await cache.prepare()
    if (want === 'known' && cache.knownTip !== undefined) return { commit: cache.knownTip, isFresh: false }
    const commit = await fetchTip()
    cache.knownTip = commit
    return { commit, isFresh: true }
  }

  async function readTree(oid: string): Promise<ReadonlyMap<string, TreeEntry> | undefined> {
    const { size } = (await reader.inspect(oid)) ?? { size: 0 }
    if (size > maxTreeBytes) return undefined
    const tree = await reader.read(oid)
    if (tree?.type !== 'tree') throw new GitError('broken', `the tree ${oid} cannot be read`)
    return parseTree(tree.body)
  }

  async function readBlob(oid: string) {
    const found = await reader.inspect(oid)
    if (found?.type !== 'blob') throw new GitError('broken', `the blob ${oid} cannot be read`)
    return { size: found.size, content: async () => (await reader.read(oid))?.body ?? Buffer.alloc(0) }
  }

  async function readFiles(tip: Tip, paths: readonly string[]): Promise<ReadonlyMap<string, FileRead>> {
    const root = await reader.inspect(`${tip.commit}^{tree}`)
    if (root?.type !== 'tree') throw new GitError('broken', `the commit ${tip.commit} cannot be read`)
    const trees = new Map<string, Promise<ReadonlyMap<string, TreeEntry> | undefined>>()
    const readOnce = (oid: string) => {
      const reading = trees.get(oid) ?? readTree(oid)
      trees.set(oid, reading)
      return reading
    }
    const blobs = new Set<string>()
    const note = async (oid: string) => {
      blobs.add(oid)
      return { size: 0, content: async () => Buffer.alloc(0) }
    }
    const files = new Map<string, FileRead>()
    for (const file of new Set(paths)) await readTreeFile(root.oid, file, readOnce, note)
    if (blobs.size > 1) await fetchMissing(blobs)
    for (const file of new Set(paths)) files.set(file, await readTreeFile(root.oid, file, readOnce, readBlob))
    return files
  }

  /** In one fetch: git itself makes one for each blob, when it is read. */
  async function fetchMissing(blobs: ReadonlySet<string>): Promise<void> {
    const asked = `${[...blobs].join('\n')}\n`
    const list = ['rev-list', '--objects', '--no-walk', '--ignore-missing', '--missing=print', '--stdin']
    const present = (await access.git(directory, undefined, list, { input: asked, timeoutMs: limitMs() })).toString()
    const found = new Set(present.split('\n').map((line) => line.slice(0, 40)))
    const missing = [...blobs].filter((oid) => !found.has(oid))
    if (missing.length === 0) return
    const options = [
      '-q',
      '--no-tags',
      '--filter=blob:none',
      '--no-auto-maintenance',
      '--no-write-fetch-head',
      '--stdin',
    ]
    const command = ['-c', 'fetch.negotiationAlgorithm=noop', 'fetch', ...options, 'origin']
    await access.git(directory, remote, command, { input: `${missing.join('\n')}\n`, timeoutMs: limitMs() })
  }

  async function build(tip: Tip, commits: readonly FileCommit[]): Promise<readonly string[]> {
    const stream = fastImportStream(tip.commit, commits, deps.author, Math.floor(deps.nowMs() / 1000))
    const options = ['--quiet', '--force', '--done', '--date-format=raw']
    const marks = (
      await access.git(directory, undefined, ['fast-import', ...options], { input: stream, timeoutMs: limitMs() })
    ).toString()
    const built = marks.split('\n').filter((line) => /^[0-9a-f]{40}$/.test(line))
    if (built.length !== commits.length)
      throw new GitError('broken', 'git fast-import returned fewer commits than sent')
    return access.withSigner === undefined ? built : access.withSigner((sign) => signAll(built, sign))
  }

  /** The same commits, each signed and on its signed parent: fast-import cannot sign. */
  async function signAll(built: readonly string[], sign: Sign): Promise<readonly string[]> {
    const signed = new Map<string, string>()
    let parent: string | undefined
    for (const oid of built) {
      if (deps.nowMs() >= endMs) throw new GitError('timed_out', 'signing the commits timed out')
      const commit = await reader.read(oid)
      if (commit?.type !== 'commit') throw new GitError('broken', `the commit ${oid} cannot be read`)
      const unsigned = parent === undefined ? commit.body.toString() : onParent(commit.body.toString(), parent)
      const text = withSignature(unsigned, await sign(unsigned))
      parent = commitId(text)
      signed.set(parent, text)
    }
    await store(signed)
    return [...signed.keys()]
  }

  /** All in one process, which takes one commit from its input, and many from files only. */
  async function store(commits: ReadonlyMap<string, string>): Promise<void> {
    const folder = await mkdtemp(path.join(directory, 'signed-')).catch(failOfMachine)
    try {
      const files = [...commits].map(([id, text]) => ({ file: path.join(folder, id), text }))
      await Promise.all(files.map(({ file, text }) => writeFile(file, text))).catch(failOfMachine)
      const input = files.map(({ file }) => `${file}\n`).join('')
      const stored = (await access.git(directory, undefined, storeCommits, { input, timeoutMs: limitMs() }))
        .toString()
        .trim()
        .split('\n')
      if (stored.join() !== [...commits.keys()].join())
        throw new GitError('broken', 'git stored fewer objects than sent')
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  async function push(
    tip: Tip,
    commits: readonly FileCommit[],
    mayStillPush: () => Promise<boolean>,
  ): Promise<PushOutcome> {
    const built = await build(tip, commits)
    if (!(await mayStillPush())) return { kind: 'withdrawn' }
    const outcome = await send(tip, built)
    cache.knownTip = outcome.kind === 'pushed' ? built.at(-1) : undefined
    await cache.notePush()
    return outcome
  }

  async function send(tip: Tip, built: readonly string[]): Promise<PushOutcome> {
    const target = `${built.at(-1)}:refs/heads/${branch}`
    // names the tip that the branch must have: each commit is a child of it, so nothing is ever forced
    const lease = `--force-with-lease=refs/heads/${branch}:${tip.commit}`
    const options = ['--porcelain', '--no-verify', lease]
    try {
      const command = ['push', ...options, 'origin', target]
      const { stdout, stderr } = await access.ask(directory, remote, command, { timeoutMs: limitMs() })
      return classifyPush(built, stdout.toString(), stderr)
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      return error.code === 'timed_out' ? { kind: 'unknown', reason: error.message } : { kind: 'not_sent', error }
    }
  }

  function classifyPush(built: readonly string[], stdout: string, stderr: string): PushOutcome {
    const report = parsePushReport(stdout, branch)
    switch (report.kind) {
      case 'pushed':
        return { kind: 'pushed', commits: built }
      case 'lost_race':
      case 'refused':
        return { kind: report.kind, reason: access.redact([report.reason, hookText(stderr)].join('\n')) }
      case 'passing':
        return { kind: 'not_sent', error: new GitError('unreachable', access.redact(report.reason)) }
      case 'cache_unfit':
        return { kind: 'not_sent', error: new GitError('broken', access.redact(unpackText(report.reason, stderr))) }
      case 'silent':
        return classifySilence(stderr)
    }
  }

  function classifySilence(stderr: string): PushOutcome {
    const error = gitError(stderr, remote.host, access.redact)
    return wasNeverSent(stderr) ? { kind: 'not_sent', error } : { kind: 'unknown', reason: error.message }
  }

  return {
    readDefaultBranch,
    readTip,
    readFiles,
    push,
    endCommandsAt(atMs) {
      endMs = atMs
    },
    discardCache: cache.discard,
    closeReader: reader.close,
  }
}

function failOfMachine(error: unknown): never {
  throw machineFailure(error)
}

function readAddress(text: string): RepositoryAddress {
  const address = parseRepositoryAddress(text)
  if (address === undefined) throw new GitError('repository_missing', 'repository address not allowed')
  return address
}
