import { randomBytes } from 'node:crypto'
import { lstat, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Folders of this process alone: one for caches, one for what only it may read, with an empty `home` in it. */
export type ProcessFolders = {
  readonly caches: string
  readonly secrets: string
  /** Makes what was deleted meanwhile again. @throws after the end */
  ensure(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** What a socket's name may still add to the folder's. Names of sockets end at about 100 characters. */
const maxPrivateFolderLength = 60
const beatMs = 60_000
const deadAfterMs = 15 * 60_000
const beatFile = 'alive'

/**
 * One folder per process: git's own locks make several fetches into one cache fail. Any number of processes may share the
 * root, also on other machines: who is alive shows by a file that is written each minute, whose times are all the file
 * system's own. What has none that is younger than 15 minutes belongs to the dead, and is removed.
 */
export async function openProcessFolders(root: string): Promise<ProcessFolders> {
  const name = randomBytes(6).toString('hex')
  const caches = path.join(path.resolve(root), `p-${name}`)
  // below the cache where that is short and plain enough for ssh's options and sockets
  const isFit = caches.length <= maxPrivateFolderLength && /^[\w./-]+$/.test(caches)
  const secrets = isFit ? path.join(caches, 'ssh') : path.join(tmpdir(), `watcher-git-${name}`)

  let isClosed = false

  async function ensure(): Promise<void> {
    if (isClosed) throw new Error('closed')
    await ensureFolder(caches)
    await ensureFolder(secrets)
    await ensureFolder(path.join(secrets, 'home'))
  }

  async function beat(): Promise<void> {
    await Promise.all([caches, secrets].map((folder) => writeFile(path.join(folder, beatFile), name)))
  }

  await mkdir(path.dirname(caches), { recursive: true, mode: 0o700 })
  await ensure()
  await beat()
  await removeDead(path.dirname(caches), /^p-/, await lastBeatMs(caches))
  if (!isFit) await removeDead(tmpdir(), /^watcher-git-/, await lastBeatMs(secrets))
  const timer = setInterval(
    () =>
      void ensure()
        .then(beat)
        .catch(() => undefined),
    beatMs,
  ).unref() // the next use reports it

  return {
    caches,
    secrets,
    ensure,
    async [Symbol.asyncDispose]() {
      isClosed = true
      clearInterval(timer)
      // a command that still writes ends once its folder is gone
      for (const folder of [caches, secrets]) await rm(folder, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

/** A folder that is there already must be ours: in the temporary directory anybody may make one of that name. */
async function ensureFolder(folder: string): Promise<void> {
  const found = await lstat(folder).catch(() => undefined)
  if (found === undefined) await mkdir(folder, { recursive: path.basename(folder) !== 'home', mode: 0o700 })
  else if (!found.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid)) {
    throw new Error(`${folder} belongs to another user: remove it`)
  }
}

async function removeDead(root: string, pattern: RegExp, nowMs: number): Promise<void> {
  const folders = (await readdir(root)).filter((name) => pattern.test(name)).map((name) => path.join(root, name))
  for (const folder of folders) {
    const beganMs = await lastBeatMs(folder).catch(() => nowMs) // gone already, or not for us to see
    if (nowMs - beganMs > deadAfterMs) await rm(folder, { recursive: true, force: true }).catch(() => undefined)
  }
}

async function lastBeatMs(folder: string): Promise<number> {
  const { mtimeMs } = await stat(path.join(folder, beatFile)).catch(() => stat(folder))
  return mtimeMs
}
