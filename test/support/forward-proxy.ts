import { createServer, request as forward } from 'node:http'
import { type AddressInfo, connect } from 'node:net'

/** A proxy for `HTTP_PROXY` and `HTTPS_PROXY` that forwards, and keeps the addresses that it was asked for. */
export async function startForwardProxy() {
  const asked: string[] = []
  const server = createServer((incoming, outgoing) => {
    const { method, url = '', headers } = incoming
    asked.push(`${method} ${url}`)
    const upstream = forward(url, { method, headers, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    upstream.on('error', () => outgoing.destroy())
    outgoing.on('close', () => upstream.destroy())
    incoming.pipe(upstream)
  })
  server.on('connect', ({ url = '' }, socket) => {
    asked.push(`CONNECT ${url}`)
    const { hostname, port } = new URL(`http://${url}`)
    const upstream = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.pipe(upstream).pipe(socket)
    })
    for (const one of [socket, upstream]) one.on('error', () => [socket, upstream].map((other) => other.destroy()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: asked as readonly string[],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
