/** What one answer may hold: a client that reads nothing keeps it in memory. */
const maxAnswerBytes = 2 * 1024 * 1024

/**
 * Collects items, a chunk at a time, while their JSON fits into one answer (2 MiB); always the first one.
 * @returns the items, and whether some that were there did not fit
 */
export async function fillAnswer<Item>(
  chunks: AsyncIterable<readonly Item[]> | Iterable<readonly Item[]>,
  shownAs: (item: Item) => unknown = (item) => item,
): Promise<{ readonly items: Item[]; readonly isCut: boolean }> {
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
