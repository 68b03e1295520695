import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { TaskList } from '../../contract/task.ts'
import { migrate } from '../../server/storage/migrate.ts'
import { createTestDatabase, queryOnce } from '../support/database.ts'
import { startService } from '../support/service.ts'
import { grantRights } from '../support/template-database.ts'
import { describeSchema } from './describe-schema.ts'

const folder = path.join(import.meta.dirname, '..', 'fixtures', 'schema')
const kept = readdirSync(folder).filter((file) => file.endsWith('.sql'))

/** A database as a version left it. */
async function databaseOf(file: string) {
  const database = await createTestDatabase()
  const client = new Client({ connectionString: database.url })
  await client.connect()
  await client.query('DROP SCHEMA watcher CASCADE')
  await client.query(readFileSync(path.join(folder, file), 'utf8'))
  await client.end()
  return database
}

const countRows = async (url: string, tables: readonly string[]) => {
  const counts = tables.map((table) => `(SELECT count(*)::integer FROM watcher.${table}) AS ${table}`)
  return (await queryOnce(url, `SELECT ${counts.join(', ')}`))[0]
}

test('schemas of released versions are kept', () => expect(kept).toContain('0.1.0.sql'))

test.for(kept)('a database of %s is migrated to the schema that an empty one gets, and loses no row', async (file) => {
  await using fresh = await createTestDatabase()
  await using old = await databaseOf(file)
  const tables = (
    await queryOnce(
      old.url,
      "SELECT tablename FROM pg_tables WHERE schemaname = 'watcher' AND tablename <> 'kysely_migration'",
    )
  ).map((row) => (row as { tablename: string }).tablename)
  const before = await countRows(old.url, tables)
  await migrate(old.settings)
  expect(await describeSchema(old.url)).toEqual(await describeSchema(fresh.url))
  expect(await countRows(old.url, tables)).toEqual(before)
})

test.for(kept)('this version works on a database of %s with its data', async (file) => {
  await using old = await databaseOf(file)
  await migrate(old.settings)
  await grantRights(old.url)
  await using service = await startService({ databaseUrl: old.url })
  const { tasks } = TaskList.parse((await service.request('/api/v1/tasks')).body)
  expect(tasks.map(({ status }) => status)).toEqual(['failed', 'deployed'])
  expect(await service.submitTask()).toMatchObject({ status: 202 })
})

test('a difference is found', async () => {
  await using fresh = await createTestDatabase()
  const before = await describeSchema(fresh.url)
  for (const change of [
    'ALTER TABLE watcher.tasks ALTER COLUMN author DROP NOT NULL',
    'DROP INDEX watcher.tasks_newest',
    'ALTER FUNCTION watcher.number_events(integer) RESET jit',
    'ALTER TABLE watcher.tasks DISABLE TRIGGER ALL, DROP CONSTRAINT tasks_status_check',
  ]) {
    const known = await describeSchema(fresh.url)
    await queryOnce(fresh.url, change)
    expect(await describeSchema(fresh.url), change).not.toEqual(known)
  }
  expect(await describeSchema(fresh.url)).not.toEqual(before)
})
