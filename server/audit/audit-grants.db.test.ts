import { Client } from 'pg'
import { expect, test } from 'vitest'
import { createTestDatabase, serviceUrlOf } from '../../test/support/database.ts'

test('by the grants of docs/install.md the service adds audit entries and cannot change or delete them', async () => {
  await using testDatabase = await createTestDatabase()
  const service = new Client({ connectionString: serviceUrlOf(testDatabase.url) })
  await service.connect()
  try {
    await service.query(`INSERT INTO watcher.audit (action, actor_kind) VALUES ('lock_set', 'session')`)
    await service.query(`SET watcher.retention = 'on'`)
    for (const change of [
      'DELETE FROM watcher.audit',
      `UPDATE watcher.audit SET actor = 'x'`,
      'TRUNCATE watcher.audit',
    ])
      await expect(service.query(change), change).rejects.toThrow('permission denied for table audit')
    await expect(service.query('SELECT watcher.delete_old_audit(29, 1000)')).rejects.toThrow(
      'kept for 30 days at least',
    )
    await service.query('SELECT watcher.delete_old_audit(30, 1000)')
    await service.query("CREATE TEMP TABLE audit AS SELECT 1 AS id, timestamptz '2000-01-01' AS at")
    const { rows } = await service.query('SELECT watcher.delete_old_audit(30, 1000) AS deleted')
    expect(rows, 'of a table of the caller').toEqual([{ deleted: 0 }])
    expect((await service.query('SELECT FROM watcher.audit')).rowCount).toBe(1)
  } finally {
    await service.end()
  }
})
