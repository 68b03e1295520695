// Starts everything `npm start` promises. Plain JavaScript with built-in modules only: it must run on an older Node and
// before anything is built. The parts are in launcher/.
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { buildPart, client, ui } from './launcher/build-part.mjs'
import { startEmbeddedPostgres } from './launcher/embedded-postgres.mjs'
import { EmbeddedPostgresError, isEmbeddedPostgresInstalled } from './launcher/embedded-postgres-files.mjs'
import {
  addressOf,
  dataDirectoryOf,
  demoSettings,
  isDatabaseSet,
  isDemo,
  settingsAgainstDemo,
} from './launcher/environment.mjs'
import { spawnGuarded, stopChild } from './launcher/guarded-child.mjs'
import { LaunchError, wrongSetup } from './launcher/launch-error.mjs'
import { forgetStart, recordStart, waitForPreviousEnd } from './launcher/previous-start.mjs'
import { renderDemoHints } from './launcher/render-demo-hints.mjs'
import { checkPackages, checkPort, checkPrograms, findNode } from './launcher/requirements.mjs'
import { simulatorReady, spawnSimulator } from './launcher/simulator.mjs'
import { watchNpm } from './launcher/watch-npm.mjs'
import { compileCache, nodeEnvironment, nodeFlags } from './server/node-flags.mjs'

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */
/** What runs, in the order of its start; stopped in the opposite order.
 * @typedef {{ name: string, ended: Promise<unknown>, stop: () => Promise<void> }} Part */

const checkout = path.dirname(fileURLToPath(import.meta.url))
/** The service limits its own stop (and may be told to drain for long). */
const stopLimitMs = { server: 300_000, simulator: 10_000 }

/** @type {Part[]} */
const running = []
const shutdownRequested = new Promise((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => resolve('asked to stop'))
  watchNpm(() => resolve('asked to stop'))
})
let isEndWished = false
void shutdownRequested.then(() => {
  isEndWished = true
})

try {
  process.exitCode = await launch(process.env)
} catch (error) {
  if (!(error instanceof LaunchError) && !(error instanceof EmbeddedPostgresError)) throw error
  console.error(`deployment-watcher: ${error.message}`)
  process.exitCode = error instanceof LaunchError ? error.exitCode : 1
} finally {
  await stopAll()
}
process.exit()

/**
 * @param {NodeJS.ProcessEnv} environment
 * @returns {Promise<number>} the exit code
 */
async function launch(environment) {
  refuseDemo(environment)
  const node = findNode(checkout)
  checkPackages(checkout)
  checkPrograms(environment.PATH)
  const address = addressOf(environment)
  await waitForPreviousEnd(dataDirectoryOf(environment))
  if (address.isKnown) await checkPort(address.host, address.port)
  for (const part of [ui, client]) buildPart(part, checkout, node)
  const database = await orEnd(startDatabase(environment))
  const demo = isDemo(environment) ? await orEnd(startDemo(environment, node)) : undefined
  const settings = { ...environment, ...database, ...(demo && demoSettings(environment, demo)) }
  const server = startServer(node, settings)
  await recordStart(dataDirectoryOf(environment), server.pid)
  if ((await Promise.race([isReady(address.probe, server), shutdownRequested])) === true)
    announce(address.shown, settings, demo)
  return untilEnd(server)
}

/** @param {NodeJS.ProcessEnv} environment */
function refuseDemo(environment) {
  const names = isDemo(environment) ? settingsAgainstDemo(environment) : []
  if (names.length === 0) return
  const message = `ARGO_URL and ARGO_TOKEN: required with ${names.join(', ')}; without any of these the demo starts`
  throw new LaunchError(message, { exitCode: wrongSetup })
}

/** Interrupts the start when the person does not want it any more; a part that is being started comes up before: only then it
 * can be stopped properly.
 * @template T
 * @param {Promise<T>} starting
 * @returns {Promise<T>} */
async function orEnd(starting) {
  const [outcome] = await Promise.allSettled([starting])
  if (isEndWished) throw new LaunchError('stopped before it was ready', { exitCode: 130 })
  if (outcome.status === 'rejected') throw outcome.reason
  return outcome.value
}

/**
 * @param {NodeJS.ProcessEnv} environment
 * @returns {Promise<NodeJS.ProcessEnv>} the settings that name it; none where the person's own name one, or the service
 *   has to report that there is none
 */
async function startDatabase(environment) {
  if (isDatabaseSet(environment) || !isEmbeddedPostgresInstalled()) return {}
  const directory = path.join(dataDirectoryOf(environment), 'postgresql')
  const postgres = await startEmbeddedPostgres({ directory, durable: true })
  running.push({ name: 'PostgreSQL', ended: postgres.ended, stop: postgres.stop })
  if (postgres.directory !== directory) console.error(`the database is kept in ${postgres.directory}`)
  return { DATABASE_URL: postgres.url, ...(isDemo(environment) ? {} : { EMBEDDED_DATABASE: 'true' }) }
}

/**
 * @param {NodeJS.ProcessEnv} environment
 * @param {string} node
 */
async function startDemo(environment, node) {
  const directory = path.join(dataDirectoryOf(environment), 'demo')
  await mkdir(directory, { recursive: true })
  const child = spawnSimulator({ checkout, node, directory })
  addPart('simulator', child, stopLimitMs.simulator)
  return simulatorReady(child)
}

/**
 * @param {string} node
 * @param {NodeJS.ProcessEnv} env
 */
function startServer(node, env) {
  const main = path.join(checkout, 'server', 'main.ts')
  const child = spawnGuarded({
    command: node,
    args: [...nodeFlags, main],
    env: { NODE_COMPILE_CACHE: compileCache, ...nodeEnvironment, ...env },
    stopSignal: 'TERM',
    stdout: 'inherit',
    stderr: 'inherit',
  })
  addPart('service', child, stopLimitMs.server)
  return child
}

/**
 * @param {string} name
 * @param {ChildProcess} child
 * @param {number} limitMs
 */
function addPart(name, child, limitMs) {
  const ended = new Promise((resolve) => child.once('exit', resolve).once('error', resolve))
  running.push({ name, ended, stop: () => stopChild(child, 'SIGTERM', limitMs) })
}

/**
 * @param {string} address
 * @param {ChildProcess} server
 * @returns {Promise<boolean>} false when the service ended first
 */
async function isReady(address, server) {
  for (; server.exitCode === null && server.signalCode === null; await delay(100)) {
    const answer = await fetch(`${address}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
    await answer?.arrayBuffer().catch(() => undefined)
    if (answer?.ok) return true
  }
  return false
}

/**
 * @param {string} address
 * @param {NodeJS.ProcessEnv} settings
 * @param {import('./launcher/simulator.mjs').SimulatorReady | undefined} demo
 */
function announce(address, settings, demo) {
  if (!demo) return console.error(`Deployment Watcher is ready: ${address}/tasks`)
  const token = settings.WATCHER_DEPLOY_TOKEN === 'demo' ? 'demo' : '<your deploy token>'
  console.log(renderDemoHints({ ...demo, address, token }))
}

/**
 * Waits for a signal or the end of any part.
 *
 * @param {ChildProcess} server
 * @returns {Promise<number>} the service's exit code; 1 if another part ended first
 */
async function untilEnd(server) {
  const first = await Promise.race([shutdownRequested, ...running.map(({ name, ended }) => ended.then(() => name))])
  const servicesOwn = first === 'service' || first === 'asked to stop'
  if (!servicesOwn) console.error(`deployment-watcher: ${first} ended unexpectedly; stopping everything`)
  await running.pop()?.stop()
  if (first === 'service' && server.exitCode !== 0) {
    console.error(`deployment-watcher: the service ended with ${server.signalCode ?? `exit code ${server.exitCode}`}`)
  }
  await forgetStart(dataDirectoryOf(process.env))
  return servicesOwn ? (server.exitCode ?? 1) : 1
}

/** The last started first; PostgreSQL therefore last. */
async function stopAll() {
  for (const part of running.splice(0).reverse()) await part.stop()
}
