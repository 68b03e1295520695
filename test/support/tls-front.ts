import { readFileSync } from 'node:fs'
import { request as forward } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}.pem`, import.meta.url))

/** TLS in front of a service, as an ingress does it, with a certificate that its own authority signed. */
export async function startTlsFront(target: string) {
  const server = createServer(
    { key: readFileSync(fixture('key')), cert: readFileSync(fixture('certificate')) },
    (incoming, outgoing) => {
      const { method, url, headers } = incoming
      const upstream = forward(`${target}${url}`, { method, headers, agent: false }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      })
      upstream.on('error', () => outgoing.destroy())
      outgoing.on('close', () => upstream.destroy())
      incoming.pipe(upstream)
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** For those who shall trust it. */
    variables: { NODE_EXTRA_CA_CERTS: fixture('certificate') },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
