import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'

export type BadProxyOptions = {
  readonly target: string
  /** Part of the answers, 0 to 1, in place of which comes a 502; half of these requests reached the service. */
  readonly badAnswers: number
  /** Each connection is cut after so long. */
  readonly cutAfterMs?: number
  readonly random: () => number
}

/** A reverse proxy in a bad state: it answers 502 although the service did its work, and cuts connections. */
export async function startBadProxy({ target, badAnswers, cutAfterMs, random }: BadProxyOptions) {
  let isDroppingCredentials = false
  const counts = { badAnswers: 0, cuts: 0 }
  const server = createServer((incoming, outgoing) => {
    const fate = random()
    const isBad = fate < badAnswers
    const fail = () => {
      counts.badAnswers += 1
      if (!outgoing.headersSent) outgoing.writeHead(502, { 'content-type': 'text/html' })
      outgoing.end('<h1>502 Bad Gateway</h1>')
    }
    if (isBad && fate < badAnswers / 2) {
      incoming.resume()
      return fail()
    }
    const { method, url } = incoming
    const { authorization, 'watcher-deploy-token': token, ...others } = incoming.headers
    const headers = isDroppingCredentials ? others : incoming.headers
    const upstream = forward(`${target}${url}`, { method, headers, agent: false }, (answer) => {
      if (isBad) {
        answer.resume()
        return fail()
      }
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
      answer.on('error', () => outgoing.destroy())
    })
    upstream.on('error', fail)
    outgoing.on('close', () => upstream.destroy())
    incoming.pipe(upstream)
  })
  server.on('connection', (socket) => {
    if (cutAfterMs === undefined) return
    const timer = setTimeout(() => {
      counts.cuts += 1
      socket.resetAndDestroy()
    }, cutAfterMs)
    socket.on('close', () => clearTimeout(timer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts: counts as Readonly<typeof counts>,
    /** From now on no credential arrives, and every connection begins again. */
    dropCredentials(): void {
      isDroppingCredentials = true
      server.closeAllConnections()
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
