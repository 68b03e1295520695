import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createTestDatabase, serviceUrlOf } from '../../test/support/database.ts'

const command = fileURLToPath(new URL('./migrate.ts', import.meta.url))
/** The limit only ends what hangs: a busy machine takes half a minute to start a program. */
const run = (file: string, args: readonly string[], env: Record<string, string>) =>
  spawnSync(process.execPath, [file, ...args], { env, encoding: 'utf8', timeout: 90_000 })
const migrateWith = (settings: Record<string, string>) => run(command, [], settings)

const argo = { ARGO_URL: 'https://argocd.example', ARGO_TOKEN: 'token' }

test('the migrations can be run alone, again too, into the schema of the settings', async () => {
  await using database = await createTestDatabase()
  for (const DB_SCHEMA of ['another', 'another']) {
    const { status, stdout, stderr } = migrateWith({ ...argo, DATABASE_URL: database.url, DB_SCHEMA })
    expect([status, stdout, stderr]).toEqual([0, 'the schema another is up to date\n', ''])
  }
})

test('a role that may not create the schema ends with 78 and names the schema', async () => {
  await using database = await createTestDatabase()
  const settings = { ...argo, DATABASE_URL: serviceUrlOf(database.url), DB_SCHEMA: 'another' }
  const { status, stderr } = migrateWith(settings)
  expect([status, stderr]).toEqual([
    78,
    expect.stringContaining('the database role may not migrate the schema another: '),
  ])
})

test('without a database the command names the setting and ends with 78', () => {
  const { status, stderr } = migrateWith(argo)
  expect([status, stderr]).toEqual([78, expect.stringContaining('DATABASE_URL: no database is configured')])
})

test.for([['migrate.ts'], ['deploy-tokens.ts', 'list']])(
  '%s says in one line that the database does not answer',
  ([file = '', ...args]) => {
    const path = fileURLToPath(new URL(`./${file}`, import.meta.url))
    const env = { ...argo, DATABASE_URL: 'postgres://127.0.0.1:1/watcher?sslmode=disable' }
    const { status, stderr } = run(path, args, env)
    expect([status, stderr]).toEqual([1, 'the database cannot be reached: connect ECONNREFUSED 127.0.0.1:1\n'])
  },
)
