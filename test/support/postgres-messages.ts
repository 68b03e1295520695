const headerBytes = 5

/**
 * Reads what PostgreSQL and its client say to each other, from chunks as they come. Messages are a type and their length;
 * only the first of a client, which opens the connection, has no type, and it is left out. TLS cannot be read.
 */
export function createMessageReader(from: 'client' | 'server', onMessage: (type: string, body: Buffer) => void) {
  let unread = Buffer.alloc(0)
  let isOpened = from === 'server'
  return (chunk: Buffer): void => {
    unread = Buffer.concat([unread, chunk])
    while (unread.length >= headerBytes) {
      const typeBytes = isOpened ? 1 : 0
      const end = typeBytes + unread.readInt32BE(typeBytes)
      if (unread.length < end) return
      if (isOpened) onMessage(String.fromCharCode(unread[0] ?? 0), unread.subarray(headerBytes, end))
      isOpened = true
      unread = unread.subarray(end)
    }
  }
}
