import { createHash } from 'node:crypto'
import { rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { directorySize } from './cache-limit.ts'
import type { GitAccess } from './git-access.ts'
import { machineFailure } from './git-error.ts'

/** The bare repository that holds what is needed of one branch, for all spellings of its repository. */
export type RepositoryCache = {
  readonly directory: string
  readonly branch: string
  /** The commit that the last push or fetch left; undefined: the host has to be asked. */
  knownTip: string | undefined
  /** Makes the folder where it is missing. @throws {GitError} */
  prepare(): Promise<void>
  /** Throws the folder away; it is made again at the next use. */
  discard(): Promise<void>
  /** Called before the folder is thrown away. */
  onDiscard(listener: () => void): void
  notePush(): Promise<void>
}

const maxPushes = 1_000
const maxCacheBytes = 100 * 1024 * 1024
const pushesBetweenChecks = 50

export function createRepositoryCache(repository: string, branch: string, access: GitAccess): RepositoryCache {
  const name = createHash('sha256').update(`${repository} ${branch}`).digest('hex').slice(0, 16)
  const directory = path.join(access.folder, name)
  const listeners: (() => void)[] = []
  let isReady = false
  let pushes = 0
  let isWornOut = false
  let removing: Promise<void> | undefined
  access.caches.add(directory, discard)

  async function discard(): Promise<void> {
    for (const listener of listeners) listener()
    isReady = false
    isWornOut = false
    cache.knownTip = undefined
    pushes = 0
    removing = rm(directory, { recursive: true, force: true }).catch(() => undefined) // the next use reports it
    await removing
  }

  const cache: RepositoryCache = {
    directory,
    branch,
    knownTip: undefined,
    async prepare() {
      if (isWornOut || (isReady && !(await isThere(directory)))) await discard()
      if (isReady) return
      await removing
      try {
        await rm(directory, { recursive: true, force: true })
        await access.git(directory, undefined, ['init', '-q', '--bare', directory])
        await writeFile(path.join(directory, 'config'), cacheConfig)
      } catch (error) {
        throw machineFailure(error)
      }
      isReady = true
    },
    discard,
    onDiscard: (listener) => void listeners.push(listener),
    /** Each push leaves a few files behind, and a new cache is cheaper than a collection. */
    async notePush() {
      pushes += 1
      const isCheckDue = pushes % pushesBetweenChecks === 0
      isWornOut = pushes >= maxPushes || (isCheckDue && (await directorySize(directory)) > maxCacheBytes)
    },
  }
  return cache
}

/**
 * Without a url, which the environment of each command has. Without `transfer.fsckObjects`: it blocks a branch for one odd
 * date or mode at its tip (decision 0019).
 */
const cacheConfig = [
  '[core]\n\trepositoryFormatVersion = 1\n\tbare = true\n\tabbrev = 40\n\thooksPath = /dev/null',
  '[extensions]\n\tpartialClone = origin',
  '[remote "origin"]\n\tpromisor = true\n\tpartialclonefilter = blob:limit=1k',
  '[gc]\n\tauto = 0',
  '[submodule]\n\trecurse = false\n',
].join('\n')

async function isThere(directory: string): Promise<boolean> {
  return stat(directory).then(
    () => true,
    () => false,
  )
}
