import { mkdir } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { Client, DatabaseError, Pool } from 'pg'
import { expect, test } from 'vitest'
import { describeStartupError } from './describe-startup-error.ts'

const faultOf = async (doing: () => Promise<unknown>) =>
  doing().then(
    () => 'nothing is wrong',
    (error: unknown) => describeStartupError(error),
  )
const connect = (address: string) => new Client({ connectionString: address, connectionTimeoutMillis: 2_000 }).connect()
const listen = (port: number, host: string) =>
  new Promise((resolve, reject) =>
    createServer()
      .on('error', reject)
      .listen(port, host, () => resolve(undefined)),
  )

const listenOn = (server: Server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const addressOf = (server: Server) => `postgres://127.0.0.1:${(server.address() as AddressInfo).port}/watcher` // it listens on TCP

test('a start that fails for its surroundings says so in one line', async () => {
  expect(await faultOf(() => connect('postgres://127.0.0.1:1/watcher'))).toBe(
    'the database cannot be reached: connect ECONNREFUSED 127.0.0.1:1',
  )
  expect(await faultOf(() => connect('postgres://no.such.host.invalid/watcher'))).toMatch(
    /^(the database cannot be reached: )?getaddrinfo (ENOTFOUND|EAI_AGAIN) no\.such\.host\.invalid$/,
  )
  expect(await faultOf(() => listen(0, '192.0.2.1'))).toMatch(/^listen EADDRNOTAVAIL/)
  expect(await faultOf(() => mkdir('/dev/null/x'))).toMatch(/^ENOTDIR/)
  const caused = async () => {
    throw new Error('could not be migrated', {
      cause: await connect('postgres://127.0.0.1:1/a').catch((error) => error),
    })
  }
  expect(await faultOf(caused)).toContain('ECONNREFUSED')
  const refused = new DatabaseError('password authentication failed for user "watcher"', 1, 'error')
  expect(describeStartupError(refused)).toBe('database error: password authentication failed for user "watcher"')
})

test.for(['read', 'write'])('a connection that was reset is one to the database: %s', (syscall) => {
  const error = Object.assign(new Error(`${syscall} ECONNRESET`), { code: 'ECONNRESET', syscall })
  expect(describeStartupError(error)).toBe(`the database cannot be reached: ${syscall} ECONNRESET`)
})

test('a database without TLS says so in one line', async () => {
  const server = createServer((socket) => socket.once('data', () => socket.end('N')))
  await listenOn(server)
  expect(await faultOf(() => connect(`${addressOf(server)}?sslmode=require&uselibpqcompat=true`))).toBe(
    'the connection to the database cannot be encrypted: The server does not support SSL connections',
  )
  server.close()
})

test('a database that does not answer in time says so in one line', async () => {
  const server = createServer()
  await listenOn(server)
  const pool = new Pool({ connectionString: addressOf(server), connectionTimeoutMillis: 50 })
  expect(await faultOf(() => pool.query('SELECT'))).toBe(
    'the database cannot be reached: Connection terminated due to connection timeout',
  )
  server.close()
})

test('an error of our own is none of them', () => {
  expect(describeStartupError(new TypeError('x is not a function'))).toBeUndefined()
  expect(describeStartupError('thrown')).toBeUndefined()
})
