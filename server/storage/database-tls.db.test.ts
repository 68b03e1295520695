import { chmod, chown, copyFile, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { rootCertificates } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { startEmbeddedPostgres } from '../../launcher/embedded-postgres.mjs'
import { queryOnce } from '../../test/support/database.ts'
import { eventually } from '../../test/support/eventually.ts'
import { readSettings } from '../compose/settings.ts'
import { openDatabase, readServerVersion } from './database.ts'
import { isDatabaseUnreachable } from './database-unreachable.ts'

/** Of the address 127.0.0.1, signed by itself. */
const certificate = fileURLToPath(new URL('../../test/fixtures/tls/certificate.pem', import.meta.url))
const key = fileURLToPath(new URL('../../test/fixtures/tls/key.pem', import.meta.url))

const folder = await mkdtemp(path.join(tmpdir(), 'database-tls-'))
const postgres = await startEmbeddedPostgres({ directory: path.join(folder, 'postgres'), durable: false })
afterAll(async () => {
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
})
await serveTls()
const { port, password } = new URL(postgres.url)
const foreign = path.join(folder, 'foreign.pem')
await writeFile(foreign, rootCertificates[0] ?? '')

/** From now on only connections with TLS are accepted. */
async function serveTls(): Promise<void> {
  const cluster = path.join(postgres.directory, 'cluster')
  const { uid, gid } = await stat(cluster)
  await copyFile(certificate, path.join(cluster, 'server.crt'))
  await writeFile(path.join(cluster, 'pg_hba.conf'), 'hostssl all all all scram-sha-256\n')
  await copyFile(key, path.join(cluster, 'server.key'))
  await chmod(path.join(cluster, 'server.key'), 0o600)
  for (const name of ['server.crt', 'server.key', 'pg_hba.conf']) await chown(path.join(cluster, name), uid, gid)
  await queryOnce(postgres.url, 'ALTER SYSTEM SET ssl = on')
  await queryOnce(postgres.url, 'SELECT pg_reload_conf()')
  await eventually(() => expect(queryOnce(postgres.url, 'SELECT 1')).rejects.toThrow('no encryption'))
}

const address = (host: string, query = '') => ({
  DATABASE_URL: `postgres://postgres:${password}@${host}:${port}/postgres${query}`,
})
const keywords = (mode = '') => ({
  DB_DSN: `host=127.0.0.1 port=${port} user=postgres password=${password} dbname=postgres${mode}`,
})
const parts = {
  ...{ DB_HOST: '127.0.0.1', DB_PORT: port, DB_USER: 'postgres', DB_PASSWORD: password, DB_NAME: 'postgres' },
}

/** What the service reaches with these settings. */
function open(settings: Record<string, string>) {
  const least = { ARGO_URL: 'https://argocd.example.com', ARGO_TOKEN: 'x', DB_CONNECT_TIMEOUT: '30s' }
  return openDatabase(readSettings({ ...least, ...settings }).settings.database, () => undefined)
}

test.for<[string, Record<string, string>]>([
  ['an address', address('127.0.0.1')],
  ['an address with require, for another host', address('localhost', '?sslmode=require')],
  ['an address with verify-ca, for another host', address('localhost', '?sslmode=verify-ca')],
  ['an address with verify-full', address('127.0.0.1', '?sslmode=verify-full')],
  ['keywords', keywords()],
  ['keywords with verify-full', keywords(' sslmode=verify-full')],
  ['parts', parts],
  ['parts with verify-ca', { ...parts, DB_SSL_MODE: 'verify-ca' }],
])('PostgreSQL is reached over TLS with DB_CA_FILE: %s', async ([, settings]) => {
  await using database = open({ ...settings, DB_CA_FILE: certificate })
  expect(await readServerVersion(database)).toMatch(/^\d/)
})

test.for<[string, Record<string, string>, string]>([
  ['another authority, for an address', { ...address('127.0.0.1', '?sslmode=require'), DB_CA_FILE: foreign }, 'self'],
  ['another authority, for parts', { ...parts, DB_CA_FILE: foreign }, 'self'],
  ['another host', { ...address('localhost'), DB_CA_FILE: certificate }, "does not match certificate's altnames"],
  ['no authority', address('127.0.0.1', '?sslmode=verify-full'), 'self'],
  ['no TLS', address('127.0.0.1'), 'no encryption'],
])('PostgreSQL is not reached: %s', async ([, settings, message]) => {
  await using database = open(settings)
  await expect(readServerVersion(database)).rejects.toThrow(message)
})

test.for([address('127.0.0.1'), keywords(), parts])(
  'a replaced DB_CA_FILE takes effect without a restart',
  async (settings) => {
    const file = path.join(folder, 'rotated.pem')
    await copyFile(foreign, file)
    await using database = open({ ...settings, DB_CA_FILE: file })
    expect(await readServerVersion(database).catch(isDatabaseUnreachable)).toBe(true)
    await copyFile(certificate, file)
    expect(await readServerVersion(database)).toMatch(/^\d/)
  },
)
