import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { expect, inject, test } from 'vitest'
import { migrate } from './migrate.ts'

test('the tables are made by an account that may create no extension, without the index for searching', async () => {
  const suffix = randomUUID().replaceAll('-', '')
  const [name, role] = [`test_${suffix}`, `role_${suffix}`]
  const admin = new Client({ connectionString: inject('postgresUrl') })
  await admin.connect()
  await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'of the test'`)
  await admin.query(`CREATE DATABASE ${name}`)
  try {
    const owned = Object.assign(new URL(inject('postgresUrl')), { pathname: `/${name}` })
    const owner = new Client({ connectionString: owned.href })
    await owner.connect()
    await owner.query(`CREATE SCHEMA watcher AUTHORIZATION ${role}`)
    const connectionString = Object.assign(new URL(owned), { username: role, password: 'of the test' }).href
    const settings = {
      connection: { connectionString },
      schema: 'watcher',
      maxConnections: 2,
      connectTimeoutMs: 10_000,
    }
    const index = async () => (await owner.query(`SELECT to_regclass('watcher.tasks_searched') AS index`)).rows[0].index
    await migrate(settings)
    expect(await index()).toBeNull()
    await owner.query('CREATE EXTENSION pg_trgm SCHEMA public')
    await owner.query('SELECT watcher.add_search_index()')
    expect(await index()).not.toBeNull()
    await owner.end()
  } finally {
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
    await admin.query(`DROP ROLE ${role}`)
    await admin.end()
  }
})
