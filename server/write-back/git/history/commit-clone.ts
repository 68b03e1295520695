import { existsSync } from 'node:fs'
import path from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { RepositoryAddress } from '../../plan/repository-address.ts'
import { type cloneLimits, createBareClone } from '../access/bare-clone.ts'
import type { GitAccess } from '../access/git-access.ts'
import { GitError } from '../access/git-error.ts'
import { type FileText, readFileText } from './read-file-text.ts'

/** A clone that holds the commits of all branches. All of it may throw GitError. */
export type CommitClone = {
  ancestry(commit: string, revision: string): Promise<'descendant' | 'unrelated' | 'unknown'>
  /** Of the first of the files that is there. */
  textAt(revision: string, files: readonly string[]): Promise<FileText>
  trailersBetween(base: string, tip: string): Promise<ReadonlyMap<string, string>>
}

export const objectId = /^[0-9a-f]{40}$/
const pauseAfterFailureMs = 2_000
const pauseAfterMissMs = 5_000
/** Far enough for most questions, and for all: a task does not last for so many commits. */
const depths = { first: 1_000, max: 100_000 } as const
const maxRemembered = 20_000
const trailers = '%(trailers:key=Watcher-Task,valueonly,unfold,separator=%x20)'

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
  let isFetched = false
  /** More depth would bring nothing. */
  let isDeep = false
  let discards = 0
  let fetching: Promise<void> | undefined
  const here = new LRUCache<string, true>({ max: maxRemembered })
  const missedAtMs = new LRUCache<string, number>({ max: maxRemembered })
  let failed: { error: unknown; atMs: number } | undefined

  function onDiscard(): void {
    reader.close()
    isFetched = false
    isDeep = false
    discards += 1
    here.clear()
  }

  async function fetchNow(depth: number): Promise<void> {
    await clone.prepareFetch()
    // a depth would cut a deeper clone short again
    const reach = isDeep ? [] : [`--depth=${depth}`]
    const options = ['-q', ...reach, '--no-tags', '--filter=tree:0', '--no-auto-maintenance', '--no-write-fetch-head']
    await access.git(directory, address(), ['fetch', ...options, 'origin', '+refs/heads/*:refs/remotes/origin/*'])
    isFetched = true
    const isShallow = existsSync(path.join(directory, 'shallow'))
    isDeep ||= depth === depths.max || !isShallow
  }

  /** Without the address of the host, so that what is missing is not fetched. */
  async function revList(options: readonly string[], revisions: readonly string[]): Promise<ReadonlySet<string>> {
    const input = `${revisions.join('\n')}\n`
    const listed = await access.git(directory, undefined, ['rev-list', ...options, '--stdin'], { input })
    return new Set(listed.toString().split('\n'))
  }

  const findHere = together(async (commits) => {
    const options = ['--no-walk', '--ignore-missing', '--missing=allow-any']
    const found = isFetched ? await revList(options, commits) : new Set()
    return new Map(commits.map((commit) => [commit, found.has(commit)]))
  })

  async function isHere(commit: string): Promise<boolean> {
    if (here.has(commit)) return true
    const isFound = (await findHere(commit)) === true
    if (isFound) here.set(commit, true)
    return isFound
  }

  /** By `<revision> <commit>`; a pair that the clone does not reach far enough for is left out. */
  const compareHere = together(async (pairs) => {
    const answers = new Map<string, 'descendant' | 'unrelated'>()
    const byRevision = Map.groupBy(pairs, (pair) => pair.slice(0, pair.indexOf(' ')))
    for (const [revision, ofRevision] of byRevision) {
      const commits = ofRevision.map((pair) => pair.slice(revision.length + 1))
      const lacking = await revList([], [...commits, `^${revision}`])
      const others = commits.filter((commit) => lacking.has(commit))
      const later = others.length === 0 ? lacking : await revList(['--ancestry-path'], [...others, `^${revision}`])
      for (const commit of commits) {
        const key = `${revision} ${commit}`
        if (!lacking.has(commit)) answers.set(key, 'descendant')
        else if (later.has(commit)) answers.set(key, 'unrelated')
        else if (isDeep) answers.set(key, await judgeAlone(commit, revision))
      }
    }
    return answers
  })

  /** Where the times of commits are wrong, `rev-list` may end too early to see that one is an ancestor. */
  async function judgeAlone(commit: string, revision: string) {
    const { exitCode } = await access.ask(directory, undefined, ['merge-base', '--is-ancestor', commit, revision])
    if (exitCode > 1) throw new GitError('broken', `git merge-base of ${commit} and ${revision} ended with ${exitCode}`)
    return exitCode === 0 ? 'descendant' : 'unrelated'
  }

  /** A damaged clone is recreated once, for all that meet the damage meanwhile. */
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

  /** After a failure the host is not asked again for two seconds. */
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
    const findMissing = async () => {
      const found = await Promise.all(commits.map(isHere))
      return commits.filter((_, at) => !found[at])
    }
    let missing = await findMissing()
    if (missing.some(wasMissed)) return false
    // a fetch that is under way may have begun before they were pushed
    for (const step of [() => fetching?.catch(() => undefined), () => fetchCommits(depths.first), deepen]) {
      if (missing.length === 0) return true
      await step()
      missing = await findMissing()
    }
    for (const commit of missing) missedAtMs.set(commit, nowMs())
    return missing.length === 0
  }

  const wasMissed = (commit: string) =>
    nowMs() - (missedAtMs.get(commit) ?? Number.NEGATIVE_INFINITY) < pauseAfterMissMs

  async function compare(commit: string, revision: string) {
    if (!(await bring([commit, revision]))) return 'unknown'
    const pair = `${revision} ${commit}`
    const known = await compareHere(pair)
    if (known !== undefined) return known
    await deepen() // in a shallow clone it proves nothing that neither reaches the other
    return (await compareHere(pair)) ?? 'unknown'
  }

  async function findTrailers(base: string, tip: string): Promise<ReadonlyMap<string, string>> {
    if (!(await bring([tip]))) throw new GitError('unreachable', `the commit ${tip} cannot be fetched`)
    await compare(base, tip) // the clone reaches from one to the other then
    const range = (await isHere(base)) ? [tip, `^${base}`] : [tip]
    const log = await access.git(directory, undefined, ['log', `--format=%H ${trailers}`, ...range])
    const lines = log.toString().split('\n')
    return new Map(
      lines.flatMap((line) => {
        const [commit = '', ...tasks] = line.split(' ')
        return tasks.filter(Boolean).map((task) => [task, commit] as const)
      }),
    )
  }

  async function readText(revision: string, files: readonly string[]): Promise<FileText> {
    if (!objectId.test(revision) || !(await bring([revision]))) throw new GitError('unreachable', 'no such commit')
    return readFileText(reader, revision, files)
  }

  return {
    ancestry: (commit, revision) => orRenewed(() => compare(commit, revision)),
    textAt: (revision, files) => orRenewed(() => readText(revision, files)),
    trailersBetween: (base, tip) => orRenewed(() => findTrailers(base, tip)),
  }
}

/** Questions of one turn, and those that come while git answers others, are answered by its next process together. */
function together<Answer>(answer: (questions: readonly string[]) => Promise<ReadonlyMap<string, Answer>>) {
  let waiting = new Set<string>()
  let next: Promise<ReadonlyMap<string, Answer>> | undefined
  let last: Promise<unknown> = Promise.resolve()

  function answerWaiting(): Promise<ReadonlyMap<string, Answer>> {
    const questions = [...waiting]
    waiting = new Set()
    next = undefined
    return answer(questions)
  }

  return async (question: string): Promise<Answer | undefined> => {
    waiting.add(question)
    next ??= last
      .catch(() => undefined)
      .then(() => turn())
      .then(answerWaiting)
    last = next
    return (await next).get(question)
  }
}
