import type { Server } from 'node:http'

/** Looking through all connections for each one that is dropped would keep the service busy with nothing else. */
const betweenRoundsMs = 1_000

/** Drops connections beyond so many, and then closes those on which nothing is asked, so that there is room for who comes back. */
export function limitConnections(server: Server, maxConnections: number): void {
  let nextRoundMs = 0
  server.maxConnections = maxConnections
  server.on('drop', () => {
    if (performance.now() < nextRoundMs) return
    nextRoundMs = performance.now() + betweenRoundsMs
    server.closeIdleConnections()
  })
}
