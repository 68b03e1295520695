import { setTimeout as delay } from 'node:timers/promises'
import { HttpError } from '../request-errors.ts'
import { createClientQuota } from './client-quota.ts'
import { createTurns } from './turns.ts'

/** What one answer may hold: a client that reads nothing keeps it in memory. */
const maxAnswerBytes = 2 * 1024 * 1024

type FilledAnswer<Item> = { readonly items: Item[]; readonly isCut: boolean }

/** Answers of one address that are found and filled at the same time. */
const underWay = createClientQuota(11, Number.POSITIVE_INFINITY)

/** A client that asks again at once, whatever it was answered, costs more than the answer. */
const rejectionMs = 250

/** All lists together take one connection of the readers for this and one to be filled: a small list does not wait behind many large ones. */
const finding = createTurns()

/** Reading and rendering 2 MiB keeps the event loop busy: the next one waits, and verdicts and probes go between. */
const filling = createTurns()

type Chunks<Item> = AsyncIterable<readonly Item[]> | Iterable<readonly Item[]>

/**
 * Finds what answers, and collects items of it, a chunk at a time, while their JSON fits into one answer (2 MiB); always the
 * first one. The process finds for one answer and fills one at a time, those of different addresses in turn.
 * @returns the items, and whether some that were there did not fit
 * @throws {HttpError} 429 where eleven answers for the address are under way
 */
export async function fillAnswer<Item>(
  address: string,
  find: () => Promise<Chunks<Item>>,
  shownAs: (item: Item) => unknown = (item) => item,
): Promise<FilledAnswer<Item>> {
  const release = underWay.acquire({ address, weight: 1 })
  if (!release) {
    await delay(rejectionMs)
    throw new HttpError(429, 'too many large responses are pending for one address', { 'Retry-After': '1' })
  }
  try {
    const chunks = await finding.take(address, find)
    return await filling.take(address, () => fill(chunks, shownAs))
  } finally {
    release()
  }
}

async function fill<Item>(chunks: Chunks<Item>, shownAs: (item: Item) => unknown): Promise<FilledAnswer<Item>> {
  const items: Item[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    for (const item of chunk) {
      bytes += Buffer.byteLength(JSON.stringify(shownAs(item))) + 1
      if (bytes > maxAnswerBytes && items.length > 0) return { items, isCut: true }
      items.push(item)
    }
  }
  return { items, isCut: false }
}
