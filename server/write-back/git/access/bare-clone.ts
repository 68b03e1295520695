import { createHash } from 'node:crypto'
import { mkdir, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { directorySize } from './cache-limit.ts'
import type { GitAccess } from './git-access.ts'
import { machineFailure } from './git-error.ts'

/** A bare repository in the cache folder. */
export type BareClone = {
  readonly directory: string
  /** Makes it where it is missing. @throws {GitError} */
  prepare(): Promise<void>
  /** The same before a fetch. Each one leaves a pack behind: a clone that has grown is replaced by a new one. */
  prepareFetch(): Promise<void>
  /** Throws it away. */
  discard(): Promise<void>
}

type BareCloneSettings = {
  /** Its folder is named after it, behind the prefix. */
  readonly name: string
  readonly prefix?: string
  /** What its fetches leave out, in git's words. */
  readonly filter: string
  /** Called before the folder is removed. */
  readonly onDiscard: () => void
  readonly limits?: typeof cloneLimits
}

/** A new clone is cheaper than a collection of the packs. */
export const cloneLimits = { fetches: 1_000, bytes: 100 * 1024 * 1024 }
const fetchesBetweenChecks = 20

export function createBareClone(access: GitAccess, settings: BareCloneSettings): BareClone {
  const { name, prefix = '', filter, onDiscard, limits = cloneLimits } = settings
  const directory = path.join(access.folder, prefix + createHash('sha256').update(name).digest('hex').slice(0, 16))
  let isReady = false
  let fetches = 0
  let removing: Promise<void> | undefined
  access.caches.add(directory, discard)

  async function discard(): Promise<void> {
    isReady = false
    fetches = 0
    onDiscard()
    removing = remove(directory).catch(() => undefined) // the next use reports it
    await removing
  }

  async function prepare(): Promise<void> {
    if (isReady && (await isThere(directory))) return
    if (isReady) await discard()
    await removing
    try {
      await remove(directory)
      // what `git init` would make, without a process
      for (const folder of ['objects', 'refs'])
        await mkdir(path.join(directory, folder), { recursive: true, mode: 0o700 })
      await writeFile(path.join(directory, 'HEAD'), 'ref: refs/heads/main\n')
      await writeFile(path.join(directory, 'config'), config(filter))
    } catch (error) {
      throw machineFailure(error)
    }
    isReady = true
  }

  async function prepareFetch(): Promise<void> {
    const isCheckDue = fetches % fetchesBetweenChecks === 0
    const isTooLarge = isCheckDue && (await directorySize(directory)) > limits.bytes
    if (fetches >= limits.fetches || isTooLarge) await discard()
    fetches += 1
    await prepare()
  }

  return { directory, prepare, prepareFetch, discard }
}

/**
 * Without a url, which the environment of each command has. Without `transfer.fsckObjects`: it rejects a branch for one odd
 * date of an old import, and git ignores `fetch.fsck.*` in a partial clone. What it guards against acts in a work tree
 * (decision 0019).
 */
const config = (filter: string) =>
  [
    '[core]\n\trepositoryFormatVersion = 1\n\tbare = true\n\tabbrev = 40\n\thooksPath = /dev/null',
    '[extensions]\n\tpartialClone = origin',
    `[remote "origin"]\n\tpromisor = true\n\tpartialclonefilter = ${filter}`,
    '[gc]\n\tauto = 0',
    '[submodule]\n\trecurse = false\n',
  ].join('\n')

const remove = (directory: string) => rm(directory, { recursive: true, force: true })

const isThere = (directory: string): Promise<boolean> =>
  stat(directory).then(
    () => true,
    () => false,
  )
