import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify'
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { answerInOrder } from '../limits/answer-in-order.ts'
import { answerInPieces } from '../limits/answer-in-pieces.ts'
import {
  closeStalledConnections,
  closeUnusedConnections,
  dropDestroyedConnections,
  limitConnections,
} from '../limits/connections.ts'
import { createIsTrustedProxy } from '../limits/trusted-proxies.ts'
import { answerExpectation, createClientErrors } from './client-errors.ts'
import { type LogSettings, logOptions } from './log-options.ts'
import { addRequestRules } from './request-rules.ts'
import { addSecurityHeaders } from './security-headers.ts'
import { serveStaticFiles } from './static-files.ts'
import { answerUnknownRequests } from './unknown-request.ts'
import { validateRequest } from './validate-request.ts'

export type ErrorAnswer = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: { readonly error: string } & Readonly<Record<string, string | number>>
}

type HttpSettings = {
  /** Turns an error into the answer to the request of that id. */
  readonly answerTo: (error: unknown, requestId: string) => ErrorAnswer
  /** Hears of each error that was answered. */
  readonly onError?: (error: unknown, request: FastifyRequest, status: number) => void
  readonly log: LogSettings
  /** PUBLIC_URL: the one origin whose pages may change something; else the host that was asked. */
  readonly publicUrl: string | undefined
  /** MAX_CONNECTIONS: open at once. */
  readonly maxConnections: number
  /** TRUST_PROXY: addresses whose X-Forwarded headers count. */
  readonly trustedProxies: readonly string[]
  /** Where the built web UI lies; undefined for a server without pages. */
  readonly webFolder: string | undefined
}

export type HttpServer = ReturnType<typeof createHttpServer>

/** Of a request, unless its route takes a larger one. */
const maxBodyBytes = 16 * 1024
const largestHeaders = 8 * 1024

/**
 * A server with everything that is true of every route, and no route yet. Register the explorer first (it collects the
 * routes that come after it), then the routes; `close` finishes the requests under way and takes no new connection.
 *
 * The time limits are for receiving a request; an answer may take as long as it needs (`?wait=60`, event streams).
 */
export function createHttpServer(settings: HttpSettings) {
  const { log, publicUrl, maxConnections, trustedProxies, webFolder } = settings
  const answerError = createAnswerError(settings)
  const clientErrors = createClientErrors()
  const app = fastify({
    logger: logOptions(log),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    childLoggerFactory: (logger) => logger, // each line about a request holds the request
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    bodyLimit: maxBodyBytes,
    requestTimeout: 10_000,
    http: {
      headersTimeout: 5_000,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: largestHeaders,
      requireHostHeader: false, // judged with the other headers
    },
    routerOptions: { maxParamLength: largestHeaders, ignoreTrailingSlash: true },
    return503OnClosing: false, // what arrives on an open connection while draining is still served
    forceCloseConnections: 'idle',
    clientErrorHandler: clientErrors.answer,
    frameworkErrors: answerError,
  }).withTypeProvider<ZodTypeProvider>()

  app.server.prependListener('request', clientErrors.note) // before the framework answers
  app.server.on('checkExpectation', answerExpectation)
  limitConnections(app.server, maxConnections, createIsTrustedProxy(trustedProxies))
  closeStalledConnections(app.server)
  const closeUnused = closeUnusedConnections(app.server)
  dropDestroyedConnections(app.server)
  app.addHook('preClose', closeUnused)
  app.setValidatorCompiler(validateRequest)
  app.setSerializerCompiler(serializerCompiler)
  app.setErrorHandler(answerError)
  answerInOrder(app)
  answerInPieces(app)
  warnOfUntrustedProxy(app, createIsTrustedProxy(trustedProxies))
  addSecurityHeaders(app)
  addRequestRules(app, publicUrl)
  answerUnknownRequests(app, webFolder === undefined ? answerNothing : serveStaticFiles(app, webFolder))
  app.addHook('onSend', async ({ raw }, reply) => {
    if (!raw.complete && isLong(raw)) reply.header('Connection', 'close')
  })
  app.addHook('onResponse', async (request, reply) => {
    const level = request.method === 'GET' && reply.statusCode < 400 ? 'debug' : 'info'
    request.log[level]({ req: request, status: reply.statusCode, ms: Math.round(reply.elapsedTime) }, 'answered')
  })
  return app
}

/** Without TRUST_PROXY all clients behind a proxy share the limits of one address; said once. */
function warnOfUntrustedProxy(app: FastifyInstance, isTrusted: (address: string) => boolean): void {
  let isSaid = false
  app.addHook('onRequest', async ({ headers, raw }) => {
    const address = raw.socket.remoteAddress ?? ''
    if (isSaid || headers['x-forwarded-for'] === undefined || isTrusted(address)) return
    isSaid = true
    app.log.warn(
      { address },
      'X-Forwarded-For from an address outside TRUST_PROXY: its clients share the limits of one address',
    )
  })
}

const createAnswerError =
  ({ answerTo, onError }: Pick<HttpSettings, 'answerTo' | 'onError'>) =>
  (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    const { status, headers = {}, body } = answerTo(error, request.id)
    if (status === 503) request.log.warn({ err: error, req: request }, 'request failed, service unavailable')
    if (status === 500) request.log.error({ err: error, req: request }, 'request failed unexpectedly')
    onError?.(error, request, status)
    reply.code(status).headers(headers).type('application/json; charset=utf-8').send(JSON.stringify(body))
  }

/** What is left of a body after an answer that did not wait for it is read and thrown away, up to so much. */
const maxDiscardedBytes = 1024 * 1024

/** After the answer the connection of such a body is closed, which may cut off the answer. */
const isLong = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > maxDiscardedBytes

function answerNothing(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.code(404).send({ error: 'not found' })
}
