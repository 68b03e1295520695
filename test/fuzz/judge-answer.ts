import type { RawAnswer } from './raw-client.ts'
import type { RequestCase } from './request-case.ts'

const maxErrorLength = 300

/** What no answer may hold: stack traces, places on the disk, words of SQL and of the libraries. */
const leaks = [
  /\n\s+at \S+ \(/,
  /\bat (?:async )?\w+(?:\.\w+)* \(/,
  /node_modules|node:internal|file:\/\/\//,
  /\.(?:ts|mjs|js):\d+/,
  /\/(?:tmp|home|root|usr|var|etc|work)\//,
  /\b(?:select|insert into|update|delete from)\b[^"]*\b(?:from|values|set|where)\b/i,
  /\brelation "|syntax error|pg_catalog|violates|duplicate key value|invalid byte sequence|out of range for type/i,
  /\b(?:ECONN\w+|ENOENT|EACCES|ETIMEDOUT|ENOTFOUND)\b/,
  /\b(?:FST_|ERR_|ZodError|TypeError|RangeError|SyntaxError|DatabaseError|kysely|postgres:\/\/)/,
  /\bcannot read propert|is not a function|undefined is not/i,
]

/** Says what is wrong with an answer; nothing, where all is as it should be. */
export function judgeAnswer({ operation, draft, statuses }: RequestCase, answer: RawAnswer): string[] {
  const { status, headers, body } = answer
  const complaints: string[] = []
  if (status === 0) complaints.push('no answer')
  if (status >= 500) complaints.push(`status ${status}`)
  if (!statuses.has(status)) complaints.push(`status ${status}, not ${[...statuses].join(', ')}`)
  if (status === 405 && !headers.get('allow')) complaints.push('405 without Allow')
  for (const leak of leaks) if (status >= 400 && leak.test(body)) complaints.push(`leaks ${leak}`)
  if (headers.has('x-powered-by') || headers.has('server')) complaints.push('says what it is made of')
  if (draft.method === 'HEAD' || status === 204) return complaints
  if (status >= 400) complaints.push(...errorFaults(headers, body))
  const isHere = draft.method === operation.method && isAt(operation.path.split('/'), draft.path.split('/'))
  if (isHere && !operation.answers.has(status)) complaints.push(`status ${status} is not described`)
  const checker = isHere ? operation.answers.get(status) : undefined
  const isJson = headers.get('content-type')?.includes('json') ?? false
  if (checker && isJson && !checker.safeParse(parsed(body)).success) complaints.push('does not conform to its schema')
  return complaints
}

const isAt = (pattern: readonly string[], path: readonly string[]) =>
  pattern.length === path.length && pattern.every((part, index) => part.startsWith('{') || part === path[index])

function errorFaults(headers: RawAnswer['headers'], body: string): string[] {
  const value = parsed(body)
  const error = typeof value === 'object' && value !== null && 'error' in value ? value.error : undefined
  if (!headers.get('content-type')?.startsWith('application/json')) return ['an error that is not JSON']
  if (typeof error !== 'string' || error === '') return ['an error without `error`']
  return error.length > maxErrorLength ? [`an error of ${error.length} characters`] : []
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
