import { readdir, readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import { type Migration, type MigrationProvider, Migrator } from 'kysely/migration'
import { type DatabaseSettings, openDatabase } from './database.ts'

/** For one statement of a migration, and for the migrations of a replica that came first. */
const statementTimeoutMs = 600_000
const folder = new URL('./migrations/', import.meta.url)

const numberedSqlFiles = (schema: string): MigrationProvider => ({
  async getMigrations() {
    const migrations: Record<string, Migration> = {}
    for (const file of (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()) {
      migrations[file.replace(/\.sql$/, '')] = {
        async up(database) {
          await sql`SET LOCAL search_path TO ${sql.id(schema)}, public`.execute(database)
          await sql.raw(await readFile(new URL(file, folder), 'utf8')).execute(database)
        },
      }
    }
    return migrations
  },
})

/** Brings the schema up to this version's migrations. Replicas that start together wait for each other's lock. */
export async function migrate(settings: DatabaseSettings): Promise<void> {
  const { schema } = settings
  // A connection that breaks while nobody uses it is made anew.
  await using database = openDatabase({ ...settings, maxConnections: 2 }, () => undefined, statementTimeoutMs)
  const migrator = new Migrator({
    db: database.query,
    provider: numberedSqlFiles(schema),
    migrationTableSchema: schema,
  })
  const { error } = await migrator.migrateToLatest()
  if (error) throw new Error('the database could not be migrated', { cause: error })
}
