import { sql } from 'kysely'
import type { Database } from '../storage/database.ts'

/**
 * `task`: there may be tasks to claim, whichever the ids are; `cancelled`: these were cancelled under their watcher; `write`: a write-back was
 * queued; `outcome`: one ended; `event`: a task has new events; `lock`: the deploy lock was changed.
 */
const wakeUpTopics = ['task', 'cancelled', 'write', 'outcome', 'event', 'lock'] as const
export type WakeUpTopic = (typeof wakeUpTopics)[number]
export type WakeUpListener = (ids: readonly string[] | 'all') => void

/** Hints between the replicas, this one included. One may be lost, so every listener also looks by itself now and then. */
export type WakeUps = {
  /** Sends after the caller's commit, coalesced for 20 ms. */
  send(topic: WakeUpTopic, id: string): void
  on(topic: WakeUpTopic, listener: WakeUpListener): () => void
}

const coalesceMs = 20
/** PostgreSQL takes 7,999 bytes of payload. */
const maxPayloadBytes = 7_900

export const wakeUpChannel = (schema: string) => `${schema}_wake_up`

/**
 * Local listeners hear a wake-up at once; other replicas through NOTIFY, sent outside any transaction because a NOTIFY
 * inside one makes commits wait for each other.
 */
export function createWakeUps(database: Database, onError: (message: string, error: unknown) => void) {
  const listeners = new Map<WakeUpTopic, Set<WakeUpListener>>(wakeUpTopics.map((topic) => [topic, new Set()]))
  const waiting = new Map<WakeUpTopic, Set<string>>()
  const origin = crypto.randomUUID().slice(0, 8)
  let timer: NodeJS.Timeout | undefined

  const tell = (topic: WakeUpTopic, ids: readonly string[] | 'all') => {
    for (const listener of listeners.get(topic) ?? []) {
      try {
        listener(ids)
      } catch (error) {
        onError('wake-up listener failed', error)
      }
    }
  }

  const flush = async () => {
    timer = undefined
    const batches = [...waiting]
    waiting.clear()
    const channel = wakeUpChannel(database.settings.schema)
    const payloads = batches.map(([topic, ids]) => {
      const listed = `${origin} ${topic} ${[...ids].join(',')}`
      return listed.length <= maxPayloadBytes ? listed : `${origin} ${topic} *`
    })
    if (payloads.length === 0) return
    await sql`SELECT pg_notify(${channel}, payload) FROM unnest(${payloads}::text[]) AS payload`
      .execute(database.query)
      .catch((error: unknown) => onError('sending wake-ups to other replicas failed', error))
  }

  return {
    send(topic: WakeUpTopic, id: string) {
      const ids = waiting.get(topic) ?? new Set()
      waiting.set(topic, ids.add(id))
      timer ??= setTimeout(() => void flush(), coalesceMs)
      queueMicrotask(() => tell(topic, [id]))
    },
    on(topic: WakeUpTopic, listener: WakeUpListener) {
      listeners.get(topic)?.add(listener)
      return () => void listeners.get(topic)?.delete(listener)
    },
    /** What arrived on the channel. Our own are known already. */
    receive(payload: string) {
      const [sender, name, ids] = payload.split(' ')
      const topic = wakeUpTopics.find((known) => known === name)
      if (sender === origin || !topic || !ids) return
      tell(topic, ids === '*' ? 'all' : ids.split(','))
    },
    async [Symbol.asyncDispose]() {
      clearTimeout(timer)
      await flush()
    },
  }
}
