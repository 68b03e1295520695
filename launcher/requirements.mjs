import { accessSync, constants, existsSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { LaunchError, wrongSetup } from './launch-error.mjs'

/** The first with `worker.cpuUsage()`, which limits the edit of an override file. */
const neededNode = '24.6'

/** @param {string} version */
export function isNeededNode(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [neededMajor = 0, neededMinor = 0] = neededNode.split('.').map(Number)
  return major > neededMajor || (major === neededMajor && minor >= neededMinor)
}

/**
 * @param {string} checkout
 * @returns {string} the program of a Node that runs TypeScript: this one, or the one that npm installed
 */
export function findNode(checkout) {
  if (isNeededNode(process.versions.node)) return process.execPath
  const windows = process.platform === 'win32'
  const name = `node-${windows ? 'win' : process.platform}-${process.arch}`
  const packaged = path.join(checkout, 'node_modules', name, 'bin', windows ? 'node.exe' : 'node')
  if (existsSync(packaged)) return packaged
  throw new LaunchError(
    `Node ${neededNode} or newer is needed and this is ${process.version}: install it, or run "npm ci", which brings it on Linux and Windows`,
    { exitCode: wrongSetup },
  )
}

/** @param {string} checkout */
export function checkPackages(checkout) {
  if (existsSync(path.join(checkout, 'node_modules', 'fastify'))) return
  throw new LaunchError('the packages are not installed: run "npm ci" first', { exitCode: wrongSetup })
}

/**
 * Looked for here, because a missing one would otherwise show as ENOENT in the middle of a deployment.
 *
 * @param {string | undefined} searchPath PATH
 */
export function checkPrograms(searchPath) {
  const needed = { git: 'git', ssh: 'openssh-client' }
  const missing = Object.entries(needed).filter(([program]) => !isOnPath(program, searchPath))
  if (missing.length === 0) return
  const packages = missing.map(([, name]) => name).join(' ')
  throw new LaunchError(
    `${missing.map(([program]) => program).join(' and ')} not found: install ${packages} (for instance: apt-get install ${packages})`,
    { exitCode: wrongSetup },
  )
}

/**
 * @param {string} program
 * @param {string | undefined} searchPath
 */
function isOnPath(program, searchPath = '') {
  const names = process.platform === 'win32' ? [`${program}.exe`] : [program]
  return searchPath.split(path.delimiter).some((folder) => names.some((name) => isExecutable(path.join(folder, name))))
}

/** @param {string} file */
function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Before anything is started or built. The service would notice too, but only after half a minute's work.
 *
 * @param {string} host
 * @param {number} port
 * @returns {Promise<void>}
 */
export function checkPort(host, port) {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (/** @type {NodeJS.ErrnoException} */ cause) => {
      const what = cause.code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be used (${cause.code})`
      const exitCode = wrongSetup
      reject(new LaunchError(`port ${port} on ${host} ${what}: set PORT to a free one`, { exitCode, cause }))
    })
    probe.listen(port, host, () => probe.close(() => resolve()))
  })
}
