import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { createSemaphore, type Semaphore } from '../../concurrency/semaphore.ts'
import type { Claim } from '../../deployments/task.ts'
import type { Database } from '../../storage/database.ts'
import type { WriteResult } from '../decide/write-result.ts'
import type { GitAccess } from '../git/access/git-access.ts'
import { createRepositoryCache, type RepositoryCache } from '../git/access/repository-cache.ts'
import type { CommitHistory } from '../git/history/commit-history.ts'
import { type GitRepository, openGitRepository } from '../git/push/git-repository.ts'
import type { WriteBackPlan } from '../plan/plan-write-back.ts'
import { parseRepositoryAddress } from '../plan/repository-address.ts'
import type { WriteBackOutcome } from '../plan/write-back-outcome.ts'
import type { WriteBackSettings } from '../plan/write-back-settings.ts'
import { createCommitSearch } from './commit-search.ts'
import { createPendingWriteStore, type WriteQueue } from './pending-write-store.ts'
import { createStepPerformer, type StepPerformer, sweepMs } from './perform-steps.ts'
import type { WriteBackMeasures } from './write-back-times.ts'

/** Hints between replicas; nothing depends on their arrival. */
type WakeUps = {
  send(topic: 'write' | 'outcome' | 'event', id: string): void
  on(topic: 'write' | 'outcome', listener: (ids: readonly string[] | 'all') => void): () => void
}

type Log = {
  warn(fields: { readonly err: unknown; readonly repository?: string; readonly branch?: string }, message: string): void
}

export type WriteBackDeps = {
  readonly database: Database
  readonly settings: WriteBackSettings
  readonly access: GitAccess
  readonly history: CommitHistory
  /** undefined: this replica may own nothing now. */
  readonly replicaId: () => string | undefined
  readonly wakeUps: WakeUps
  readonly log: Log
  readonly measures: WriteBackMeasures
  readonly nowMs: () => number
  readonly random: () => number
}

type QueueWriter = StepPerformer & { readonly queue: WriteQueue; readonly repository: GitRepository }

type OutcomeListener = (taskId: string, outcome: WriteBackOutcome) => void

/** An SSH server gives one connection ten sessions by default; the commit history needs some too. */
const maxPushesPerHost = 8
const maxClosingMs = 15_000
const maxTold = 20_000
/** From the time of a record to its commit. */
const longestRecordSeconds = 60

/** Takes planned writes, and pushes those of the repositories that this replica owns. */
export function createWriteBack(deps: WriteBackDeps) {
  const { wakeUps, log } = deps
  const store = createPendingWriteStore(deps.database)
  const branches = new Map<string, { cache: RepositoryCache; turn: Semaphore }>()
  const writers = new Map<string, QueueWriter>()
  const hosts = new Map<string, Semaphore>()
  const running = new Map<string, Promise<void>>()
  const listeners = new Set<OutcomeListener>()
  const told = new LRUCache<string, string>({ max: maxTold })
  const closing = new AbortController()
  /** Of a task that was written before, the outcome is read when the task is claimed. */
  let toldUntilMs = deps.nowMs()
  let isScanDueAfterRun = false
  const scan = createRepeatable(startOpen, (err) => log.warn({ err }, 'claiming pending write-backs failed, retrying'))
  const readOutcomes = createRepeatable(publishOutcomes, (err) =>
    log.warn({ err }, 'reading write-back outcomes failed, retrying'),
  )

  const search = createCommitSearch({
    store,
    history: deps.history,
    hostOf: hostNameOf,
    onShown: (taskId) => wakeUps.send('event', taskId),
    onError: (err, { repository, branch }) =>
      log.warn({ err, repository, branch }, 'searching the commit that set a tag failed'),
  })

  const canContinue = (queue: WriteQueue) => !closing.signal.aborted && deps.replicaId() === queue.owner

  /** Queues of one branch share its cache, and take turns. */
  function branchOf({ repository, branch }: WriteQueue) {
    const key = `${repository} ${branch}`
    const found = branches.get(key) ?? {
      cache: createRepositoryCache(repository, branch, deps.access),
      turn: createSemaphore(1),
    }
    branches.set(key, found)
    return found
  }

  function writerOf(queue: WriteQueue): QueueWriter {
    const known = writers.get(keyOf(queue))
    if (known && known.queue.fence === queue.fence && known.queue.owner === queue.owner) return known
    const { access, settings, nowMs } = deps
    const { commitAuthor: author, gitOpTimeoutMs } = settings
    const { cache, turn } = branchOf(queue)
    const repository =
      known?.repository ?? openGitRepository(queue.address, cache, { access, author, gitOpTimeoutMs, nowMs })
    const { run } = createStepPerformer(queue, repository, {
      store,
      // where the service writes no trailers, those that are found were written by another program
      history: deps.settings.commitTrailer ? deps.history : { ...deps.history, trailersBetween: async () => new Map() },
      canContinue,
      inTurn: (work) => turn.use(() => hostOf(queue.address).use(work)),
      onRecorded,
      onEvents: (taskIds) => taskIds.forEach((taskId) => void wakeUps.send('event', taskId)),
      onReady: scan.run,
      measures: deps.measures,
      nowMs: deps.nowMs,
      pause: (ms) => pause(ms, closing.signal),
      random: deps.random,
    })
    const writer = { queue, repository, run }
    writers.set(keyOf(queue), writer)
    return writer
  }

  function hostOf(address: string): Semaphore {
    const host = hostNameOf(address)
    const found = hosts.get(host) ?? createSemaphore(maxPushesPerHost)
    hosts.set(host, found)
    return found
  }

  function onRecorded(results: readonly WriteResult[]): void {
    for (const { taskId, outcome } of results) {
      tell(taskId, outcome)
      wakeUps.send('outcome', taskId)
      wakeUps.send('event', taskId)
    }
    search.begin(results)
  }

  /** Each outcome once, whether it was found here or read from the database. */
  function tell(taskId: string, outcome: WriteBackOutcome): void {
    const text = JSON.stringify(outcome)
    if (told.get(taskId) === text) return
    told.set(taskId, text)
    for (const listener of listeners) listener(taskId, outcome)
  }

  async function publishOutcomes(): Promise<void> {
    const owner = deps.replicaId()
    if (owner === undefined || closing.signal.aborted) return
    const askedAtMs = deps.nowMs()
    const sinceSeconds = (askedAtMs - toldUntilMs) / 1000 + longestRecordSeconds
    for (const { taskId, outcome } of await store.outcomesForOwner(owner, sinceSeconds)) tell(taskId, outcome)
    toldUntilMs = askedAtMs
  }

  /** Our own outcomes have been told already. */
  function onOutcomes(ids: readonly string[] | 'all'): void {
    if (ids === 'all' || ids.some((id) => !told.has(id))) readOutcomes.run()
  }

  /** Works on a queue unless that is under way already; a failure stays with that queue. */
  function start(queue: WriteQueue): void {
    const key = keyOf(queue)
    if (running.has(key)) {
      isScanDueAfterRun = true
      return
    }
    const done = Promise.resolve()
      .then(() => writerOf(queue).run())
      .catch((error: unknown) => {
        const { repository, branch } = queue
        log.warn({ err: error, repository, branch }, 'write-back failed, retrying')
      })
      .then(() => {
        running.delete(key)
        if (isScanDueAfterRun) scan.run()
      })
    running.set(key, done)
  }

  async function startOpen(): Promise<void> {
    const owner = deps.replicaId()
    isScanDueAfterRun = false
    if (owner === undefined || closing.signal.aborted) return
    for (const queue of await store.claimRepositories(owner)) start(queue)
  }

  function sweep(): void {
    scan.run()
    readOutcomes.run()
  }

  const timer = setInterval(sweep, sweepMs)
  const stopListening = [wakeUps.on('write', scan.run), wakeUps.on('outcome', onOutcomes)]
  scan.run()

  return {
    /** Queues the write of a task that the caller owns; false: the task was taken. */
    async queue(claim: Claim, plan: WriteBackPlan): Promise<boolean> {
      const isQueued = await store.queue(claim, plan)
      if (isQueued) {
        scan.run()
        wakeUps.send('write', claim.taskId)
        wakeUps.send('event', claim.taskId)
      }
      return isQueued
    },
    outcomeOf: (taskId: string): Promise<WriteBackOutcome | undefined> => store.outcomeOf(taskId),
    open: store.openOfAll,
    /** Hears the outcomes of all tasks that this replica owns, and of those whose writes it does; returns the way out. */
    onOutcome(listener: OutcomeListener): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    /** Lets pushes that are under way end for up to 15 s, then gives the repositories to others. */
    async [Symbol.asyncDispose](): Promise<void> {
      clearInterval(timer)
      for (const stopOne of stopListening) stopOne()
      closing.abort()
      await scan.ended()
      await readOutcomes.ended()
      // what is still under way then has an unknown outcome, which the next owner finds out
      const ended = new AbortController()
      await Promise.race([Promise.all([...running.values(), search.close()]), pause(maxClosingMs, ended.signal)])
      ended.abort()
      for (const { repository } of writers.values()) repository.closeReader()
      const owner = deps.replicaId()
      if (owner !== undefined) await store.release(owner)
    },
  }
}

/** Work that runs once at a time, and once more where that is asked meanwhile: requests come in bursts. */
function createRepeatable(work: () => Promise<void>, onError: (error: unknown) => void) {
  let running: Promise<void> | undefined
  let isAsked = false

  async function runWhileAsked(): Promise<void> {
    while (isAsked) {
      isAsked = false
      await work().catch(onError)
    }
    running = undefined
  }

  return {
    run(): void {
      isAsked = true
      running ??= runWhileAsked()
    },
    ended: (): Promise<void> => Promise.resolve(running),
  }
}

const hostNameOf = (address: string): string => parseRepositoryAddress(address)?.host ?? ''

function keyOf({ repository, branch, address }: WriteQueue): string {
  return `${repository} ${branch} ${address}`
}

/** Returns early, without an error, when the signal is aborted. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => undefined)
