import path from 'node:path'
import { createInterface } from 'node:readline'
import { compileCache } from '../server/node-flags.mjs'
import { spawnGuarded } from './guarded-child.mjs'
import { LaunchError } from './launch-error.mjs'

const startLimitMs = 60_000

/** @typedef {import('./render-demo-hints.mjs').DemoApplication} DemoApplication */

/** The line that the simulator prints when it is ready.
 * @typedef {{
 *   argoUrl: string,
 *   argoToken: string,
 *   sshKeyPath: string,
 *   knownHostsPath: string,
 *   repository: string,
 *   applications: DemoApplication[],
 *   missing: string,
 * }} SimulatorReady
 */

/**
 * @param {{ checkout: string, node: string, directory: string }} options
 */
export function spawnSimulator({ checkout, node, directory }) {
  return spawnGuarded({
    command: node,
    args: [path.join(checkout, 'simulator', 'main.ts'), '--demo', '--dir', directory, '--stop-with-stdin'],
    cwd: checkout,
    env: { NODE_COMPILE_CACHE: compileCache, ...process.env },
    stopSignal: 'TERM',
    stdout: 'pipe',
    stderr: 'inherit',
  })
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<SimulatorReady>}
 */
export function simulatorReady(child) {
  return new Promise((resolve, reject) => {
    const fail = (/** @type {string} */ why) => reject(new LaunchError(`the simulator ${why}`, { exitCode: 1 }))
    const limit = setTimeout(() => fail('was not ready within a minute'), startLimitMs)
    child.once('exit', (code) => fail(`ended with exit code ${code}`))
    if (!child.stdout) return fail('has no output')
    createInterface({ input: child.stdout }).once('line', (line) => {
      clearTimeout(limit)
      child.stdout?.resume()
      const ready = parseReadyLine(line)
      if (ready) resolve(ready)
      else fail(`printed an unexpected first line: ${line.slice(0, 200)}`)
    })
  })
}

/**
 * @param {string} line
 * @returns {SimulatorReady | undefined}
 */
function parseReadyLine(line) {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
