import { once } from 'node:events'
import http, { type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * For tests: a server on loopback that answers each request by the next handler, and those that are too many by the last.
 * It writes down all requests.
 */
export async function startEndpoint(...handlers: readonly [RequestListener, ...RequestListener[]]) {
  const requests: IncomingMessage[] = []
  const server = http.createServer((request, response) => {
    const handle = handlers[Math.min(requests.length, handlers.length - 1)]
    requests.push(request)
    handle?.(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The answer of an ID-token endpoint with a token that ends at `exp`, Unix seconds. */
export const issueUntil = (exp: number) => answer(200, JSON.stringify({ value: tokenUntil(exp) }))

export const answer =
  (status: number, body = '', headers = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(status, { 'retry-after': '0.01', ...headers }).end(body)

export const tokenUntil = (exp: number): string =>
  ['{"alg":"RS256"}', JSON.stringify({ exp }), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.')
