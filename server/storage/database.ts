import { Kysely, PostgresDialect, sql } from 'kysely'
import { Pool, type PoolConfig } from 'pg'
import { discardStuckConnections } from './discard-stuck-connections.ts'
import type { Schema } from './schema.ts'

export type DatabaseSettings = {
  /** Where and as whom; no pool sizes or time-outs. */
  connection: Pick<PoolConfig, 'connectionString' | 'host' | 'port' | 'user' | 'password' | 'database' | 'ssl'>
  schema: string
  maxConnections: number
  connectTimeoutMs: number
}

/** A pool and the typed query builder over it. Names no session state, so a transaction-mode pooler may stand between. */
export type Database = {
  readonly query: Kysely<Schema>
  readonly settings: DatabaseSettings
  /** Queries that wait for a connection. */
  waiting(): number
  [Symbol.asyncDispose](): Promise<void>
}

/** Long enough that PostgreSQL rarely prepares everything again, short enough that nothing in between has forgotten it. */
const idleMs = 60_000

/** Who waits for a lock is told by PostgreSQL before the query is given up here: otherwise it would wait without a reader. */
const lockShare = 0.8

/**
 * Opens the pool; connects at the first query. `onIdleError` hears of idle connections that break. A query
 * without an answer after `queryTimeoutMs` is given up.
 */
export function openDatabase(
  settings: DatabaseSettings,
  onIdleError: (error: Error) => void,
  queryTimeoutMs = 5_000,
): Database {
  const pool = new Pool({
    ...settings.connection,
    max: settings.maxConnections,
    connectionTimeoutMillis: settings.connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    idleTimeoutMillis: idleMs,
    application_name: 'deployment-watcher',
  })
  let isClosing = false
  // While the pool closes, the server may end a connection first, which is harmless.
  pool.on('error', (error) => {
    if (!isClosing) onIdleError(error)
  })
  // A connection that breaks while it is in use rejects its query and also emits an error, which must have a listener.
  pool.on('connect', (client) => client.on('error', () => undefined))
  const query = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool: discardStuckConnections(pool, queryTimeoutMs * lockShare) }),
  }).withSchema(settings.schema)
  const close = () => {
    isClosing = true
    return query.destroy()
  }
  return { query, settings, waiting: () => pool.waitingCount, [Symbol.asyncDispose]: close }
}

/** Answers as soon as the database does. */
export async function readServerVersion({ query }: Database): Promise<string> {
  const { rows } = await sql<{ version: string }>`SELECT current_setting('server_version') AS version`.execute(query)
  return rows[0]?.version ?? ''
}
