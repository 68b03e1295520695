import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { expect, inject, test } from 'vitest'
import { createTestDatabase } from '../../test/support/database.ts'
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

test('a submission writes nothing into the index for searching, the end of its task does', async () => {
  await using database = await createTestDatabase()
  const owner = new Client({ connectionString: database.url })
  await owner.connect()
  /** Of the index, what was written since the last call. */
  const pagesWritten = async () =>
    Number((await owner.query(`SELECT gin_clean_pending_list('watcher.tasks_searched') AS pages`)).rows[0].pages)
  await owner.query(
    `INSERT INTO watcher.tasks (id, deadline, app, author, project, images, timeout_seconds, refresh, may_write)
     VALUES (gen_random_uuid(), now(), 'shop', 'ada', 'demo', '[{"image": "registry.example/shop", "tag": "v1"}]', 60, true, true)`,
  )
  expect(await pagesWritten()).toBe(0)
  await owner.query(`UPDATE watcher.tasks SET status = 'deployed'`)
  expect(await pagesWritten()).toBeGreaterThan(0)
  await owner.end()
})
