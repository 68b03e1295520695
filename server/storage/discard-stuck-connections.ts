import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type { Pool, PoolClient } from 'pg'

/**
 * The pool without connections that owe an answer. The driver rejects a query after `query_timeout` but keeps its
 * connection, on which every later query would wait behind the unanswered one. So the connection goes with the query.
 */
export function discardStuckConnections(pool: Pool, lockTimeoutMs: number): PostgresPool {
  return {
    options: pool.options,
    connect: async () => answeringClient(await pool.connect(), lockTimeoutMs),
    end: () => pool.end(),
  }
}

/** So long a transaction may keep others waiting while it does nothing: its replica is frozen, or cut off. */
const idleInTransaction = '5s'

function answeringClient(client: PoolClient, lockTimeoutMs: number): PostgresPoolClient {
  // In the words of the transaction itself, since a pooler may give each transaction another connection.
  const limits = `SET LOCAL idle_in_transaction_session_timeout = '${idleInTransaction}'; SET LOCAL lock_timeout = ${lockTimeoutMs}`
  let silence: Error | undefined
  const query = async (sql: string, parameters: readonly unknown[]) => {
    if (silence) throw silence // a rollback need not wait for the same time-out again
    try {
      return await client.query(isBegin(sql) ? `${sql}; ${limits}` : sql, [...parameters])
    } catch (error) {
      if (isReadTimeout(error)) silence = error
      throw error
    }
  }
  return {
    // The other form takes a cursor, and none is configured.
    query: query as unknown as PostgresPoolClient['query'],
    release: (destroy) => client.release(destroy === true || silence !== undefined),
  }
}

const isBegin = (sql: string) => /^(?:begin|start transaction)\b/i.test(sql)

/** The driver gives it no code. */
const isReadTimeout = (error: unknown): error is Error =>
  error instanceof Error && error.message === 'Query read timeout'
