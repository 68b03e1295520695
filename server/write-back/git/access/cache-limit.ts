import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'

/** Keeps the caches of a process within a size, by throwing away those that were not used for the longest time. */
export type CacheLimit = {
  /** `discard` throws a cache away; its owner makes it again at the next use. */
  add(directory: string, discard: () => Promise<void>): void
  noteUse(directory: string): void
  trim(): Promise<void>
}

/** What was used within `idleMs` may be in use, and stays. */
export function createCacheLimit(deps: { limitBytes: number; idleMs: number; nowMs: () => number }): CacheLimit {
  const caches = new Map<string, { discard: () => Promise<void>; usedAtMs: number }>()

  return {
    add: (directory, discard) => void caches.set(directory, { discard, usedAtMs: deps.nowMs() }),
    noteUse(directory) {
      const cache = caches.get(directory)
      if (cache) cache.usedAtMs = deps.nowMs()
    },
    async trim() {
      const oldestFirst = [...caches].sort(([, one], [, other]) => one.usedAtMs - other.usedAtMs)
      const sizes = await Promise.all(oldestFirst.map(([directory]) => directorySize(directory)))
      let total = sizes.reduce((sum, size) => sum + size, 0)
      for (const [at, [, { discard, usedAtMs }]] of oldestFirst.entries()) {
        if (total <= deps.limitBytes || deps.nowMs() - usedAtMs < deps.idleMs) return
        await discard()
        total -= sizes[at] ?? 0
      }
    },
  }
}

export async function directorySize(directory: string): Promise<number> {
  const names = await readdir(directory, { recursive: true }).catch(() => [])
  const sizes = await Promise.all(
    names.map(async (name) => (await stat(path.join(directory, name)).catch(() => undefined))?.size ?? 0),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
