import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Client, DatabaseError, escapeIdentifier } from 'pg'
import type { DatabaseSettings } from '../storage/database.ts'

/** How long a replica counts as alive after its last beat, in milliseconds. */
export const replicaTtlMs = 10_000
const beatIntervalMs = 2_000
const beatTimeoutMs = 3_000
/** A replica that could not beat for this long stops owning by itself, before others may think it dead. */
const selfFenceMs = 8_000

export type Replica = {
  start(events: ReplicaEvents): void
  /** The id under which this replica owns things now; undefined while it may own nothing. */
  id(): string | undefined
  /** How many replicas are registered as of the last beat, this one and those not yet known to be dead included. */
  registered(): number
  /** Counts them before the next beat, after some were removed; where that fails the next beat counts. */
  recount(): Promise<void>
  /** Milliseconds since this replica's own database session broke; Infinity when it never did. */
  brokenSinceMs(): number
  [Symbol.asyncDispose](): Promise<void>
}

type ReplicaEvents = {
  /** Registered under a new id. `former` is the id of a session that broke; its claims may be taken back. */
  onRegistered(id: string, former: string | undefined): Promise<void>
  /** Owns nothing any more. */
  onLost(): void
  onNotification(payload: string): void
  onError(message: string, error: unknown): void
}

type Session = {
  readonly client: Client
  readonly id: string
  lastBeatSentMs: number
  registered: number
  readonly broken: AbortSignal
}

/**
 * Keeps this process registered as a replica, once started: one dedicated connection holds a session advisory lock,
 * LISTENs on `channel` and beats every 2 s. When the session breaks, does not answer a beat within 3 s or cannot beat for
 * 8 s the replica owns nothing until it has registered again under a new id (decision 0013).
 */
export function createReplica(settings: DatabaseSettings, channel: string): Replica {
  const stopping = new AbortController()
  let current: Session | undefined
  let former: string | undefined
  let brokeAtMs = Number.NEGATIVE_INFINITY
  let lived: Promise<Session | undefined> | undefined
  let onError: ReplicaEvents['onError'] = () => undefined

  const live = async (events: ReplicaEvents) => {
    while (!stopping.signal.aborted) {
      try {
        const session = await openSession(settings, channel, events.onNotification)
        current = session
        await events.onRegistered(session.id, former)
        await forget(settings, session.client, former)
        former = session.id
        await beatUntilBroken(settings, session, stopping.signal, events.onError)
      } catch (error) {
        events.onError('replica registration lost, registering again', error)
      }
      const lost = current
      current = undefined
      if (stopping.signal.aborted) return lost
      brokeAtMs = performance.now()
      events.onLost()
      lost?.client.end().catch(() => undefined)
      await delay(500, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
    return undefined
  }

  return {
    start(events) {
      onError = events.onError
      lived ??= live(events)
    },
    id: () => (current && performance.now() - current.lastBeatSentMs < selfFenceMs ? current.id : undefined),
    registered: () => current?.registered ?? 1,
    async recount() {
      const session = current
      const counted = await session?.client
        .query<{ registered: number }>(`SELECT ${registeredCount(settings)}`)
        .catch(() => undefined)
      if (session && counted?.rows[0]) session.registered = counted.rows[0].registered
    },
    brokenSinceMs: () => performance.now() - brokeAtMs,
    async [Symbol.asyncDispose]() {
      stopping.abort()
      const last = await lived
      if (!last) return
      await forget(settings, last.client, last.id).catch((error) => onError('unregistering this replica failed', error))
      await last.client.end().catch(() => undefined)
    },
  }
}

const replicasTable = (settings: DatabaseSettings) => `${escapeIdentifier(settings.schema)}.replicas`

const registeredCount = (settings: DatabaseSettings) =>
  `(SELECT count(*)::integer FROM ${replicasTable(settings)}) AS registered`

async function openSession(
  settings: DatabaseSettings,
  channel: string,
  onNotification: (payload: string) => void,
): Promise<Session> {
  const client = new Client({
    ...settings.connection,
    connectionTimeoutMillis: settings.connectTimeoutMs,
    query_timeout: beatTimeoutMs,
    keepAlive: true,
    application_name: 'deployment-watcher replica',
  })
  const broken = new AbortController()
  client.on('error', () => broken.abort())
  client.on('end', () => broken.abort())
  client.on('notification', ({ payload }) => onNotification(payload ?? ''))
  try {
    await client.connect()
    const id = randomUUID()
    const lockKey = randomBytes(8).readBigUInt64BE() >> 1n
    const lastBeatSentMs = performance.now()
    await client.query('SELECT pg_advisory_lock($1::bigint)', [lockKey.toString()])
    await client.query(`INSERT INTO ${replicasTable(settings)} (id, lock_key) VALUES ($1, $2)`, [
      id,
      lockKey.toString(),
    ])
    const { rows } = await client.query<{ registered: number }>(`SELECT ${registeredCount(settings)}`)
    await client.query(`LISTEN ${escapeIdentifier(channel)}`)
    return { client, id, lastBeatSentMs, registered: rows[0]?.registered ?? 1, broken: broken.signal }
  } catch (error) {
    client.end().catch(() => undefined)
    throw error
  }
}

/** Returns when the session is of no more use, or when the replica stops. */
async function beatUntilBroken(
  settings: DatabaseSettings,
  session: Session,
  stopping: AbortSignal,
  onError: ReplicaEvents['onError'],
): Promise<void> {
  const over = AbortSignal.any([session.broken, stopping])
  while (!over.aborted && performance.now() - session.lastBeatSentMs < selfFenceMs) {
    await delay(beatIntervalMs, undefined, { signal: over }).catch(() => undefined)
    if (over.aborted) return
    const sentMs = performance.now()
    try {
      const { rows } = await session.client.query<{ registered: number }>(
        `UPDATE ${replicasTable(settings)} SET heartbeat_at = now() WHERE id = $1
         RETURNING ${registeredCount(settings)}`,
        [session.id],
      )
      const [beat] = rows
      if (beat === undefined) return // others took this replica for dead
      session.registered = beat.registered
      session.lastBeatSentMs = sentMs
    } catch (error) {
      onError('heartbeat failed, retrying', error)
      if (!(error instanceof DatabaseError)) return // without an answer all later queries of the session wait too
    }
  }
}

/** A replica without a row owns nothing: what `id` owned can be claimed by all. */
async function forget(settings: DatabaseSettings, client: Client, id: string | undefined): Promise<void> {
  if (id !== undefined) await client.query(`DELETE FROM ${replicasTable(settings)} WHERE id = $1`, [id])
}
