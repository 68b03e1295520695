import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { type Migration, type MigrationProvider, Migrator } from 'kysely/migration'
import { DatabaseError } from 'pg'
import { missingSchemaRights } from './check-rights.ts'
import { type DatabaseSettings, openDatabase } from './database.ts'
import type { Schema } from './schema.ts'

/** For one statement of a migration, for the migrations of a replica that came first, and for all waits for locks together. */
const statementTimeoutMs = 600_000
/** Everyone who wants the same table queues behind a migration that waits for it, so it waits no longer at a time. */
const lockTimeout = '5s'
const pauseMs = 1_000
const ownFolder = new URL('./migrations/', import.meta.url)

type Options = {
  /** Where the numbered SQL files are; ends in a slash. */
  readonly folder?: URL
  /** The migrations waited too long for a lock, were rolled back and start again. */
  readonly onRetry?: (error: unknown) => void
}

/** A newer version of the service has changed the schema in a way that this one cannot work with. */
export class SchemaTooNewError extends Error {
  override readonly name = 'SchemaTooNewError'
  constructor(required: number, known: number) {
    super(
      `the database schema requires migration ${required}, and this version knows ${known}: use the version that migrated it, or a newer one`,
    )
  }
}

/**
 * Brings the schema up to this version's migrations. Replicas that start together wait for each other's lock. What a newer
 * version has added is left as it is (decision 0021).
 * @throws {SchemaTooNewError}
 * @throws {MissingRightsError}
 */
export async function migrate(
  settings: DatabaseSettings,
  { folder = ownFolder, onRetry = () => undefined }: Options = {},
): Promise<void> {
  const { schema } = settings
  // An idle connection that breaks is replaced.
  await using database = openDatabase({ ...settings, maxConnections: 2 }, () => undefined, statementTimeoutMs)
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  const migrator = new Migrator({
    db: database.query,
    provider: numberedSqlFiles(names, folder, database.query, schema),
    migrationTableSchema: schema,
  })
  for (const endMs = performance.now() + statementTimeoutMs; ; await delay(pauseMs)) {
    const { error } = await migrator.migrateToLatest()
    if (error === undefined) break
    if (isMissingRight(error)) throw missingSchemaRights(schema, error)
    if (!isLockTimeout(error) || performance.now() > endMs)
      throw new Error('the database could not be migrated', { cause: error })
    onRetry(error)
  }
  await requireKnownSchema(database.query, schema, numberOf(names.at(-1)))
}

const numberedSqlFiles = (
  names: readonly string[],
  folder: URL,
  query: Kysely<Schema>,
  schema: string,
): MigrationProvider => ({
  async getMigrations() {
    const migrations: Record<string, Migration> = {}
    for (const name of names) {
      migrations[name.replace(/\.sql$/, '')] = {
        async up(database) {
          await sql`SET LOCAL lock_timeout = ${sql.lit(lockTimeout)}`.execute(database)
          await sql`SET LOCAL search_path TO ${sql.id(schema)}, public`.execute(database)
          await sql.raw(await readFile(new URL(name, folder), 'utf8')).execute(database)
        },
      }
    }
    for (const name of await executedAfter(names.at(-1), query, schema)) migrations[name] = alreadyExecuted
    return migrations
  },
})

/** Of a newer version: known by its name alone. */
const alreadyExecuted: Migration = { up: async () => undefined }

async function executedAfter(newest: string | undefined, query: Kysely<Schema>, schema: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`SELECT name FROM ${sql.id(schema, 'kysely_migration')}`.execute(query)
  return rows.map(({ name }) => name).filter((name) => numberOf(name) > numberOf(newest))
}

async function requireKnownSchema(query: Kysely<Schema>, schema: string, known: number): Promise<void> {
  const { rows } = await sql<{ migration: number }>`
    SELECT migration FROM ${sql.id(schema, 'schema_min_version')}`.execute(query)
  const [required] = rows
  if (required && required.migration > known) throw new SchemaTooNewError(required.migration, known)
}

/** Of `0001-schema.sql` it is 1. */
const numberOf = (name = '') => Number.parseInt(name, 10)

const isMissingRight = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError && error.code === '42501'

const isLockTimeout = (error: unknown) => error instanceof DatabaseError && error.code === '55P03'
