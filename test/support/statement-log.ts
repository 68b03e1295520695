import { createConnection, createServer, type Socket } from 'node:net'
import { createMessageReader } from './postgres-messages.ts'

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
    const read = createMessageReader('client', (type, body) => {
      const text = textOf(type, body)
      if (text !== undefined) statements.push(text)
    })
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

/** A simple query is its text; a parsed one has its name before it. */
function textOf(type: string, body: Buffer): string | undefined {
  const [first, second] = body.toString('utf8').split('\0')
  if (type === 'Q') return first
  return type === 'P' ? second : undefined
}
