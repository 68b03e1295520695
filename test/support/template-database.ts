import { Client } from 'pg'
import { openDatabase } from '../../server/storage/database.ts'
import { migrate } from '../../server/storage/migrate.ts'

/** A migrated database `watcher_template` that others are cloned from, so that no test waits for its migrations. */
export async function createTemplate(adminUrl: string): Promise<void> {
  const admin = new Client({ connectionString: adminUrl })
  await admin.connect()
  await admin.query('CREATE DATABASE watcher_template')
  await migrateDatabase(Object.assign(new URL(adminUrl), { pathname: '/watcher_template' }).href)
  await admin.query('ALTER DATABASE watcher_template WITH ALLOW_CONNECTIONS false IS_TEMPLATE true')
  await admin.end()
}

async function migrateDatabase(connectionString: string): Promise<void> {
  const settings = { connection: { connectionString }, schema: 'watcher', maxConnections: 2, connectTimeoutMs: 10_000 }
  await using database = openDatabase(settings, (error) => {
    throw error
  })
  await migrate(database)
}
