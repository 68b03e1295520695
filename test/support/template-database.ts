import { Client } from 'pg'
import { migrate } from '../../server/storage/migrate.ts'

/** A migrated database `watcher_template` that others are cloned from, so that no test waits for its migrations. */
export async function createTemplate(adminUrl: string): Promise<void> {
  const admin = new Client({ connectionString: adminUrl })
  await admin.connect()
  await admin.query('CREATE DATABASE watcher_template')
  const connectionString = Object.assign(new URL(adminUrl), { pathname: '/watcher_template' }).href
  await migrate({ connection: { connectionString }, schema: 'watcher', maxConnections: 2, connectTimeoutMs: 10_000 })
  await admin.query('ALTER DATABASE watcher_template WITH ALLOW_CONNECTIONS false IS_TEMPLATE true')
  await admin.end()
}
