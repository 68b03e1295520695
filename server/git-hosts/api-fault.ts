import { jsonOf, type Posted } from '../http/outgoing/post.ts'

/** Why a request was not taken. */
export type Fault =
  /** The credential is not known, or ended. */
  | { readonly kind: 'unauthorized'; readonly error: string }
  /** A person has to change something first, which is tried once an hour. */
  | { readonly kind: 'blocked'; readonly error: string }
  | { readonly kind: 'passing'; readonly error: string; readonly afterMs?: number | undefined }
  | { readonly kind: 'final'; readonly error: string }

const passingStatuses: ReadonlySet<number> = new Set([408, 425, 429])
/** Of a secondary rate limit without a time (https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api). */
const rateLimitMs = 60_000
const maxMessageLength = 200

/**
 * The rules for GitHub and GitLab: what passes, what a person has to change, and what is final; undefined: it was taken.
 * @param host such as `GitHub`
 * @param missing what 403 and 404 mean for this request, in one sentence
 */
export function faultOf(answer: Posted, host: string, missing: string): Fault | undefined {
  if (answer.kind === 'refused') return { kind: 'final', error: answer.error }
  if (answer.kind === 'unanswered') return { kind: 'passing', error: `${host}: ${answer.error}` }
  const { status, text, retryAfterMs: afterMs } = answer
  if (status >= 200 && status < 300) return undefined
  const error = `${host} answered ${status}${messageOf(text)}`
  if (status === 401) return { kind: 'unauthorized', error }
  if (status >= 500 || passingStatuses.has(status)) return { kind: 'passing', error, afterMs }
  if (status === 403 && (afterMs !== undefined || /rate limit/i.test(text)))
    return { kind: 'passing', error, afterMs: afterMs ?? rateLimitMs }
  if (status === 403 || status === 404) return { kind: 'blocked', error: missing }
  return { kind: 'final', error }
}

/** What the host says about it, on one line. */
function messageOf(text: string): string {
  const { message, error } = { message: undefined, error: undefined, ...(jsonOf(text) as object | undefined) }
  const said = message ?? error
  if (said === undefined) return ''
  const words = (typeof said === 'string' ? said : JSON.stringify(said)).replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
  return words === '' ? '' : `: ${words.slice(0, maxMessageLength)}`
}
