import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { LaunchError, wrongSetup } from './launch-error.mjs'

/**
 * Builds the web UI if there is none or a source is newer. An installation without development packages keeps what it has.
 *
 * @param {string} checkout
 * @param {string} node
 */
export function buildUi(checkout, node) {
  const built = path.join(checkout, 'web', 'dist', 'index.html')
  const vite = path.join(checkout, 'node_modules', 'vite', 'bin', 'vite.js')
  if (existsSync(built) && (!existsSync(vite) || statSync(built).mtimeMs >= newestSource(checkout))) return
  if (!existsSync(vite)) {
    const message = 'the web UI is not built and its build needs all packages: run "npm ci" without --omit=dev'
    throw new LaunchError(message, { exitCode: wrongSetup })
  }
  console.error('building the web UI …')
  const { status, stdout, stderr } = spawnSync(node, [vite, 'build', '--config', 'web/vite.config.ts'], {
    cwd: checkout,
    encoding: 'utf8',
    env: { ...process.env, NODE_ENV: 'production' }, // whatever runs us, its pages are the real ones
    timeout: 180_000,
  })
  if (status !== 0) throw new LaunchError(`the web UI could not be built:\n${stdout}${stderr}`, { exitCode: 1 })
}

/** @param {string} checkout */
function newestSource(checkout) {
  const files = ['web', 'contract'].flatMap((folder) => sourcesIn(path.join(checkout, folder)))
  return Math.max(...[path.join(checkout, 'package-lock.json'), ...files].map((file) => statSync(file).mtimeMs))
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function sourcesIn(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'dist')
    .flatMap((entry) => {
      const full = path.join(folder, entry.name)
      return entry.isDirectory() ? sourcesIn(full) : [full]
    })
}
