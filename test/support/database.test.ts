import { describe, expect, test } from 'vitest'
import { createTestDatabase, queryOnce } from './database.ts'

describe('a database for one test', () => {
  test('is migrated and shares nothing with another one', async () => {
    await using first = await createTestDatabase()
    await using second = await createTestDatabase()
    await queryOnce(
      first.url,
      "INSERT INTO watcher.repositories (address, branch) VALUES ('git@example.test:a.git', 'main')",
    )
    expect(await queryOnce(first.url, 'SELECT address FROM watcher.repositories')).toHaveLength(1)
    expect(await queryOnce(second.url, 'SELECT address FROM watcher.repositories')).toHaveLength(0)
  })

  test('several are made at the same time', async () => {
    const databases = await Promise.all(Array.from({ length: 5 }, createTestDatabase))
    expect(new Set(databases.map(({ url }) => url)).size).toBe(5)
    await Promise.all(databases.map((database) => database[Symbol.asyncDispose]()))
  })

  test('is gone afterwards', async () => {
    const database = await createTestDatabase()
    await database[Symbol.asyncDispose]()
    await expect(queryOnce(database.url, 'SELECT 1')).rejects.toThrow('does not exist')
  })
})
