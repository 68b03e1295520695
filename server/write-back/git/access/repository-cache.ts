import { createBareClone } from './bare-clone.ts'
import { directorySize } from './cache-limit.ts'
import type { GitAccess } from './git-access.ts'

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
  const listeners: (() => void)[] = []
  let pushes = 0
  let needsRebuild = false
  const { directory, prepare, discard } = createBareClone(access, {
    name: `${repository} ${branch}`,
    filter: 'blob:limit=1k',
    onDiscard() {
      for (const listener of listeners) listener()
      needsRebuild = false
      cache.knownTip = undefined
      pushes = 0
    },
  })

  const cache: RepositoryCache = {
    directory,
    branch,
    knownTip: undefined,
    async prepare() {
      if (needsRebuild) await discard()
      await prepare()
    },
    discard,
    onDiscard: (listener) => void listeners.push(listener),
    /** Each push leaves a few files behind, and a new cache is cheaper than a collection. */
    async notePush() {
      pushes += 1
      const isCheckDue = pushes % pushesBetweenChecks === 0
      needsRebuild = pushes >= maxPushes || (isCheckDue && (await directorySize(directory)) > maxCacheBytes)
    },
  }
  return cache
}
