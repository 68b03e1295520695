/** The pieces of a body, or `undefined` as soon as they are together longer than `maxBytes`. */
export async function readChunksWithin(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<readonly Uint8Array[] | undefined> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.byteLength
    if (length > maxBytes) return undefined // leaving the loop cancels the body
    chunks.push(chunk)
  }
  return chunks
}

/** The same as a text. */
export async function readWithin(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string | undefined> {
  const chunks = await readChunksWithin(body, maxBytes)
  return chunks && new TextDecoder().decode(Buffer.concat(chunks))
}
