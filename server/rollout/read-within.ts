/** The text of a body, or `undefined` as soon as it is longer than `maxBytes`. */
export async function readWithin(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.byteLength
    if (length > maxBytes) return undefined // leaving the loop cancels the body
    chunks.push(chunk)
  }
  return new TextDecoder().decode(Buffer.concat(chunks))
}
