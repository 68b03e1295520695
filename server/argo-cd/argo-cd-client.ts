import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, fetch, type Response } from 'undici'
import { readChunksWithin, readWithin } from '../http/read-within.ts'
import type { ApplicationAddress, DeliveryController, ReadOutcome } from '../rollout/observed/delivery-controller.ts'
import type { ObservedApplication } from '../rollout/observed/observed-application.ts'
import type { LogRequest } from '../rollout/watch/read-pod-log.ts'
import { hideSecrets } from '../secrets/hide-secrets.ts'
import { isHeaderText } from '../secrets/secret-rules.ts'
import { baseUrl, type DeliveryControllerSettings } from './delivery-controller-settings.ts'
import { createLargeJsonReader } from './parse/large-json-reader.ts'
import { type AnswerKind, type AnswerValues, parseAnswer, parsePodLog } from './parse/parse-answer.ts'
import type { StreamFrame } from './parse/stream-frames.ts'
import { largeJsonBytes, numberAt, objectAt, parseJson, textAt } from './parse/untrusted-json.ts'
import { isWorthRetrying, parseRetryAfter, retryDelayMs } from './retry-delay.ts'

/** Largest answer about one application. A List is as large as the installation. */
const maxBytes = 16 * 1024 * 1024
const maxLogBytes = 1024 * 1024
const maxListBytes = 512 * 1024 * 1024
const refreshDeadlineSeconds = 2
/** Unpacking a small answer costs more than all else about its call. */
const smallAnswer = { accept: 'application/json', 'accept-encoding': 'identity' }
/** Each refresh holds one for up to its deadline. */
const maxConnections = 256

export type ArgoCdClient = DeliveryController & {
  /** The shared stream of all applications. The answer may take as long as it takes until the first of them changes. */
  openStream(options: { readonly liveOnly: boolean; readonly signal: AbortSignal }): Promise<StreamOpening>
  readPodLog(address: ApplicationAddress, request: LogRequest): Promise<ReadOutcome<readonly string[]>>
  /** Argo CD's own version. */
  readVersion(): Promise<ReadOutcome<string>>
  /** Reads a line of the stream that is too large for the main thread. */
  readLargeFrame(line: Uint8Array): Promise<StreamFrame>
  [Symbol.asyncDispose](): Promise<void>
}

export type StreamOpening =
  | { readonly kind: 'open'; readonly body: AsyncIterable<Uint8Array> }
  | { readonly kind: 'unauthorized' | 'forbidden'; readonly why: string }
  | { readonly kind: 'unreachable'; readonly why: string }

type Query = readonly (readonly [string, string | undefined])[]
type Answer = {
  readonly status: number
  readonly bytes: readonly Uint8Array[]
  readonly retryAfterMs: number | undefined
}
type Call = {
  readonly path: string
  readonly query: Query
  readonly headers?: Record<string, string>
  readonly maxBytes?: number
  readonly retries?: number
}

/**
 * Reads Argo CD over HTTP. Never throws for what Argo CD answers: everything unusable is `unreachable`. The token is sent to
 * the configured origin only; redirects are not followed.
 * @throws when the CA file cannot be read
 */
export function createArgoCdClient(
  settings: DeliveryControllerSettings,
  random: () => number = Math.random,
): ArgoCdClient {
  const base = baseUrl(settings.url)
  const connect = {
    ...(settings.caFile === undefined ? {} : { ca: readFileSync(settings.caFile) }),
    rejectUnauthorized: !settings.skipTlsVerify,
    timeout: settings.apiTimeoutMs,
  }
  // Argo CD itself does not speak HTTP/2 to us, and a stream may be silent for hours.
  const calls = new Agent({
    connect,
    allowH2: false,
    connections: maxConnections,
    headersTimeout: settings.apiTimeoutMs,
    bodyTimeout: settings.apiTimeoutMs,
  })
  const streams = new Agent({ connect, allowH2: false, headersTimeout: 0, bodyTimeout: 0 })
  const large = createLargeJsonReader()

  const urlOf = ({ path, query }: Pick<Call, 'path' | 'query'>): URL => {
    const url = new URL(path, base)
    for (const [name, value] of query) if (value !== undefined) url.searchParams.append(name, value)
    return url
  }

  /** Others may repeat in their words what we sent them; some of these words are shown to everybody. */
  const redactWhy = <Outcome extends object>(outcome: Outcome): Outcome => {
    if (!('why' in outcome) || typeof outcome.why !== 'string') return outcome
    const why = hideSecrets(outcome.why, [settings.token()]).replace(/:\/\/[^/@\s]+@/g, '://<redacted>@')
    return { ...outcome, why: why.slice(0, maxWhyLength) }
  }

  /** @throws an error that does not quote the token, as that of a header does */
  const authorization = (): string => {
    const token = settings.token()
    if (!isHeaderText(token)) throw new Error('the token holds characters that cannot be sent in an HTTP header')
    return `Bearer ${token}`
  }

  const callOnce = async (call: Call): Promise<Answer | Unreachable> => {
    try {
      const response = await fetch(urlOf(call), {
        dispatcher: calls,
        redirect: 'manual',
        signal: AbortSignal.timeout(settings.apiTimeoutMs),
        headers: { ...smallAnswer, ...call.headers, authorization: authorization() },
      })
      return await readAnswer(response, call.maxBytes ?? maxBytes)
    } catch (error) {
      return { kind: 'unreachable', why: describeFailure(error) }
    }
  }

  const call = async (request: Call): Promise<Answer | Unreachable> => {
    const retries = request.retries ?? settings.apiRetries
    const giveUpAt = performance.now() + settings.apiTimeoutMs / 2
    for (let attempt = 0; ; attempt += 1) {
      const answer = await callOnce(request)
      const tried = 'kind' in answer ? {} : answer
      if (attempt >= retries || !isWorthRetrying(tried) || performance.now() > giveUpAt) return answer
      await delay(retryDelayMs(tried, attempt, random()), undefined, { ref: false })
    }
  }

  const read = async <Kind extends AnswerKind>(kind: Kind, request: Call): Promise<ReadOutcome<AnswerValues[Kind]>> =>
    outcomeOf(kind, await call(request))

  const outcomeOf = async <Kind extends AnswerKind>(
    kind: Kind,
    answer: Answer | Unreachable,
  ): Promise<ReadOutcome<AnswerValues[Kind]>> => {
    if ('kind' in answer) return redactWhy(answer)
    if (answer.status !== 200) return redactWhy(failureOf(answer))
    const value = isLarge(answer)
      ? await large.parseAnswer(kind, answer.bytes)
      : parseAnswer(kind, parseJson(textOf(answer)))
    return value === undefined ? notItsJson : { kind: 'read', value }
  }

  const ofApplication = (address: ApplicationAddress, suffix = '', query: Query = []): Call => ({
    path: `api/v1/applications/${encodeURIComponent(address.name)}${suffix}`,
    query: [['appNamespace', address.namespace], ['project', address.project], ...query],
  })

  return {
    async readApplication(address) {
      if (isDots(address.name)) return { kind: 'not_found' }
      return onlyNamed(address, await read('application', ofApplication(address)))
    },

    async refreshApplication(address) {
      const headers = { 'grpc-timeout': `${refreshDeadlineSeconds}S` }
      const answer = await call({ ...ofApplication(address, '', [['refresh', 'normal']]), headers, retries: 0 })
      if ('status' in answer && answer.status === 504) return { kind: 'asked' }
      return onlyNamed(address, await outcomeOf('application', answer))
    },

    listApplications(only) {
      const narrowed: Query = [
        ...settings.projects.map((project) => ['projects', project] as const),
        ['selector', settings.selector],
      ]
      const query: Query =
        only === undefined
          ? narrowed
          : [
              ['name', only.name],
              ['appNamespace', only.namespace],
            ]
      const headers = { 'accept-encoding': 'gzip' }
      return read('list', { path: 'api/v1/applications', query, headers, maxBytes: maxListBytes })
    },

    readResourceTree: (address) => read('tree', ofApplication(address, '/resource-tree')),
    readManagedResources: (address) => read('managed_resources', ofApplication(address, '/managed-resources')),
    readSyncWindows: (address) => read('sync_windows', ofApplication(address, '/syncwindows')),

    readEvents(address, { namespace, name, uid }) {
      const query: Query = [
        ['resourceNamespace', namespace],
        ['resourceName', name],
        ['resourceUID', uid],
      ]
      return read('events', ofApplication(address, '/events', query))
    },

    readLivePod(address, { namespace, name }) {
      const query: Query = [
        ['namespace', namespace],
        ['resourceName', name],
        ['version', 'v1'],
        ['group', ''],
        ['kind', 'Pod'],
      ]
      return read('live_pod', { ...ofApplication(address, '/resource', query), retries: 0 })
    },

    async readPodLog(address, { pod, container, isPrevious, lines }) {
      const query: Query = [
        ['namespace', pod.namespace],
        ['podName', pod.name],
        ['container', container],
        ['previous', isPrevious ? 'true' : undefined],
        ['tailLines', String(lines)],
      ]
      const answer = await call({ ...ofApplication(address, '/logs', query), maxBytes: maxLogBytes, retries: 0 })
      if ('kind' in answer) return redactWhy(answer)
      if (answer.status !== 200) return redactWhy(failureOf(answer))
      return redactWhy(parsePodLog(textOf(answer)))
    },

    async probe() {
      const outcome = await read('session', { path: 'api/v1/session/userinfo', query: [], retries: 0 })
      if (outcome.kind !== 'read' || outcome.value.isLoggedIn) return outcome
      return { kind: 'unauthorized', why: 'Argo CD rejected the token: it is invalid, expired or revoked' }
    },

    readVersion: () => read('version', { path: 'api/version', query: [], retries: 0 }),

    readLargeFrame: large.parseFrame,

    async openStream({ liveOnly, signal }) {
      const query: Query = [
        ['fields', streamFields],
        ['resourceVersion', liveOnly ? '0' : undefined],
        ...settings.projects.map((project) => ['projects', project] as const),
        ['selector', settings.selector],
      ]
      try {
        const response = await fetch(urlOf({ path: 'api/v1/stream/applications', query }), {
          dispatcher: streams,
          redirect: 'manual',
          signal,
          // Exactly this: anything else gets another framing, without keepalives.
          headers: { accept: 'text/event-stream', authorization: authorization() },
        })
        return redactWhy(await openingOf(response))
      } catch (error) {
        return redactWhy({ kind: 'unreachable', why: describeFailure(error) })
      }
    },

    async [Symbol.asyncDispose]() {
      await Promise.all([calls.destroy(), streams.destroy(), large[Symbol.asyncDispose]()])
    },
  }
}

type Unreachable = Extract<ReadOutcome<never>, { kind: 'unreachable' }>

/** `error` must be among them, or a failure arrives as an empty object. */
const streamFields = [
  'error',
  'result.type',
  ...[
    'metadata.name',
    'metadata.namespace',
    'metadata.uid',
    'metadata.resourceVersion',
    'metadata.annotations',
    'metadata.deletionTimestamp',
    'spec.project',
    'spec.source',
    'spec.sources',
    'spec.sourceHydrator',
    'spec.syncPolicy',
    'operation',
    'status.sync',
    'status.health',
    'status.summary',
    'status.conditions',
    'status.reconciledAt',
    'status.operationState',
    'status.sourceHydrator',
    'status.sourceType',
    'status.sourceTypes',
    'status.resources',
    'status.controllerNamespace',
  ].map((field) => `result.application.${field}`),
].join(',')

async function readAnswer(response: Response, limit: number): Promise<Answer | Unreachable> {
  const { status } = response
  if (status >= 300 && status < 400) {
    await response.body?.cancel()
    return { kind: 'unreachable', why: `Argo CD returned a redirect (${status}): check ARGO_URL` }
  }
  const bytes = response.body === null ? [] : await readChunksWithin(response.body, limit)
  if (bytes === undefined) return { kind: 'unreachable', why: `the response is larger than ${limit} bytes` }
  return { status, bytes, retryAfterMs: parseRetryAfter(response.headers.get('retry-after')) }
}

const isLarge = ({ bytes }: Answer) => bytes.reduce((total, { byteLength }) => total + byteLength, 0) > largeJsonBytes

const textOf = ({ bytes }: Answer) => new TextDecoder().decode(Buffer.concat(bytes))

const notItsJson: Unreachable = { kind: 'unreachable', why: 'Argo CD returned 200 with an unexpected body' }

function failureOf(answer: Answer): Exclude<ReadOutcome<never>, { kind: 'read' }> {
  const { status } = answer
  const body = isLarge(answer) ? undefined : parseJson(textOf(answer))
  if (status === 401) return { kind: 'unauthorized', why: messageOf(body) }
  if (status === 403) return { kind: 'forbidden' }
  // A proxy's own 404 is not JSON and says nothing of the application.
  if (status === 404 && numberAt(body, 'code') === 5) return { kind: 'not_found' }
  return { kind: 'unreachable', why: `Argo CD answered ${status}: ${messageOf(body)}` }
}

/** No application can have such a name, and in a path it would lead to another one, also percent-encoded. */
const isDots = (name: string): boolean => name === '.' || name === '..'

/** Rejects an answer about another application, and one whose version cannot be compared with older ones. */
function onlyNamed(
  { name, namespace }: ApplicationAddress,
  outcome: ReadOutcome<ObservedApplication>,
): ReadOutcome<ObservedApplication> {
  if (outcome.kind !== 'read') return outcome
  const { value } = outcome
  const isRight = value.name === name && (namespace ?? value.namespace) === value.namespace && value.version > 0
  return isRight ? outcome : notItsJson
}

/** Cut only after secrets were taken out, or half of one would be left. */
const maxWhyLength = 300
const maxMessageLength = 10_000

function messageOf(body: unknown): string {
  const message = textAt(body, 'message') ?? textAt(body, 'error') ?? textAt(objectAt(body, 'error'), 'message')
  return (message ?? 'no message').slice(0, maxMessageLength)
}

/** The innermost cause says most: refused, unknown host, bad certificate, time-out. No header is ever part of it. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'the call failed'
  if (error.name === 'TimeoutError') return 'no answer in time'
  if (error.cause !== undefined) return describeFailure(error.cause)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const words = Object.hasOwn(wordsOfCodes, code) ? wordsOfCodes[code] : undefined
  const isSaid = code === '' || error.message.includes(code)
  return words ?? (isSaid ? error.message : `${code} ${error.message}`).slice(0, maxMessageLength)
}

const wordsOfCodes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection closed',
  UND_ERR_SOCKET: 'connection closed',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name lookup failed',
  ETIMEDOUT: 'connection timed out',
}

async function openingOf(response: Response): Promise<StreamOpening> {
  const type = response.headers.get('content-type') ?? ''
  const isStream = type.startsWith('text/event-stream') || type.startsWith('application/json')
  if (response.status === 200 && response.body !== null && isStream) {
    return { kind: 'open', body: response.body }
  }
  const text = response.body === null ? '' : ((await readWithin(response.body, 65_536)) ?? '')
  const why = `${response.status}: ${messageOf(parseJson(text.replace(/^data: /, '')))}`
  if (response.status === 401) return { kind: 'unauthorized', why }
  return response.status === 403 ? { kind: 'forbidden', why } : { kind: 'unreachable', why: `Argo CD answered ${why}` }
}
