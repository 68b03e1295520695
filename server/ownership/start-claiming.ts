import { repeat } from '../concurrency/repeat.ts'
import type { Replica } from './replica.ts'
import type { WakeUpListener, WakeUps } from './wake-ups.ts'

/** So few that the replicas share what those that died have left. */
const claimedAtOnce = 50
const sweepIntervalMs = 3_000
const removeDeadIntervalMs = 1_000
const forgottenIntervalMs = 30_000
/** Under load many tasks are claimed by one statement. */
const minClaimIntervalMs = 25

type Dependencies<Claimed> = {
  readonly replica: Pick<Replica, 'id'>
  readonly tasks: {
    ownedBy(owner: string): Promise<string[]>
    claim(owner: string, limit: number, forgotten: readonly string[]): Promise<Claimed[]>
    ended(ids: readonly string[]): Promise<string[]>
  }
  readonly watcher: {
    watch(claimed: readonly Claimed[]): Promise<void>
    drop(ids: readonly string[]): void
    watchedIds(): readonly string[]
  }
  /** Whether this replica watches a task, or is accepting it and watches it next. */
  readonly isHeld: (id: string) => boolean
  readonly removeDead: () => Promise<number>
  readonly wakeUps: Pick<WakeUps, 'on' | 'send'>
  readonly onError: (message: string, error: unknown) => void
}

/** Claims unwatched tasks and hands them to the watcher, and drops what was cancelled under it. */
export function startClaiming<Claimed>(dependencies: Dependencies<Claimed>) {
  const { replica, tasks, watcher, isHeld, removeDead, wakeUps, onError } = dependencies

  let recalledAtMs = Number.NEGATIVE_INFINITY
  let isUnsure = false
  /** After a claim without an answer this replica may own tasks that are not watched; otherwise they are looked for now and then. */
  const claimAll = async () => {
    const owner = replica.id()
    if (!owner) return
    const isRecall = isUnsure || performance.now() - recalledAtMs > forgottenIntervalMs
    if (isRecall) recalledAtMs = performance.now()
    isUnsure = true
    let claimed: Claimed[]
    do {
      claimed = await tasks.claim(owner, claimedAtOnce, isRecall ? await forgottenBy(owner) : [])
      if (claimed.length > 0) await watcher.watch(claimed)
    } while (claimed.length === claimedAtOnce)
    isUnsure = false
  }
  /** Decided after they were read: a task that was stored by then and is not held is lost from memory. */
  const forgottenBy = async (owner: string) => (await tasks.ownedBy(owner)).filter((id) => !isHeld(id))
  const claiming = repeat(
    claimAll,
    sweepIntervalMs,
    (error) => onError('claiming tasks failed, retrying', error),
    minClaimIntervalMs,
  )
  const removingDead = repeat(
    async () => {
      const id = replica.id()
      if (id !== undefined && (await removeDead()) > 0) wakeUps.send('task', id)
    },
    removeDeadIntervalMs,
    (error) => onError('removing dead replicas failed, retrying', error),
  )

  const dropEnded = async () => {
    const watched = watcher.watchedIds()
    if (watched.length > 0) watcher.drop(await tasks.ended(watched))
  }
  const dropping = repeat(dropEnded, sweepIntervalMs, (error) =>
    onError('looking up ended tasks failed, retrying', error),
  )
  const dropCancelled: WakeUpListener = (ids) => {
    if (ids === 'all') dropping.trigger()
    else watcher.drop(ids)
  }
  const unsubscribe = [wakeUps.on('task', () => claiming.trigger()), wakeUps.on('cancelled', dropCancelled)]

  return {
    /** A task may be this replica's although no answer said so: the next sweep looks for it. */
    noteAmbiguousCommit() {
      recalledAtMs = Number.NEGATIVE_INFINITY
    },
    async [Symbol.asyncDispose]() {
      for (const stop of unsubscribe) stop()
      await Promise.all([claiming, removingDead, dropping].map((one) => one[Symbol.asyncDispose]()))
    },
  }
}
