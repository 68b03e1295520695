import { createTurns } from './turns.ts'

/** What one answer may hold: a client that reads nothing keeps it in memory. */
const maxAnswerBytes = 2 * 1024 * 1024

type FilledAnswer<Item> = { readonly items: Item[]; readonly isCut: boolean }

/** Reading and rendering 2 MiB keeps the event loop busy: the next one waits, and verdicts and probes go between. */
const turns = createTurns()

/**
 * Collects items, a chunk at a time, while their JSON fits into one answer (2 MiB); always the first one. The process fills
 * one answer at a time, those of different addresses in turn.
 * @returns the items, and whether some that were there did not fit
 * @throws {HttpError} 429 where ten answers for the address wait already
 */
export const fillAnswer = <Item>(
  address: string,
  chunks: AsyncIterable<readonly Item[]> | Iterable<readonly Item[]>,
  shownAs: (item: Item) => unknown = (item) => item,
): Promise<FilledAnswer<Item>> => turns.take(address, () => fill(chunks, shownAs))

async function fill<Item>(
  chunks: AsyncIterable<readonly Item[]> | Iterable<readonly Item[]>,
  shownAs: (item: Item) => unknown,
): Promise<FilledAnswer<Item>> {
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
