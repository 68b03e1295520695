import { readFileSync } from 'node:fs'
import { expect, inject, test } from 'vitest'
import { checkRights } from '../../server/storage/check-rights.ts'
import { queryOnce, serviceUrlOf } from '../support/database.ts'
import { runCommand } from '../support/run-program.ts'

const page = readFileSync(new URL('../../docs/chart.md', import.meta.url), 'utf8')
const statements = (pattern: RegExp) => page.match(pattern) ?? []

/** What the chart does with `database.ownerSecretName`: the Job migrates before the service starts with a lesser role. */
test('a filter with SQL finds nothing, and the service runs as a role that can define nothing (T45; docs/chart.md)', async () => {
  const adminUrl = inject('postgresUrl')
  await queryOnce(adminUrl, "CREATE ROLE watcher_owner LOGIN PASSWORD 'owner'")
  await queryOnce(adminUrl, 'CREATE DATABASE of_an_owner OWNER watcher_owner')
  const ownerUrl = Object.assign(new URL(adminUrl), {
    username: 'watcher_owner',
    password: 'owner',
    pathname: '/of_an_owner',
  }).href
  const grants = statements(/^ALTER DEFAULT PRIVILEGES [^;]+;$/gm)
  expect(grants).toHaveLength(4)
  for (const grant of grants) await queryOnce(ownerUrl, grant)
  const env = { ARGO_URL: 'http://127.0.0.1:1', ARGO_TOKEN: 'not-used', DATABASE_URL: ownerUrl }
  expect(await runCommand('migrate', [], env)).toMatchObject({ code: 0, stderr: '' })
  for (const revoke of statements(/^REVOKE [^;]+;$/gm)) await queryOnce(ownerUrl, revoke)

  const databaseUrl = serviceUrlOf(ownerUrl)
  const connection = { connectionString: databaseUrl }
  await checkRights({ connection, schema: 'watcher', maxConnections: 1, connectTimeoutMs: 60_000 }, true)
  await expect(queryOnce(databaseUrl, 'CREATE TABLE watcher.x ()')).rejects.toThrow('permission denied')
  await expect(queryOnce(databaseUrl, 'DELETE FROM watcher.audit')).rejects.toThrow('permission denied')
  expect(await queryOnce(databaseUrl, 'SELECT watcher.delete_old_audit(30, 1)')).toHaveLength(1)
})
