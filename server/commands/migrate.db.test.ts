import { expect, test } from 'vitest'
import { createTestDatabase, serviceUrlOf } from '../../test/support/database.ts'
import { runCommand } from '../../test/support/run-program.ts'

const migrateWith = (settings: Record<string, string>) => runCommand('migrate', [], settings)

const argo = { ARGO_URL: 'https://argocd.example', ARGO_TOKEN: 'token' }

test('the migrations can be run alone, again too, into the schema of the settings', async () => {
  await using database = await createTestDatabase()
  for (const DB_SCHEMA of ['another', 'another']) {
    const { code, stdout, stderr } = await migrateWith({ ...argo, DATABASE_URL: database.url, DB_SCHEMA })
    expect([code, stdout, stderr]).toEqual([0, 'the schema another is up to date\n', ''])
  }
})

test('a role that may not create the schema ends with 78 and names the schema', async () => {
  await using database = await createTestDatabase()
  const settings = { ...argo, DATABASE_URL: serviceUrlOf(database.url), DB_SCHEMA: 'another' }
  const { code, stderr } = await migrateWith(settings)
  expect([code, stderr]).toEqual([
    78,
    expect.stringContaining('the database role may not migrate the schema another: '),
  ])
})

test('without a database the command names the setting and ends with 78', async () => {
  const { code, stderr } = await migrateWith(argo)
  expect([code, stderr]).toEqual([78, expect.stringContaining('DATABASE_URL: no database is configured')])
})

test.for([['migrate'], ['deploy-tokens', 'list']])(
  'npm run %s says in one line that the database does not answer',
  async ([name = '', ...args]) => {
    const env = { ...argo, DATABASE_URL: 'postgres://127.0.0.1:1/watcher?sslmode=disable' }
    const { code, stderr } = await runCommand(name, args, env)
    expect([code, stderr]).toEqual([1, 'the database cannot be reached: connect ECONNREFUSED 127.0.0.1:1\n'])
  },
)
