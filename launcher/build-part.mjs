import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { LaunchError, wrongSetup } from './launch-error.mjs'

/** What is built of the sources in `folders`. Without the pages the service cannot run, without the client it can.
 * @typedef {{ name: string, folder: string, result: string, isNeeded: boolean }} BuiltPart */

/** @type {BuiltPart} */
export const ui = { name: 'web UI', folder: 'web', result: 'index.html', isNeeded: true }
/** @type {BuiltPart} */
export const client = { name: 'client', folder: 'cli', result: 'deployment-watcher.mjs', isNeeded: false }

/**
 * Builds a part unless its last build was of the same sources and packages. An installation without development packages
 * keeps what it has.
 *
 * @param {BuiltPart} part
 * @param {string} checkout
 * @param {string} node
 */
export function buildPart({ name, folder, result, isNeeded }, checkout, node) {
  const dist = path.join(checkout, folder, 'dist')
  const record = path.join(dist, '.built-from')
  const vite = path.join(checkout, 'node_modules', 'vite', 'bin', 'vite.js')
  const isBuilt = existsSync(path.join(dist, result))
  if (!existsSync(vite)) {
    if (isBuilt || !isNeeded) return
    const message = `the ${name} is not built and its build needs all packages: run "npm ci" without --omit=dev`
    throw new LaunchError(message, { exitCode: wrongSetup })
  }
  const sources = digestSources(checkout, folder) // before the build: what changes during it is built next time
  if (isBuilt && existsSync(record) && readFileSync(record, 'utf8') === sources) return
  console.error(`building the ${name} …`)
  const { status, stdout, stderr } = spawnSync(node, [vite, 'build', '--config', `${folder}/vite.config.ts`], {
    cwd: checkout,
    encoding: 'utf8',
    env: { ...process.env, NODE_ENV: 'production' }, // whatever runs us, its pages are the real ones
    timeout: 180_000,
  })
  if (status !== 0) throw new LaunchError(`the ${name} could not be built:\n${stdout}${stderr}`, { exitCode: 1 })
  writeFileSync(record, sources)
}

/**
 * Of the contents: times say nothing after a checkout, a copy or a deletion.
 *
 * @param {string} checkout
 * @param {string} folder
 */
function digestSources(checkout, folder) {
  const installed = path.join('node_modules', '.package-lock.json') // npm writes there what it has installed
  const files = [folder, 'contract'].flatMap((one) => sourcesIn(checkout, one))
  const digest = createHash('sha256')
  for (const file of [installed, 'package-lock.json', ...files]) {
    const full = path.join(checkout, file)
    const content = existsSync(full) ? readFileSync(full) : ''
    digest.update(`${file} ${content.length}\n`).update(content)
  }
  return digest.digest('hex')
}

/**
 * @param {string} checkout
 * @param {string} folder
 * @returns {string[]}
 */
function sourcesIn(checkout, folder) {
  return readdirSync(path.join(checkout, folder), { withFileTypes: true })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .filter(({ name }) => name !== 'dist')
    .flatMap((entry) => {
      const inside = path.join(folder, entry.name)
      return entry.isDirectory() ? sourcesIn(checkout, inside) : [inside]
    })
}
