import { DatabaseError } from 'pg'

type Batching<Item> = {
  /** Items of one batch. */
  readonly atMost: number
  /** Batches under way at once. */
  readonly atOnce: number
  /** A batch holds one item of a key; the next one of that key comes in a later batch. */
  readonly keyOf: (item: Item) => string
  /** How long after a batch the next one begins at the soonest, in milliseconds. */
  readonly minIntervalMs?: number
}

type Waiting<Item, Result> = {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * Lets callers share statements: what comes while `work` runs waits and is done together, in the order it came. Alone it
 * is done at once. The items of a batch that the database has refused are tried alone, so that a bad one does not affect the others.
 *
 * @param work gives a result for each item, in their order
 */
export function createBatcher<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
  { atMost, atOnce, keyOf, minIntervalMs = 0 }: Batching<Item>,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  let running = 0
  let restsUntilMs = 0
  let isPlanned = false

  const takeBatch = (): readonly Waiting<Item, Result>[] => {
    const batch = new Map<string, Waiting<Item, Result>>()
    waiting = waiting.filter((one) => {
      const key = keyOf(one.item)
      if (batch.size >= atMost || batch.has(key)) return true
      batch.set(key, one)
      return false
    })
    return [...batch.values()]
  }

  const settle = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await work(batch.map(({ item }) => item))
      if (results.length !== batch.length) throw new Error(`a batch of ${batch.length} gave ${results.length} results`)
      for (const [at, result] of results.entries()) batch[at]?.resolve(result)
    } catch (error) {
      if (batch.length > 1 && isUndone(error))
        for (const one of batch) void settle([one]) // no other item waits for them
      else for (const { reject } of batch) reject(error)
    }
  }

  const runNext = async () => {
    isPlanned = false
    running += 1
    const batch = takeBatch()
    plan() // the next one, where more may run at once
    await settle(batch)
    running -= 1
    restsUntilMs = performance.now() + minIntervalMs
    plan()
  }

  const plan = () => {
    if (isPlanned || running >= atOnce || waiting.length === 0) return
    isPlanned = true
    const delayMs = restsUntilMs - performance.now()
    // After what arrives in the same turn of the event loop.
    if (delayMs <= 0) setImmediate(() => void runNext())
    else setTimeout(() => void runNext(), delayMs)
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      plan()
    })
}

/** A refused statement was rolled back; after a connection failed, or was ended, the outcome is unknown. */
const isUndone = (error: unknown) => error instanceof DatabaseError && !/^(?:08|57)/.test(error.code ?? '')
