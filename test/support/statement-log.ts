import { createConnection, createServer, type Socket } from 'node:net'

/** A line to PostgreSQL that notes what passes. */
export type StatementLog = AsyncDisposable & {
  readonly port: number
  /** The texts that were sent, each of them one round trip, oldest first. */
  readonly statements: string[]
}

/** A TCP proxy on loopback that reads what clients say to PostgreSQL; they must not use TLS. */
export async function startStatementLog(target: { readonly port: number }): Promise<StatementLog> {
  const statements: string[] = []
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = createConnection({ host: '127.0.0.1', port: target.port })
    const read = createReader((text) => statements.push(text))
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.on('close', () => open.delete(socket))
    }
    client.on('data', read)
    client.pipe(upstream)
    upstream.pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || !address) throw new Error('the log has no port')
  return {
    port: address.port,
    statements,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const headerBytes = 5

/** Messages are a type and their length; only the first, which opens the connection, has no type. */
function createReader(onStatement: (text: string) => void) {
  let unread = Buffer.alloc(0)
  let isOpened = false
  return (chunk: Buffer) => {
    unread = Buffer.concat([unread, chunk])
    while (unread.length >= headerBytes) {
      const typeBytes = isOpened ? 1 : 0
      const end = typeBytes + unread.readInt32BE(typeBytes)
      if (unread.length < end) return
      const text = isOpened ? textOf(String.fromCharCode(unread[0] ?? 0), unread.subarray(headerBytes, end)) : undefined
      if (text !== undefined) onStatement(text)
      isOpened = true
      unread = unread.subarray(end)
    }
  }
}

/** A simple query is its text; a parsed one has its name before it. */
function textOf(type: string, body: Buffer): string | undefined {
  const [first, second] = body.toString('utf8').split('\0')
  if (type === 'Q') return first
  return type === 'P' ? second : undefined
}
