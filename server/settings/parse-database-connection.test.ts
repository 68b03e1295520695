import { describe, expect, test } from 'vitest'
import { parseDatabaseConnection } from './parse-database-connection.ts'

describe('where the database is', () => {
  test('is an address', () =>
    expect(parseDatabaseConnection('postgres://me:p%40w@db:5433/watcher')).toEqual({
      connectionString: 'postgres://me:p%40w@db:5433/watcher',
    }))
  test('is an address whose sslmode has the meaning of libpq', () =>
    expect(parseDatabaseConnection('postgresql://me@db/watcher?sslmode=require')).toEqual({
      connectionString: 'postgresql://me@db/watcher?sslmode=require&uselibpqcompat=true',
    }))
  test.for([
    ['postgres://me@db/w', 'verify-full'],
    ['postgres://me@db/w?sslmode=require', 'require'],
    ['postgres://me@db/w?sslmode=verify-ca', 'verify-ca'],
  ])('is an address whose server has authorities of its own: %s', ([text = '', mode]) =>
    expect(parseDatabaseConnection(text, '/ca files/ca.crt')).toEqual({
      connectionString: `postgres://me@db/w?sslmode=${mode}&sslrootcert=%2Fca+files%2Fca.crt&uselibpqcompat=true`,
    }),
  )
  test.for<[string, object]>([
    ['host=db dbname=watcher', { host: 'db', database: 'watcher', ssl: false }],
    [
      " host = db port=5433  user=me password='it\\'s a \\\\' dbname=watcher sslmode=verify-full TimeZone=UTC",
      {
        host: 'db',
        port: 5433,
        user: 'me',
        password: "it's a \\",
        database: 'watcher',
        ssl: { rejectUnauthorized: true },
      },
    ],
    ["host=db password=''", { host: 'db', password: '', ssl: false }],
  ])('is keywords: %s', ([text, connection]) => expect(parseDatabaseConnection(text)).toEqual(connection))
  test.for([
    '',
    'db',
    'mysql://db',
    "host='db",
    'host=db nonsense',
    'host=db sslmode=prefer',
    'postgres://me:p#w@:x/',
    'postgres://me:p%w@db/x',
  ])('is not %j', (text) => expect(parseDatabaseConnection(text)).toHaveProperty('issue'))
})
