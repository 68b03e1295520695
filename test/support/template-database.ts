import { readFileSync } from 'node:fs'
import { Client } from 'pg'
import { migrate } from '../../server/storage/migrate.ts'

/** Its rights are those that docs/install.md gives, which are the least. */
export const serviceRole = { username: 'watcher_service', password: 'least' } as const

const installation = readFileSync(new URL('../../docs/install.md', import.meta.url), 'utf8')
const grants = installation.match(/^(?:GRANT|REVOKE) [^;]+;$/gm) ?? []

/** Migrates a database and makes the role of the service, with its rights there. */
export async function prepareDatabase(ownerUrl: string): Promise<void> {
  const connection = { connectionString: ownerUrl }
  await migrate({ connection, schema: 'watcher', maxConnections: 2, connectTimeoutMs: 10_000 })
  const owner = new Client(connection)
  await owner.connect()
  await owner.query(`CREATE ROLE ${serviceRole.username} LOGIN PASSWORD '${serviceRole.password}'`)
  await owner.end()
  await grantRights(ownerUrl)
}

/** What docs/install.md tells the owner of the schema to do after each upgrade. */
export async function grantRights(ownerUrl: string): Promise<void> {
  const owner = new Client({ connectionString: ownerUrl })
  await owner.connect()
  for (const grant of grants) await owner.query(grant)
  await owner.end()
}

/** A migrated database `watcher_template` that others are cloned from, so that no test waits for its migrations. */
export async function createTemplate(adminUrl: string): Promise<void> {
  const admin = new Client({ connectionString: adminUrl })
  await admin.connect()
  await admin.query('CREATE DATABASE watcher_template')
  await prepareDatabase(Object.assign(new URL(adminUrl), { pathname: '/watcher_template' }).href)
  await admin.query('ALTER DATABASE watcher_template WITH ALLOW_CONNECTIONS false IS_TEMPLATE true')
  await admin.end()
}
