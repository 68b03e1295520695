import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import path from 'node:path'

/** Folders of this process alone: one for caches, one for what only it may read, with an empty `home` in it. */
export type ProcessFolders = { readonly caches: string; readonly secrets: string }

/** What a socket's name may still add to the folder's. Names of sockets end at about 100 characters. */
const maxPrivateFolderLength = 60

export async function openProcessFolders(root: string): Promise<ProcessFolders> {
  const caches = await openFolder(path.resolve(root))
  return { caches, secrets: await openPrivateFolder(caches) }
}

/** One folder per process: git's own locks make several fetches into one cache fail. Leftovers of the dead are removed. */
async function openFolder(root: string): Promise<string> {
  await mkdir(root, { recursive: true, mode: 0o700 })
  for (const name of await readdir(root)) {
    const [, host, pid] = /^p-(.+)-(\d+)-[0-9a-f]{8}$/.exec(name) ?? []
    if (host === safeHostname() && pid !== undefined && !isAlive(Number(pid))) {
      await rm(path.join(root, name), { recursive: true, force: true })
    }
  }
  const folder = path.join(root, `p-${safeHostname()}-${process.pid}-${randomBytes(4).toString('hex')}`)
  await mkdir(folder, { mode: 0o700 })
  return folder
}

function safeHostname(): string {
  return hostname()
    .replace(/[^A-Za-z0-9]+/g, '')
    .slice(0, 12)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Below the cache where its name is short and plain enough for ssh's options and sockets, else in a temporary folder. */
async function openPrivateFolder(folder: string): Promise<string> {
  const isFit = folder.length <= maxPrivateFolderLength && /^[\w./-]+$/.test(folder)
  const secrets = isFit ? path.join(folder, 'ssh') : await mkdtemp(path.join(tmpdir(), 'watcher-git-'))
  await mkdir(path.join(secrets, 'home'), { recursive: true, mode: 0o700 })
  return secrets
}
