import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, inject } from 'vitest'
import { type DatabaseSettings, openDatabase } from '../../server/storage/database.ts'
import { serviceRole } from './template-database.ts'

export type TestDatabase = {
  /** As its owner, who may do everything. */
  readonly url: string
  /** For `openDatabase`. */
  readonly settings: DatabaseSettings
  [Symbol.asyncDispose](): Promise<void>
}

/** A migrated, empty database of the caller's own; dropped at the end, whoever is still connected. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const adminUrl = inject('postgresUrl')
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await queryOnce(adminUrl, `CREATE DATABASE ${name} TEMPLATE watcher_template`)
  const url = Object.assign(new URL(adminUrl), { pathname: `/${name}` }).href
  return {
    url,
    // A test may queue a hundred writes in one moment: on a busy machine the last of them waits long for a connection.
    settings: { connection: { connectionString: url }, schema: 'watcher', maxConnections: 4, connectTimeoutMs: 60_000 },
    async [Symbol.asyncDispose]() {
      await queryOnce(adminUrl, `DROP DATABASE ${name} WITH (FORCE)`)
    },
  }
}

type FileDatabaseOptions = { readonly maxConnections?: number; readonly onError?: (error: Error) => void }

/** One database for all tests of a file that calls this, open until they are over. A connection that fails fails the run. */
export async function openFileDatabase({ maxConnections = 4, onError = rethrow }: FileDatabaseOptions = {}) {
  const testDatabase = await createTestDatabase()
  const database = openDatabase({ ...testDatabase.settings, maxConnections }, onError)
  afterAll(async () => {
    await database[Symbol.asyncDispose]()
    await testDatabase[Symbol.asyncDispose]()
  })
  return { testDatabase, database }
}

const rethrow = (error: Error) => {
  throw error
}

/** The same database for a service, under a role that may define nothing. */
export const serviceUrlOf = (ownerUrl: string) => Object.assign(new URL(ownerUrl), serviceRole).href

/** The rows of one statement, over a connection of its own. */
export async function queryOnce(connectionString: string, statement: string): Promise<unknown[]> {
  const client = new Client({ connectionString })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}
