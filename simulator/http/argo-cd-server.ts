import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { systemClock } from '../model/clock.ts'
import type { DeliveryController } from '../model/delivery-controller.ts'
import { type Account, type Accounts, isAllowed, presentedToken } from './accounts.ts'
import { ApiError, codeForStatus, deadlineExceeded, permissionDenied, unaryErrorBody } from './api-error.ts'
import {
  type CallContext,
  getApplication,
  getManagedResources,
  getResourceTree,
  getSyncWindows,
  listApplications,
  pause,
  readPermitted,
  rollbackApplication,
  syncApplication,
  terminateOperation,
} from './application-calls.ts'
import { type AfterBurst, watchApplications } from './application-stream.ts'
import type { Call, CallKind, LoggedCall } from './call.ts'
import { type EventStream, openEventStream, type StreamEnding } from './event-stream.ts'
import { goJson } from './go-json.ts'
import { grpcTimeoutMs } from './grpc-timeout.ts'
import { createHttpFaults, type HttpFaultAction } from './http-faults.ts'
import { readEvents } from './read-events.ts'
import { readLogs } from './read-logs.ts'
import { readResource } from './read-resource.ts'
import { receiveWebhook } from './receive-webhook.ts'
import { routeCall } from './route-call.ts'

export type ArgoCdServerOptions = {
  controller: DeliveryController
  accounts: Accounts
  port?: number
  version?: string
  burstGapMs?: number
  /** Requests without a token, or with a bad one, act as this account. */
  anonymous?: Account
}

const streamKinds: readonly CallKind[] = ['stream', 'tree-stream', 'logs']
const openKinds: readonly CallKind[] = ['userinfo', 'session', 'version', 'healthz', 'webhook']

const afterGap =
  (ms: number): AfterBurst =>
  (subscribe) => {
    if (ms > 0) return systemClock.setTimer(ms, subscribe)
    subscribe()
    return () => {}
  }

/** The delivery controller's HTTP surface on a loopback port. */
export async function startArgoCdServer(options: ArgoCdServerOptions) {
  const { controller, accounts } = options
  const version = options.version ?? 'v3.5.1'
  const clock = systemClock
  const faults = createHttpFaults()
  const log: LoggedCall[] = []
  const streams = new Set<EventStream>()
  let nextReplica = 0
  let afterBurst = afterGap(options.burstGapMs ?? 0)
  let pinnedReplica: number | undefined

  function context(): CallContext {
    const replica = controller.replicas[pinnedReplica ?? nextReplica++ % controller.replicas.length]
    if (!replica) throw new Error('The controller has no replica')
    return { controller, clock, replica }
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy()) // the caller went away while it was still sending
  })
  server.keepAliveTimeout = 120_000

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!server.listening) {
      request.socket.destroy() // a kept connection is no way around a closed listener
      return
    }
    const url = new URL(request.url ?? '/', 'http://simulator')
    const route = routeCall(request.method ?? 'GET', url)
    if (route.kind === 'not-found')
      return plain(response, 404, url.pathname.startsWith('/api') ? 'Not Found\n' : '404 page not found\n')
    if (route.kind === 'method-not-allowed') return plain(response, 405, 'Method Not Allowed\n')
    logCall(request, response, url, route)
    const body = await textOf(request)
    const fault = faults.next(route.kind, route.application)
    const call = { kind: route.kind, request, response, url, application: route.application, body }
    if (fault && (await applyFault(fault, request, response, (error) => respondWithError(call, error)))) return
    if (request.method !== 'GET' && request.headers['content-type']?.toLowerCase() !== 'application/json') {
      return plain(response, 415, 'Invalid content type\n')
    }
    await answer(call)
  }

  function logCall(
    request: IncomingMessage,
    response: ServerResponse,
    url: URL,
    route: { kind: CallKind; application: string | undefined },
  ) {
    const entry: LoggedCall = {
      atMs: clock.now(),
      kind: route.kind,
      method: request.method ?? 'GET',
      path: `${url.pathname}${url.search}`,
      application: route.application,
      status: undefined,
      durationMs: undefined,
    }
    log.push(entry)
    response.on('close', () => {
      entry.status = response.headersSent ? response.statusCode : undefined
      entry.durationMs = clock.now() - entry.atMs
    })
  }

  type Incoming = Pick<Call, 'kind' | 'request' | 'response' | 'url' | 'application' | 'body'>

  /** In the words of a stream where the caller asked for one. */
  function respondWithError(incoming: Incoming, error: ApiError): void {
    const call: Call = { ...incoming, account: anonymous, signal: new AbortController().signal }
    if (streamKinds.includes(call.kind)) openStream(call).fail(error)
    else if (!call.response.destroyed) send(call, error.status, unaryErrorBody(error))
  }

  function openStream(call: Call): EventStream {
    return openEventStream(call, { clock, keepaliveMs: () => controller.times().keepalive })
  }

  async function answer(incoming: Incoming): Promise<void> {
    const abort = new AbortController()
    incoming.response.on('close', () => abort.abort())
    const call: Call = { ...incoming, account: anonymous, signal: abort.signal }
    const stream = streamKinds.includes(call.kind) ? openStream(call) : undefined
    try {
      const timeoutMs = grpcTimeoutMs(call.request.headers['grpc-timeout']?.toString())
      const known = { ...call, account: authenticate(call) }
      if (timeoutMs !== undefined) limit(abort, timeoutMs, call.response)
      if (stream) answerStream(known, stream)
      else await answerUnary(known)
    } catch (error) {
      const failure = asApiError(error)
      if (stream) stream.fail(failure)
      else respondWithError(call, failure)
    }
  }

  function limit(abort: AbortController, ms: number, response: ServerResponse): void {
    const timer = setTimeout(() => abort.abort(), ms)
    response.on('close', () => clearTimeout(timer))
  }

  function authenticate(call: Call): Account {
    const token = presentedToken(call.request.headers)
    try {
      return accounts.authenticate(token)
    } catch (error) {
      if (openKinds.includes(call.kind)) return anonymous
      if (options.anonymous) return options.anonymous
      throw error
    }
  }

  function answerStream(call: Call, stream: EventStream): void {
    if (call.kind === 'logs') {
      const envelopes = readLogs(call, context())
      for (const envelope of envelopes) stream.send(stream.serialise(envelope))
      stream.end('eof')
      return
    }
    const stop = call.kind === 'stream' ? watch(call, stream) : watchTree(call, stream)
    streams.add(stream)
    call.response.on('close', () => {
      stop()
      streams.delete(stream)
    })
    call.signal.addEventListener('abort', () => stream.fail(deadlineExceeded()))
  }

  function watch(call: Call, stream: EventStream): () => void {
    return watchApplications(call, stream, {
      controller,
      replica: context().replica,
      afterBurst,
    })
  }

  /** The whole tree at each change of it, and nothing before the first. */
  function watchTree(call: Call, stream: EventStream): () => void {
    const at = context()
    let last = goJson(getResourceTree(call, at))
    const { metadata } = readPermitted(call, at)
    const timer = setInterval(() => {
      if (!controller.store.get(metadata)) return
      const tree = getResourceTree(call, at)
      const now = goJson(tree)
      if (now !== last) stream.send(stream.serialise({ result: tree }))
      last = now
    }, 20)
    return () => clearInterval(timer)
  }

  async function answerUnary(call: Call): Promise<void> {
    if (call.kind === 'healthz') return plain(call.response, 200, 'ok\n')
    if (call.kind === 'webhook') {
      const answered = receiveWebhook(call, controller)
      return answered.status === 200 ? void call.response.end() : plain(call.response, answered.status, answered.text)
    }
    const result = await unaryResult(call, context())
    if (!call.response.destroyed) send(call, 200, goJson(result))
  }

  async function unaryResult(call: Call, at: CallContext): Promise<unknown> {
    switch (call.kind) {
      case 'get':
      case 'refresh':
        return getApplication(call, at)
      case 'list':
        return listApplications(call, at)
      case 'tree':
        return getResourceTree(call, at)
      case 'managed-resources':
        return getManagedResources(call, at)
      case 'events':
        return readEvents(call, at)
      case 'resource':
        return readResource(call, at)
      case 'syncwindows':
        return getSyncWindows(call, at)
      case 'sync':
        return syncApplication(call, at)
      case 'terminate':
        return terminateOperation(call, at)
      case 'rollback':
        return rollbackApplication(call, at)
      case 'userinfo':
        return call.account === anonymous ? {} : { loggedIn: true, username: call.account.name, iss: 'argocd' }
      case 'can-i':
        return { value: canI(call) ? 'yes' : 'no' }
      case 'version':
        return call.account === anonymous
          ? { Version: version }
          : { Version: version, GitTreeState: 'clean', Compiler: 'gc', Platform: 'linux/amd64' }
      case 'session': {
        const { username, password } = JSON.parse(call.body || '{}')
        return { token: accounts.signIn(username, password).token }
      }
      case 'account-token':
        return { token: newTokenOfAccount(call).token }
      default:
        throw new ApiError(12, 'Not Implemented')
    }
  }

  function newTokenOfAccount({ account, url }: Call): Account {
    const name = decodeURIComponent(url.pathname.split('/')[4] ?? '')
    if (!isAllowed(account, 'accounts', 'update', name)) throw permissionDenied()
    return accounts.addToken(name)
  }

  function canI({ url, account }: Call): boolean {
    const [resource = '', action = '', ...object] = url.pathname.split('/').slice(5)
    return isAllowed(account, resource, action, decodeURIComponent(object.join('/')))
  }

  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // a TCP server's address is never a string

  return {
    url: `http://127.0.0.1:${port}`,
    faults,
    callLog: (): readonly LoggedCall[] => log,
    clearCallLog: () => void log.splice(0),
    openStreams: () => streams.size,
    endStreams(how: StreamEnding): void {
      for (const stream of [...streams]) stream.end(how)
    },
    failStreams(error: ApiError): void {
      for (const stream of [...streams]) stream.fail(error)
    },
    /** All streams that are open now fall silent and stay open. */
    stallStreams(): void {
      for (const stream of streams) stream.stall()
    },
    setBurstGap(ms: number): void {
      afterBurst = afterGap(ms)
    },
    /** Streams that are opened now lose what happens before the answer is called. */
    holdBurstGap(): () => void {
      const held = new Set<() => void>()
      afterBurst = (subscribe) => {
        held.add(subscribe)
        return () => held.delete(subscribe)
      }
      return () => {
        afterBurst = afterGap(0)
        for (const subscribe of held) subscribe()
      }
    },
    pinReplica(index: number | undefined): void {
      pinnedReplica = index
    },
    /** As on SIGTERM: no new connections, but open streams live on until they are ended. */
    stopListening(): void {
      server.close()
      server.closeIdleConnections()
    },
    async listenAgain(): Promise<void> {
      if (server.listening) return
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
    async close(): Promise<void> {
      const isClosed = server.listening ? once(server, 'close') : undefined
      server.close()
      server.closeAllConnections()
      await isClosed
    },
  }
}

const anonymous: Account = {
  name: '',
  token: '',
  issuedAtMs: 0,
  expiresAtMs: undefined,
  isRevoked: false,
  policies: [],
  denied: [],
}

function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  return new ApiError(2, error instanceof Error ? error.message : String(error))
}

/** Answers whether the call has been dealt with. */
async function applyFault(
  fault: HttpFaultAction,
  request: IncomingMessage,
  response: ServerResponse,
  respondWithError: (error: ApiError) => void,
): Promise<boolean> {
  switch (fault.kind) {
    case 'delay': {
      const abort = new AbortController()
      response.on('close', () => abort.abort())
      await pause(fault.ms, abort.signal)
      return response.destroyed
    }
    case 'hang':
      return true
    case 'reset':
      request.socket.resetAndDestroy()
      return true
    case 'html':
      response.writeHead(fault.status, { 'Content-Type': 'text/html; charset=utf-8' })
      response.end('<!doctype html><html><body><h1>The proxy says hello</h1></body></html>')
      return true
    case 'truncate':
      response.writeHead(200, { 'Content-Type': 'application/json' })
      response.write('{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"na', () => response.destroy())
      return true
    case 'error':
      respondWithError(new ApiError(codeForStatus(fault.status), fault.message ?? defaultMessage(fault.status)))
      return true
  }
}

function defaultMessage(status: number): string {
  if (status === 401) return 'invalid session: token has invalid claims: token is expired'
  if (status === 403) return 'permission denied'
  return 'rpc error: code = Unknown desc = simulated failure'
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString()
}

function plain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'X-Content-Type-Options': 'nosniff',
  })
  response.end(text)
}

function send({ request, response }: Call, status: number, body: string): void {
  const isZipped =
    /\bgzip\b/.test(request.headers['accept-encoding']?.toString() ?? '') &&
    request.headers.accept !== 'text/event-stream'
  const content = isZipped ? gzipSync(body) : Buffer.from(body)
  response.writeHead(status, {
    'Content-Type': 'application/json',
    ...(status === 200 ? { 'Grpc-Metadata-Content-Type': 'application/grpc' } : {}),
    Vary: 'Accept-Encoding',
    ...(isZipped ? { 'Content-Encoding': 'gzip' } : {}),
    'Content-Length': content.length,
  })
  response.end(content)
}
