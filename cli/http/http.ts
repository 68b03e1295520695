import http, { type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import https from 'node:https'
import type { Duplex } from 'node:stream'
import tls from 'node:tls'
import { connectionErrorOf, NoAnswerError } from './connection-errors.ts'
import { proxyFor } from './proxy.ts'

export type HttpRequest = {
  readonly method?: string
  /** Below the address of the server, with its query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** For the whole answer; of a stream for its beginning. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}
export type HttpAnswer = { readonly message: IncomingMessage; readonly status: number; readonly text: string }
export type Http = ReturnType<typeof createHttp>

type Options = {
  readonly server: URL
  /** Certificates of further authorities, PEM. */
  readonly authorities?: string | undefined
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly onRequest?: (line: string) => void
}

/** The service cuts its answers at 2 MiB. */
const maxAnswerBytes = 8 * 1024 * 1024
const connectLimitMs = 30_000

/**
 * Requests to one server, through the proxy that the environment names. By node:http and node:https, since the `fetch` of
 * Node 20 knows neither a proxy nor further authorities. No redirect is followed: a credential stays with its host.
 */
export function createHttp({ server, authorities, variables, onRequest = () => {} }: Options) {
  const proxy = proxyFor(server, variables)
  const ca = authorities === undefined ? {} : { ca: [...tls.rootCertificates, authorities] }
  const isSecure = server.protocol === 'https:'
  const agent = isSecure
    ? new (proxy === undefined ? https.Agent : tunnelAgent(proxy, server))({ keepAlive: true, ...ca })
    : new http.Agent({ keepAlive: true })

  function targetOf(path: string): { readonly options: RequestOptions; readonly own: Record<string, string> } {
    const full = `${server.pathname.replace(/\/$/, '')}${path}`
    if (proxy === undefined || isSecure) return { options: { ...addressOf(server), path: full }, own: {} }
    const own = { host: server.host, ...proxyHeaders(proxy) }
    return { options: { ...addressOf(proxy), path: `${server.origin}${full}` }, own }
  }

  async function begin({ method = 'GET', path, headers, body, timeoutMs, signal }: HttpRequest) {
    const begun = performance.now()
    const timer = new AbortController()
    const timeout = setTimeout(() => timer.abort(new DOMException('', 'TimeoutError')), timeoutMs)
    const whole = signal === undefined ? timer.signal : AbortSignal.any([signal, timer.signal])
    try {
      const message = await new Promise<IncomingMessage>((resolve, reject) => {
        const { options, own } = targetOf(path)
        const all = { ...options, method, agent, signal: whole, headers: { ...own, ...headers } }
        const request = isSecure ? https.request(all, resolve) : http.request(all, resolve)
        request.on('error', (error) => reject(whole.aborted ? whole.reason : error))
        request.end(body)
      })
      const { statusCode: status = 0 } = message
      onRequest(`${method} ${path} ${status} ${Math.round(performance.now() - begun)} ms`)
      if (status >= 300 && status < 400) throw redirectError(message, server, path)
      return { message, status, endTimer: () => clearTimeout(timeout), whole }
    } catch (error) {
      clearTimeout(timeout)
      onRequest(`${method} ${path} ${(error as Error).message}`)
      throw connectionErrorOf(error, server)
    }
  }

  return {
    server,
    /** @throws {NoAnswerError} where no whole answer came */
    async send(request: HttpRequest): Promise<HttpAnswer> {
      const { message, status, endTimer, whole } = await begin(request)
      try {
        return { message, status, text: await textOf(message) }
      } catch (error) {
        throw connectionErrorOf(whole.aborted ? whole.reason : error, server)
      } finally {
        endTimer()
      }
    },
    /** An answer that is read as it comes. @throws {NoAnswerError} */
    async open(request: HttpRequest) {
      const { message, status, endTimer } = await begin(request)
      endTimer()
      return { message, status }
    },
    close: () => agent.destroy(),
  }
}

const addressOf = ({ hostname, port }: URL): RequestOptions => ({
  hostname: hostname.replace(/^\[|\]$/g, ''),
  ...(port === '' ? {} : { port }),
})

function proxyHeaders({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` }
}

/** An agent whose connections go through `CONNECT` of a proxy. */
function tunnelAgent(proxy: URL, target: URL) {
  const authority = `${target.hostname}:${target.port || 443}`
  return class extends https.Agent {
    readonly #connecting = new Set<ClientRequest>()

    override destroy() {
      for (const connect of this.#connecting) connect.destroy()
      super.destroy()
    }

    override createConnection(
      options: https.RequestOptions,
      callback: (error: Error | null, socket: Duplex) => void = () => {},
    ) {
      const connect = (proxy.protocol === 'https:' ? https : http).request({
        ...addressOf(proxy),
        method: 'CONNECT',
        path: authority,
        headers: { host: authority, ...proxyHeaders(proxy) },
        agent: false,
        timeout: connectLimitMs,
        ca: options.ca,
      })
      this.#connecting.add(connect)
      connect.on('close', () => this.#connecting.delete(connect))
      const fail = (why: string, isPermanent = false) =>
        callback(new NoAnswerError(`proxy ${proxy.host}: ${why}`, { isPermanent }), connect.socket as Duplex)
      connect.on('connect', ({ statusCode }, socket) => {
        if (statusCode === 200) return callback(null, tls.connect({ ...(options as tls.ConnectionOptions), socket }))
        socket.destroy()
        fail(`CONNECT returned ${statusCode}`, statusCode === 407)
      })
      connect.on('response', ({ statusCode }) => fail(`CONNECT returned ${statusCode}`))
      connect.on('timeout', () => connect.destroy(new Error('no answer in time')))
      connect.on('error', ({ message }) => fail(message))
      connect.end()
      return undefined
    }
  }
}

/** Names the address that would answer, without what this request adds to it; a query may hold secrets of others. */
function redirectError({ statusCode, headers }: IncomingMessage, server: URL, path: string): NoAnswerError {
  const to = URL.canParse(headers.location ?? '', server.href) ? new URL(headers.location ?? '', server) : undefined
  const where = to === undefined ? '' : ` to ${withoutEnd(to.origin + to.pathname, path.replace(/\?.*/, ''))}`
  const message = `${server.origin} redirects${where} (${statusCode}): give the address that answers itself`
  return new NoAnswerError(message, { isPermanent: true, status: statusCode })
}

const withoutEnd = (text: string, end: string): string =>
  (text.endsWith(end) ? text.slice(0, -end.length) : text).replace(/\/$/, '')

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxAnswerBytes) throw new Error('the answer is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
