/** Lets at most so many pieces of work run at once; the others wait in line. */
export type Semaphore = { use<T>(work: () => Promise<T>): Promise<T> }

export function createSemaphore(limit: number): Semaphore {
  let taken = 0
  const line: (() => void)[] = []

  return {
    async use(work) {
      if (taken >= limit) await new Promise<void>((resolve) => line.push(resolve))
      else taken += 1
      try {
        return await work()
      } finally {
        const next = line.shift()
        if (next) next()
        else taken -= 1
      }
    },
  }
}
