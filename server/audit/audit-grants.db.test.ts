import { Client } from 'pg'
import { expect, test } from 'vitest'
import { createTestDatabase, serviceUrlOf } from '../../test/support/database.ts'

test('by the grants of docs/operations.md the service adds audit entries and cannot change or delete them', async () => {
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
    expect((await service.query('SELECT FROM watcher.audit')).rowCount).toBe(1)
  } finally {
    await service.end()
  }
})
