import { createHash } from 'node:crypto'
import { rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { defaultBranch } from '../plan/branch-name.ts'
import { parseRepositoryAddress, type RepositoryAddress } from '../plan/repository-address.ts'
import { directorySize } from './cache-limit.ts'
import { type CommitAuthor, type FileCommit, fastImportStream } from './fast-import-stream.ts'
import { type GitAccess, gitError } from './git-access.ts'
import { GitError, machineFailure } from './git-error.ts'
import { createObjectReader } from './object-reader.ts'
import { parsePushReport, wasNeverSent } from './parse-push-report.ts'
import { type FileRead, parseTree, readTreeFile, type TreeEntry } from './read-tree-file.ts'
import { hookText, unpackText } from './redact-git-text.ts'

/** `isFresh`: asked of the server by this very call, not remembered. */
export type Tip = { readonly commit: string; readonly branch: string; readonly isFresh: boolean }

export type PushOutcome =
  | { readonly kind: 'pushed'; readonly commits: readonly string[] }
  /** The branch is not at the tip any more: moved on, set back or gone. The next `readTip` asks the server. */
  | { readonly kind: 'lost_race' }
  /** `mayStillPush` said no; nothing was sent. */
  | { readonly kind: 'withdrawn' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'not_sent'; readonly error: GitError }
  /** The connection ended without an answer: the commits may be on the branch. */
  | { readonly kind: 'unknown'; readonly reason: string }

/** One branch of a repository, written to without a work tree. All but `close` may throw GitError. */
export type GitRepository = {
  readTip(want: 'known' | 'fresh'): Promise<Tip>
  readFiles(tip: Tip, paths: readonly string[]): Promise<ReadonlyMap<string, FileRead>>
  /** Pushes a commit for each change, if the branch still is at `tip`. `mayStillPush` is asked last before anything is sent. */
  push(tip: Tip, commits: readonly FileCommit[], mayStillPush: () => Promise<boolean>): Promise<PushOutcome>
  /** No command goes on past that moment, or past GIT_OP_TIMEOUT. */
  endCommandsAt(atMs: number): void
  /** Throws the cache away; it is made anew at the next use. */
  discardCache(): Promise<void>
  /** Ends the living reader process; the cache stays. */
  rest(): void
}

type RepositoryDeps = {
  readonly access: GitAccess
  readonly author: CommitAuthor
  readonly gitOpTimeoutMs: number
  readonly nowMs: () => number
}

const maxPushes = 1_000
const maxCacheBytes = 100 * 1024 * 1024
const pushesBetweenChecks = 50
const defaultBranchHoldsMs = 60_000
const filter = '--filter=blob:limit=1k'

export function openGitRepository(address: string, branch: string, deps: RepositoryDeps): GitRepository {
  const { access } = deps
  const remote = readAddress(address)
  const directory = path.join(
    access.folder,
    createHash('sha256').update(`${address} ${branch}`).digest('hex').slice(0, 16),
  )
  const reader = createObjectReader({
    environment: () => access.environment(directory, remote),
    timeoutMs: limitMs,
    onTimeOut: access.leaveConnection,
  })
  let isReady = false
  let known: string | undefined
  let resolved: { branch: string; atMs: number } | undefined
  let pushes = 0
  let isWornOut = false
  let endMs = Number.POSITIVE_INFINITY
  let removing: Promise<void> | undefined
  access.caches.add(directory, discardCache)

  /** For one command. */
  function limitMs(): number {
    return Math.max(1, Math.min(deps.gitOpTimeoutMs, endMs - deps.nowMs()))
  }

  async function prepare(): Promise<void> {
    if (isWornOut || (isReady && !(await isThere(directory)))) await discardCache()
    if (isReady) return
    await removing
    try {
      await rm(directory, { recursive: true, force: true })
      await access.git(directory, undefined, ['init', '-q', '--bare', directory])
      await writeFile(path.join(directory, 'config'), cacheConfig(remote.text))
    } catch (error) {
      throw machineFailure(error)
    }
    isReady = true
  }

  async function discardCache(): Promise<void> {
    reader.close()
    isReady = false
    isWornOut = false
    known = undefined
    pushes = 0
    removing = rm(directory, { recursive: true, force: true }).catch(() => undefined) // the next use reports it
    await removing
  }

  const ask = (args: readonly string[]) => access.git(directory, remote, args, { timeoutMs: limitMs() })

  /** The branch's own name, which for the default branch only the server knows. */
  async function branchName(): Promise<string> {
    if (branch !== defaultBranch) return branch
    if (resolved && deps.nowMs() - resolved.atMs < defaultBranchHoldsMs) return resolved.branch
    const answer = (await ask(['ls-remote', '--symref', 'origin', 'HEAD'])).toString()
    const name = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(answer)?.[1]
    if (name === undefined) throw new GitError('branch_missing', 'the repository has no default branch')
    if (name !== resolved?.branch) known = undefined
    resolved = { branch: name, atMs: deps.nowMs() }
    return name
  }

  async function fetchTip(name: string): Promise<string> {
    const ref = `refs/remotes/origin/${name}`
    const options = ['-q', '--depth=1', '--no-tags', filter, '--no-auto-maintenance', '--no-write-fetch-head']
    try {
      await ask(['fetch', ...options, 'origin', `+refs/heads/${name}:${ref}`])
    } catch (error) {
      if (!(error instanceof GitError) || error.code !== 'branch_missing') throw error
      throw new GitError(
        'branch_missing',
        `a write-back needs a branch: the repository at ${remote.host} has none named ${name}`,
        {
          cause: error,
        },
      )
    }
    const tip = await reader.inspect(ref)
    if (tip?.type !== 'commit') throw new GitError('broken', `the fetched branch ${name} cannot be read`)
    return tip.oid
  }

  async function readTip(want: 'known' | 'fresh'): Promise<Tip> {
    await prepare()
    const askedAtMs = deps.nowMs()
    const name = await branchName()
    if (want === 'known' && known !== undefined) return { commit: known, branch: name, isFresh: false }
    const wasRemembered = resolved !== undefined && resolved.atMs < askedAtMs
    try {
      known = await fetchTip(name)
    } catch (error) {
      if (!wasRemembered || !(error instanceof GitError) || error.code !== 'branch_missing') throw error
      resolved = undefined // the default branch has another name now
      return readTip('fresh')
    }
    return { commit: known, branch: name, isFresh: true }
  }

  async function readTree(oid: string): Promise<ReadonlyMap<string, TreeEntry>> {
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
    const trees = new Map<string, Promise<ReadonlyMap<string, TreeEntry>>>()
    const readOnce = (oid: string) => {
      const reading = trees.get(oid) ?? readTree(oid)
      trees.set(oid, reading)
      return reading
    }
    const files = new Map<string, FileRead>()
    for (const file of new Set(paths)) files.set(file, await readTreeFile(root.oid, file, readOnce, readBlob))
    return files
  }

  async function build(tip: Tip, commits: readonly FileCommit[]): Promise<readonly string[]> {
    const stream = fastImportStream(tip.commit, commits, deps.author, Math.floor(deps.nowMs() / 1000))
    const options = ['--quiet', '--force', '--done', '--date-format=raw']
    const marks = (await access.git(directory, undefined, ['fast-import', ...options], { input: stream })).toString()
    const built = marks.split('\n').filter((line) => /^[0-9a-f]{40}$/.test(line))
    if (built.length !== commits.length) throw new GitError('broken', 'git did not build all commits')
    return built
  }

  async function push(
    tip: Tip,
    commits: readonly FileCommit[],
    mayStillPush: () => Promise<boolean>,
  ): Promise<PushOutcome> {
    const built = await build(tip, commits)
    if (!(await mayStillPush())) return { kind: 'withdrawn' }
    const outcome = await send(tip, built)
    known = outcome.kind === 'pushed' ? built.at(-1) : undefined
    await noteWear()
    return outcome
  }

  async function send(tip: Tip, built: readonly string[]): Promise<PushOutcome> {
    const target = `${built.at(-1)}:refs/heads/${tip.branch}`
    // names the tip that the branch must have: each commit is a child of it, so nothing is ever forced
    const lease = `--force-with-lease=refs/heads/${tip.branch}:${tip.commit}`
    const options = ['--porcelain', '--no-verify', lease]
    try {
      const command = ['push', ...options, 'origin', target]
      const { stdout, stderr } = await access.ask(directory, remote, command, { timeoutMs: limitMs() })
      return judgePush(tip.branch, built, stdout.toString(), stderr)
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      return error.code === 'timed_out' ? { kind: 'unknown', reason: error.message } : { kind: 'not_sent', error }
    }
  }

  function judgePush(branch: string, built: readonly string[], stdout: string, stderr: string): PushOutcome {
    const report = parsePushReport(stdout, branch)
    switch (report.kind) {
      case 'pushed':
        return { kind: 'pushed', commits: built }
      case 'lost_race':
        return report
      case 'refused':
        return { kind: 'refused', reason: access.redact([report.reason, hookText(stderr)].join('\n')) }
      case 'passing':
        return { kind: 'not_sent', error: new GitError('unreachable', access.redact(report.reason)) }
      case 'cache_unfit':
        return { kind: 'not_sent', error: new GitError('broken', access.redact(unpackText(report.reason, stderr))) }
      case 'silent':
        return judgeSilence(stderr)
    }
  }

  function judgeSilence(stderr: string): PushOutcome {
    const error = gitError(stderr, remote.host, access.redact)
    return wasNeverSent(stderr) ? { kind: 'not_sent', error } : { kind: 'unknown', reason: error.message }
  }

  /** Each push leaves a few files behind, and a new cache is cheaper than a collection. */
  async function noteWear(): Promise<void> {
    pushes += 1
    const isCheckDue = pushes % pushesBetweenChecks === 0
    isWornOut = pushes >= maxPushes || (isCheckDue && (await directorySize(directory)) > maxCacheBytes)
  }

  return {
    readTip,
    readFiles,
    push,
    endCommandsAt(atMs) {
      endMs = atMs
    },
    discardCache,
    rest: () => reader.close(),
  }
}

function readAddress(text: string): RepositoryAddress {
  const address = parseRepositoryAddress(text)
  if (address === undefined) throw new GitError('repository_missing', 'repository address not allowed')
  return address
}

/** The address cannot hold a quote or a backslash: its grammar has none. */
function cacheConfig(url: string): string {
  return [
    '[core]\n\trepositoryFormatVersion = 1\n\tbare = true\n\tabbrev = 40\n\thooksPath = /dev/null',
    '[extensions]\n\tpartialClone = origin',
    `[remote "origin"]\n\turl = "${url}"\n\tpromisor = true\n\tpartialclonefilter = blob:limit=1k`,
    '[gc]\n\tauto = 0',
    '[transfer]\n\tfsckObjects = true',
    '[submodule]\n\trecurse = false\n',
  ].join('\n')
}

async function isThere(directory: string): Promise<boolean> {
  return stat(directory).then(
    () => true,
    () => false,
  )
}
