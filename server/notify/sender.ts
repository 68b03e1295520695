import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { TaskRecord } from '../../contract/task.ts'
import { repeat } from '../concurrency/repeat.ts'
import type { Post } from '../http/outgoing/post.ts'
import type { ReportCommit } from './hosts/report-commit.ts'
import type { Attempt, LockMessage, Message, TaskTrace } from './kinds/attempt.ts'
import { send } from './kinds/send.ts'
import type { ClaimedDelivery, Expand, NotificationStore } from './outbox/notification-store.ts'
import { eventOf, targetsFor, targetsForLock } from './targets/route-event.ts'
import { readSecret } from './targets/secret-reader.ts'
import { isHostTarget, type Notifications, type SecretReference, type Target, wantsLogs } from './targets/target.ts'

type Environment = Readonly<Record<string, string | undefined>>

type Dependencies = {
  readonly store: NotificationStore
  /** As the configuration file has them now. */
  readonly notifications: () => Notifications
  readonly environment: Environment
  /** What targets are told of a task; undefined: it was deleted. */
  readonly readTask: (id: string, withLogs: boolean) => Promise<TaskRecord | undefined>
  readonly readTrace: (id: string) => Promise<TaskTrace>
  /** The page of a task, or without one the overview; empty where the address of the service is not known. */
  readonly pageOf: (id: string | undefined) => string
  readonly post: Post
  readonly reportCommit: ReportCommit
  readonly wallMs: () => number
  readonly random: () => number
  readonly onError: (message: string, error: unknown) => void
  /** A person has to change something before a delivery can be sent; told once an hour for each text. */
  readonly onBlocked: (target: string, error: string) => void
  /** For metrics. */
  readonly onResult: (kind: Target['kind'], result: Exclude<Attempt['kind'], 'skipped'>) => void
}

const intervalMs = 1_000
const minIntervalMs = 200
/** Without targets there is nothing to look for but what is left of earlier ones. */
const idleMs = 60_000
const atOnce = 20
const atOnceOfTarget = 2
const minutes = 60_000
export const usualPausesMs: readonly number[] = [5_000, 30_000, 2 * minutes, 10 * minutes, 60 * minutes]
const minPauseMs = 1_000
const patienceMs = 24 * 60 * minutes
const cleaningMs = 60 * minutes
const blockedLogMs = 60 * minutes
const maxBlockedTexts = 1_000

/**
 * Sends what is due: in order for a task and a target, at least once, and never in the way of a verdict.
 * @param pausesMs after each attempt that failed; the last one repeats
 */
export function startSender(dependencies: Dependencies, pausesMs: readonly number[] = usualPausesMs) {
  const { store, notifications, readTask, wallMs, random, onError, onResult } = dependencies
  /** How many are being sent to each target. */
  const active = new Map<string, number>()
  const sending = new Set<Promise<void>>()
  const taken = (name: string) => active.get(name) ?? 0
  const total = () => [...active.values()].reduce((sum, one) => sum + one, 0)
  /** What was logged of late. */
  const saidBlocked = new LRUCache<string, true>({ max: maxBlockedTexts, ttl: blockedLogMs })
  let isStopping = false
  let lookedMs = Number.NEGATIVE_INFINITY
  let cleanedMs = wallMs()

  let isFailing = false
  const loop = repeat(
    async () => {
      await look()
      isFailing = false
    },
    intervalMs,
    (error) => {
      if (!isFailing) onError('looking for what is to be told failed, retrying', error)
      isFailing = true // the next seconds of an outage bring the same
    },
    minIntervalMs,
  )

  async function look(): Promise<void> {
    const current = notifications()
    if (isStopping || (current.targets.size === 0 && wallMs() - lookedMs < idleMs)) return
    lookedMs = wallMs()
    while ((await store.expand(routesBy(current))) > 0);
    for (const { target: name, disabled } of await store.dueTargets()) {
      const target = current.targets.get(name)
      if (target === undefined) await store.drop(name)
      else if (disabled === entryOf(target)) await store.leaveOut(name)
      else {
        if (disabled !== null) await store.enable(name)
        await fill(name, target)
      }
    }
    if (wallMs() - cleanedMs > cleaningMs) {
      cleanedMs = wallMs()
      await store.deleteOld()
    }
  }

  async function fill(name: string, target: Target): Promise<void> {
    const free = Math.min(atOnceOfTarget - taken(name), atOnce - total())
    if (free <= 0 || isStopping) return
    active.set(name, taken(name) + free) // before the database answers, so that no other call takes these places too
    const claimed = await store.claim(name, free).catch((error: unknown) => {
      active.set(name, taken(name) - free)
      throw error
    })
    active.set(name, taken(name) - (free - claimed.length))
    for (const delivery of claimed) {
      const sent = deliver(name, target, delivery)
        .catch((error: unknown) => onError('recording what was told failed, it is told again', error))
        .finally(() => {
          active.set(name, taken(name) - 1)
          sending.delete(sent)
          next(name)
        })
      sending.add(sent)
    }
  }

  /** At once: the loop comes only a few times a second. */
  function next(name: string): void {
    const target = notifications().targets.get(name)
    if (target !== undefined) fill(name, target).catch(() => loop.trigger())
  }

  async function deliver(name: string, target: Target, delivery: ClaimedDelivery): Promise<void> {
    const { id } = delivery
    const message = await messageOf(delivery, target)
    if (message === undefined) return
    const attempt = isHostTarget(target)
      ? await dependencies.reportCommit(name, target, message)
      : await send(dependencies.post, target, message, read)
    if (attempt.kind === 'skipped')
      return attempt.why === undefined ? store.forget(id) : store.sent(id, undefined, attempt.why)
    onResult(target.kind, attempt.kind)
    if (attempt.warning !== undefined) onError('a format failed, the default text was sent', attempt.warning)
    if (attempt.kind === 'sent') return store.sent(id, attempt.reference)
    if (attempt.kind === 'off') return store.disable(name, entryOf(target), id, attempt.error)
    if (attempt.kind === 'dead') return store.dead(id, attempt.error, attempt.reference)
    if (wallMs() - delivery.createdMs >= patienceMs)
      return store.dead(id, `${attempt.error}, for 24 hours`, attempt.reference)
    if (attempt.isBlocked) sayBlocked(name, attempt.error)
    return store.retryLater(id, pauseMs(delivery.attempts, attempt.afterMs), attempt)
  }

  function sayBlocked(name: string, error: string): void {
    const key = `${name} ${error}`
    if (saidBlocked.has(key)) return
    saidBlocked.set(key, true)
    dependencies.onBlocked(name, error)
  }

  /** Undefined: nothing is to be told any more, which is recorded. */
  async function messageOf(
    { id, subject, reference, attempts }: ClaimedDelivery,
    target: Target,
  ): Promise<Message | LockMessage | undefined> {
    const common = { id, reference, nowSeconds: wallMs() / 1_000 }
    if (subject.kind === 'lock') {
      return { ...common, event: 'lock_changed', lock: subject.lock, pageUrl: dependencies.pageOf(undefined) }
    }
    const { taskId, event } = subject
    const task = await readTask(taskId, wantsLogs(target))
    if (task === undefined) {
      await store.dead(id, 'the task was deleted')
      return undefined
    }
    // What a lost attempt has created at a host is found by sending it again.
    const mayHaveCreated = isHostTarget(target) && attempts > 1
    if (event === 'started' && task.status !== 'in progress' && !mayHaveCreated) {
      await store.forget(id) // its end is told next
      return undefined
    }
    const readTrace = () => dependencies.readTrace(taskId)
    return { ...common, attempts, event, task, readTrace, pageUrl: dependencies.pageOf(taskId) }
  }

  const read = (reference: SecretReference) => readSecret(reference, dependencies.environment)

  /** Longer ones are varied more, so that what failed together does not come back together. */
  function pauseMs(attempts: number, afterMs: number | undefined): number {
    const pause = (pausesMs[attempts - 1] ?? pausesMs.at(-1) ?? 0) * (0.8 + 0.4 * random())
    if (afterMs === undefined) return pause
    // A receiver that names a time knows better than we do, unless it names a short one for ever.
    return attempts <= pausesMs.length ? Math.max(afterMs, minPauseMs) : Math.max(afterMs, pause)
  }

  return {
    /** There may be something to tell. */
    wake: () => {
      if (notifications().targets.size > 0) loop.trigger()
    },
    async [Symbol.asyncDispose]() {
      isStopping = true
      await loop[Symbol.asyncDispose]()
      await Promise.all(sending)
    },
  }
}

const routesBy = (notifications: Notifications): Expand => ({
  task(change, task) {
    const event = eventOf(change, task)
    return event && { event, targets: targetsFor(event, task, notifications) }
  },
  lock: () => targetsForLock(notifications),
})

/** Changes with the entry of a target in the configuration file. */
const entryOf = (target: Target) => createHash('sha256').update(JSON.stringify(target)).digest('base64url')
