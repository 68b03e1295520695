import { lookup } from 'node:dns'
import { isIP } from 'node:net'
import { Agent, request as send } from 'undici'
import { readWithin } from '../read-within.ts'
import { isAllowedAddress } from './allowed-address.ts'

const limitMs = 10_000
const defaultAnswerBytes = 64 * 1024

/** What came of a request. `retryAfterMs`: as the host said it, in whichever header. */
export type Posted =
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly text: string
      readonly retryAfterMs: number | undefined
    }
  /** `error` names no address: that may be a secret. */
  | { readonly kind: 'unanswered'; readonly error: string }
  | { readonly kind: 'refused'; readonly error: string }

type Request = {
  readonly method?: 'GET' | 'POST' | 'PUT'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly allowsPrivate: boolean
  readonly maxAnswerBytes?: number
}

class RefusedAddressError extends Error {
  readonly code = 'ADDRESS_REFUSED'
}

/** Sends bodies to addresses that may be anything but what only this machine may reach. */
export function createPost() {
  const agents = [false, true].map((allowsPrivate) => createAgent(allowsPrivate))

  return {
    /** Sends a request; no redirect is followed. */
    async post(url: string, request: Request): Promise<Posted> {
      const { method = 'POST', headers, body, allowsPrivate, maxAnswerBytes = defaultAnswerBytes } = request
      const address = URL.parse(url)
      if (!address || !/^https?:$/.test(address.protocol)) return { kind: 'refused', error: 'the address is not valid' }
      const host = address.hostname.replace(/^\[|\]$/g, '')
      if (isIP(host) !== 0 && !isAllowedAddress(host, allowsPrivate)) return refused
      const dispatcher = agents[Number(allowsPrivate)]
      try {
        const answer = await send(address, {
          method,
          headers,
          ...(body === undefined ? {} : { body }),
          signal: AbortSignal.timeout(limitMs),
          ...(dispatcher === undefined ? {} : { dispatcher }),
        })
        const text = await readWithin(answer.body, maxAnswerBytes).catch(() => undefined)
        const status = answer.statusCode
        return { kind: 'answered', status, text: text ?? '', retryAfterMs: retryAfterOf(answer.headers) }
      } catch (error) {
        return isRefusal(error) ? refused : { kind: 'unanswered', error: reasonOf(error) }
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(agents.map((agent) => agent.destroy()))
    },
  }
}
export type Post = ReturnType<typeof createPost>['post']

const refused: Posted = {
  kind: 'refused',
  error: 'the address is of this machine or of a private network: set allow_private, if that is meant',
}

/** Checks what a name stands for at the very lookup whose answer is connected to: another one could answer otherwise. */
const createAgent = (allowsPrivate: boolean) =>
  new Agent({
    headersTimeout: limitMs,
    bodyTimeout: limitMs,
    connect: {
      timeout: limitMs,
      lookup: (hostname, options, callback) =>
        lookup(hostname, { ...options, all: true }, (error, addresses) => {
          if (error) return callback(error, [])
          const isGood = addresses.every(({ address }) => isAllowedAddress(address, allowsPrivate))
          if (!isGood) return callback(new RefusedAddressError('refused'), [])
          if (options.all) return callback(null, addresses)
          const [first] = addresses
          return callback(null, first?.address ?? '', first?.family)
        }),
    },
  })

function isRefusal(error: unknown): boolean {
  if (error instanceof RefusedAddressError) return true
  return error instanceof Error && error.cause !== undefined && isRefusal(error.cause)
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer'
  if (error.name === 'TimeoutError') return `no answer within ${limitMs / 1_000} s`
  return 'code' in error ? `no answer (${String(error.code)})` : 'no answer'
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** `Retry-After`, else when the budget of requests that is used up begins again, as GitHub tells it. */
function retryAfterOf(headers: Headers): number | undefined {
  const textOf = (name: string) => [headers[name]].flat()[0]?.trim()
  const text = textOf('retry-after')
  const sentMs = Date.parse(textOf('date') ?? '') || Date.now() // their clock, by which they count
  const reset = textOf('x-ratelimit-remaining') === '0' ? textOf('x-ratelimit-reset') : undefined
  const ms =
    text === undefined
      ? Number(reset) * 1_000 - sentMs
      : /^\d{1,9}$/.test(text)
        ? Number(text) * 1_000
        : Date.parse(text) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

/** What a host answered; undefined where it is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
