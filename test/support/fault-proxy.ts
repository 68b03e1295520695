import { createConnection, createServer, type Socket } from 'node:net'

/** How the line between two parties misbehaves. `delayMs` holds every chunk back; the others say what happens to it. */
export type LineState =
  | 'well'
  | 'refuse'
  | 'swallow'
  | { readonly delayMs: number }
  | { readonly cutAfterBytes: number }

export type FaultProxy = AsyncDisposable & {
  readonly port: number
  mood: LineState
  /** Breaks every open connection, by RST. */
  cut(): void
  /** Not a byte more passes on the connections that are open now, and nobody is told; new ones work. */
  strand(): void
  connections(): number
}

/** Sees what one connection carries: what its client sends as it comes, what it is answered as it is handed over. */
export type ConnectionObserver = {
  readonly sent: (chunk: Buffer) => void
  readonly received: (chunk: Buffer) => void
  readonly closed: () => void
}

/** A TCP proxy on loopback whose line can be slowed, cut or black-holed while it runs. */
export async function startFaultProxy(
  target: { host?: string; port: number },
  observe?: () => ConnectionObserver,
): Promise<FaultProxy> {
  const open = new Set<Socket>()
  const stranded = new WeakSet<Socket>()
  let mood: LineState = 'well'

  type Notes = { readonly arrives?: (chunk: Buffer) => void; readonly leaves?: (chunk: Buffer) => void }
  const isSilent = (from: Socket) => mood === 'swallow' || stranded.has(from)
  const forward = (from: Socket, to: Socket, { arrives, leaves }: Notes) => {
    let passed = 0
    const handOver = (chunk: Buffer): boolean => {
      leaves?.(chunk)
      return to.write(chunk)
    }
    from.on('data', (chunk) => {
      arrives?.(chunk)
      if (isSilent(from)) return
      if (typeof mood === 'object' && 'cutAfterBytes' in mood) {
        passed += chunk.length
        if (passed > mood.cutAfterBytes) {
          to.write(chunk.subarray(0, Math.max(0, chunk.length - (passed - mood.cutAfterBytes))))
          from.resetAndDestroy()
          to.destroy()
          return
        }
      }
      const holdMs = typeof mood === 'object' && 'delayMs' in mood ? mood.delayMs : 0
      if (holdMs > 0) setTimeout(() => to.writable && handOver(chunk), holdMs)
      else if (!handOver(chunk)) {
        from.pause()
        to.once('drain', () => from.resume())
      }
    })
    from.on('end', () => isSilent(from) || to.end())
    from.on('close', () => {
      open.delete(from)
      if (!isSilent(from)) to.destroy()
    })
    from.on('error', () => to.destroy())
  }

  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (mood === 'refuse') return void client.resetAndDestroy()
    const upstream = createConnection({ host: target.host ?? '127.0.0.1', port: target.port, allowHalfOpen: true })
    open.add(client).add(upstream)
    const observer = observe?.()
    forward(client, upstream, observer ? { arrives: observer.sent } : {})
    forward(upstream, client, observer ? { leaves: observer.received } : {})
    if (observer) client.on('close', observer.closed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || !address) throw new Error('the proxy has no port')

  const cut = () => {
    for (const socket of open) socket.resetAndDestroy()
  }
  return {
    port: address.port,
    get mood() {
      return mood
    },
    set mood(next) {
      mood = next
    },
    cut,
    strand: () => open.forEach((socket) => void stranded.add(socket)),
    connections: () => open.size / 2,
    async [Symbol.asyncDispose]() {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
