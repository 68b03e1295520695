import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type { Pool, PoolClient } from 'pg'

/**
 * The pool without connections that owe an answer. The driver rejects a query after `query_timeout` but keeps its
 * connection, on which every later query would wait behind the unanswered one. So the connection goes, and with it each that
 * has not answered since that query was sent: a firewall or a failover that swallowed it swallows what they carry, too.
 */
export function discardStuckConnections(pool: Pool, lockTimeoutMs: number): PostgresPool {
  const answeredMs = new WeakMap<PoolClient, number>()
  let suspectBeforeMs = Number.NEGATIVE_INFINITY
  const connect = async (): Promise<PostgresPoolClient> => {
    const client = await pool.connect()
    const lastMs = answeredMs.get(client) ?? performance.now()
    answeredMs.set(client, lastMs)
    if (lastMs > suspectBeforeMs)
      return answeringClient(client, lockTimeoutMs, {
        answered: () => answeredMs.set(client, performance.now()),
        unanswered: (sentMs) => {
          suspectBeforeMs = Math.max(suspectBeforeMs, sentMs)
        },
      })
    client.release(true)
    return connect()
  }
  return { options: pool.options, connect, end: () => pool.end() }
}

/** So long a transaction may keep others waiting while it does nothing: its replica is frozen, or cut off. */
const idleInTransaction = '5s'
/** The begin of a transaction waits for nothing in PostgreSQL, so a stuck connection shows sooner than by other queries. */
const beginTimeoutMs = 3_000

type Reports = { readonly answered: () => void; readonly unanswered: (sentMs: number) => void }

function answeringClient(client: PoolClient, lockTimeoutMs: number, reports: Reports): PostgresPoolClient {
  // In the words of the transaction itself, since a pooler may give each transaction another connection.
  const limits = `SET LOCAL idle_in_transaction_session_timeout = '${idleInTransaction}'; SET LOCAL lock_timeout = ${lockTimeoutMs}`
  let silence: Error | undefined
  const query = async (sql: string, parameters: readonly unknown[]) => {
    if (silence) throw silence // a rollback need not wait for the same time-out again
    const sentMs = performance.now()
    try {
      const begin = { text: `${sql}; ${limits}`, query_timeout: beginTimeoutMs }
      const result = await (isBegin(sql) ? client.query(begin) : client.query(sql, [...parameters]))
      reports.answered()
      return result
    } catch (error) {
      if (isReadTimeout(error)) {
        silence = error
        reports.unanswered(sentMs)
      }
      throw error
    }
  }
  return {
    // The other form takes a cursor, and none is configured.
    query: query as unknown as PostgresPoolClient['query'],
    release: (destroy) => client.release(destroy === true),
  }
}

const isBegin = (sql: string) => /^(?:begin|start transaction)\b/i.test(sql)

/** The driver gives it no code. */
const isReadTimeout = (error: unknown): error is Error =>
  error instanceof Error && error.message === 'Query read timeout'
