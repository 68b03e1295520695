import { expect, test } from 'vitest'
import { createTestDatabase, queryOnce, serviceUrlOf } from '../../test/support/database.ts'
import { checkRights } from './check-rights.ts'

test('a role that may not call the function that deletes audit entries is rejected where retention is on', async () => {
  await using testDatabase = await createTestDatabase()
  const settings = { ...testDatabase.settings, connection: { connectionString: serviceUrlOf(testDatabase.url) } }
  await checkRights(settings, true)
  await queryOnce(testDatabase.url, 'REVOKE EXECUTE ON FUNCTION watcher.delete_old_audit FROM watcher_service')
  await expect(checkRights(settings, true)).rejects.toThrow(
    'the database role watcher_service lacks rights in the schema watcher: EXECUTE on delete_old_audit. As the owner',
  )
  await checkRights(settings, false)
})

test('a role is told all tables and rights that it lacks at once', async () => {
  await using testDatabase = await createTestDatabase()
  const settings = { ...testDatabase.settings, connection: { connectionString: serviceUrlOf(testDatabase.url) } }
  await queryOnce(testDatabase.url, 'REVOKE INSERT, UPDATE ON watcher.tasks FROM watcher_service')
  await queryOnce(testDatabase.url, 'REVOKE SELECT ON watcher.sessions FROM watcher_service')
  await expect(checkRights(settings, false)).rejects.toThrow(
    'INSERT, UPDATE on tasks; SELECT on sessions. As the owner',
  )
})
