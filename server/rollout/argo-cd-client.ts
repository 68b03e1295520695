import { readFileSync } from 'node:fs'
import { Agent, fetch, type Response } from 'undici'
import type { ApplicationAddress, DeliveryController, ReadOutcome } from './delivery-controller.ts'
import { baseUrl, type DeliveryControllerSettings } from './delivery-controller-settings.ts'
import { parseManagedResources } from './managed-resources.ts'
import { parseApplication } from './observed-application.ts'
import { readWithin } from './read-within.ts'
import { parseResourceTree } from './resource-tree.ts'
import { parseSyncWindows } from './sync-windows.ts'
import { isTrueAt, listAt, numberAt, objectAt, parseJson, textAt } from './untrusted-json.ts'

/** Largest answer about one application. A List is as large as the installation. */
const maxBytes = 16 * 1024 * 1024
const maxListBytes = 512 * 1024 * 1024
const refreshDeadlineSeconds = 2
const firstRetryMs = 250
const longestRetryAfterMs = 10_000

export type ArgoCdClient = DeliveryController & {
  /** The shared stream of all applications. The answer may take as long as it takes until the first of them changes. */
  openStream(options: { readonly liveOnly: boolean; readonly signal: AbortSignal }): Promise<StreamOpening>
  readVersion(): Promise<ReadOutcome<string>>
  [Symbol.asyncDispose](): Promise<void>
}

export type StreamOpening =
  | { readonly kind: 'open'; readonly body: AsyncIterable<Uint8Array>; readonly isSse: boolean }
  | { readonly kind: 'unauthorized' | 'refused'; readonly why: string }
  | { readonly kind: 'unreachable'; readonly why: string }

type Query = readonly (readonly [string, string | undefined])[]
type Answer = { readonly status: number; readonly body: unknown; readonly retryAfterMs: number | undefined }
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
    connections: 16,
    headersTimeout: settings.apiTimeoutMs,
    bodyTimeout: settings.apiTimeoutMs,
  })
  const streams = new Agent({ connect, allowH2: false, headersTimeout: 0, bodyTimeout: 0 })

  const urlOf = ({ path, query }: Pick<Call, 'path' | 'query'>): URL => {
    const url = new URL(path, base)
    for (const [name, value] of query) if (value !== undefined) url.searchParams.append(name, value)
    return url
  }

  const callOnce = async (call: Call): Promise<Answer | Unreachable> => {
    try {
      const response = await fetch(urlOf(call), {
        dispatcher: calls,
        redirect: 'manual',
        signal: AbortSignal.timeout(settings.apiTimeoutMs),
        headers: { accept: 'application/json', authorization: `Bearer ${settings.token()}`, ...call.headers },
      })
      return await readAnswer(response, call.maxBytes ?? maxBytes)
    } catch (error) {
      return { kind: 'unreachable', why: describeFailure(error) }
    }
  }

  const call = async (wanted: Call): Promise<Answer | Unreachable> => {
    const retries = wanted.retries ?? settings.apiRetries
    const giveUpAt = performance.now() + settings.apiTimeoutMs / 2
    for (let attempt = 0; ; attempt += 1) {
      const answer = await callOnce(wanted)
      if (attempt >= retries || !isWorthRetrying(answer) || performance.now() > giveUpAt) return answer
      await pause(retryDelayMs(answer, attempt, random()))
    }
  }

  const read = async <Value>(wanted: Call, parse: (body: unknown) => Value | undefined): Promise<ReadOutcome<Value>> =>
    outcomeOf(await call(wanted), parse)

  const ofApplication = (address: ApplicationAddress, suffix = '', query: Query = []): Call => ({
    path: `api/v1/applications/${encodeURIComponent(address.name)}${suffix}`,
    query: [['appNamespace', address.namespace], ['project', address.project], ...query],
  })

  const parseNamed = (address: ApplicationAddress) => (body: unknown) => {
    const application = parseApplication(body)
    const isRight =
      application?.name === address.name && (address.namespace ?? application.namespace) === application.namespace
    return isRight ? application : undefined
  }

  return {
    readApplication: (address) => read(ofApplication(address), parseNamed(address)),

    async refreshApplication(address) {
      const headers = { 'grpc-timeout': `${refreshDeadlineSeconds}S` }
      const answer = await call({ ...ofApplication(address, '', [['refresh', 'normal']]), headers, retries: 0 })
      if ('status' in answer && answer.status === 504) return { kind: 'asked' }
      return outcomeOf(answer, parseNamed(address))
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
      return read({ path: 'api/v1/applications', query, maxBytes: maxListBytes }, parseList)
    },

    readResourceTree: (address) =>
      read(ofApplication(address, '/resource-tree'), parseIfHas('nodes', parseResourceTree)),
    readManagedResources: (address) => read(ofApplication(address, '/managed-resources'), parseManagedResources),
    readSyncWindows: (address) => read(ofApplication(address, '/syncwindows'), parseSyncWindows),

    readPodEvents(address, { namespace, name, uid }) {
      const query: Query = [
        ['resourceNamespace', namespace],
        ['resourceName', name],
        ['resourceUID', uid],
      ]
      return read(ofApplication(address, '/events', query), parseEvents)
    },

    async probe() {
      const outcome = await read({ path: 'api/v1/session/userinfo', query: [], retries: 0 }, (body) => ({
        isLoggedIn: isTrueAt(body, 'loggedIn'),
      }))
      if (outcome.kind !== 'read' || outcome.value.isLoggedIn) return outcome
      return { kind: 'unauthorized', why: 'Argo CD does not know the token: it is wrong, expired or revoked' }
    },

    readVersion: () => read({ path: 'api/version', query: [], retries: 0 }, (body) => textAt(body, 'Version')),

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
          headers: { accept: 'text/event-stream', authorization: `Bearer ${settings.token()}` },
        })
        return await openingOf(response)
      } catch (error) {
        return { kind: 'unreachable', why: describeFailure(error) }
      }
    },

    async [Symbol.asyncDispose]() {
      await Promise.all([calls.destroy(), streams.destroy()])
    },
  }
}

type Unreachable = { readonly kind: 'unreachable'; readonly why: string }

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
    'status.resources',
    'status.controllerNamespace',
  ].map((field) => `result.application.${field}`),
].join(',')

async function readAnswer(response: Response, limit: number): Promise<Answer | Unreachable> {
  const { status } = response
  if (status >= 300 && status < 400) {
    await response.body?.cancel()
    return { kind: 'unreachable', why: `Argo CD answered with a redirect (${status}): check ARGO_URL` }
  }
  const text = response.body === null ? '' : await readWithin(response.body, limit)
  if (text === undefined) return { kind: 'unreachable', why: `the answer is larger than ${limit} bytes` }
  return { status, body: parseJson(text), retryAfterMs: retryAfterMs(response.headers.get('retry-after')) }
}

function retryAfterMs(header: string | null): number | undefined {
  const seconds = header === null ? Number.NaN : Number(header)
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1_000, longestRetryAfterMs) : undefined
}

function isWorthRetrying(answer: Answer | Unreachable): boolean {
  return 'kind' in answer || answer.status >= 500 || answer.status === 429 || answer.status === 408
}

function retryDelayMs(answer: Answer | Unreachable, attempt: number, random: number): number {
  const backoff = firstRetryMs * 2 ** attempt * (0.5 + random)
  return 'kind' in answer ? backoff : Math.max(backoff, answer.retryAfterMs ?? 0)
}

const pause = (delayMs: number) => new Promise<void>((resolve) => setTimeout(resolve, delayMs).unref())

function outcomeOf<Value>(
  answer: Answer | Unreachable,
  parse: (body: unknown) => Value | undefined,
): ReadOutcome<Value> {
  if ('kind' in answer) return answer
  const { status, body } = answer
  if (status === 401) return { kind: 'unauthorized', why: messageOf(body) }
  if (status === 403) return { kind: 'refused' }
  // A proxy's own 404 is not JSON and says nothing of the application.
  if (status === 404 && numberAt(body, 'code') === 5) return { kind: 'not_found' }
  if (status !== 200) return { kind: 'unreachable', why: `Argo CD answered ${status}: ${messageOf(body)}` }
  const value = body === undefined ? undefined : parse(body)
  if (value === undefined)
    return { kind: 'unreachable', why: 'Argo CD answered 200 with something that is not its JSON' }
  return { kind: 'read', value }
}

const maxMessageLength = 300

function messageOf(body: unknown): string {
  const message = textAt(body, 'message') ?? textAt(body, 'error') ?? textAt(objectAt(body, 'error'), 'message')
  return (message ?? 'no message').slice(0, maxMessageLength)
}

/** The innermost cause says most: refused, unknown host, bad certificate, time-out. No header is ever part of it. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'the call failed'
  if (error.name === 'TimeoutError') return 'no answer in time'
  if (error.cause !== undefined) return describeFailure(error.cause)
  const code = 'code' in error && typeof error.code === 'string' ? `${error.code} ` : ''
  return `${code}${error.message}`.slice(0, maxMessageLength)
}

function parseList(body: unknown) {
  if (textAt(objectAt(body, 'metadata'), 'resourceVersion') === undefined) return undefined
  const applications = listAt(body, 'items')
    .map(parseApplication)
    .filter((item) => item !== undefined)
  return { version: Number(textAt(objectAt(body, 'metadata'), 'resourceVersion')) || 0, applications }
}

function parseIfHas<Value>(key: string, parse: (body: unknown) => Value) {
  return (body: unknown) => (typeof body === 'object' && body !== null && key in body ? parse(body) : undefined)
}

function parseEvents(body: unknown): readonly string[] {
  return listAt(body, 'items').flatMap((item) => {
    const reason = textAt(item, 'reason')
    return reason === undefined ? [] : [`${reason}: ${textAt(item, 'message') ?? ''}`]
  })
}

async function openingOf(response: Response): Promise<StreamOpening> {
  const type = response.headers.get('content-type') ?? ''
  const isSse = type.startsWith('text/event-stream')
  if (response.status === 200 && response.body !== null && (isSse || type.startsWith('application/json'))) {
    return { kind: 'open', body: response.body, isSse }
  }
  const text = response.body === null ? '' : ((await readWithin(response.body, 65_536)) ?? '')
  const why = `${response.status}: ${messageOf(parseJson(text.replace(/^data: /, '')))}`
  if (response.status === 401) return { kind: 'unauthorized', why }
  return response.status === 403 ? { kind: 'refused', why } : { kind: 'unreachable', why: `Argo CD answered ${why}` }
}
