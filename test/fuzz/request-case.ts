import * as fc from 'fast-check'
import type { Operation, Parameter } from './api-document.ts'
import { type BadCredentials, type Fault, faultsOf, noise } from './faults.ts'
import type { RequestDraft } from './request-draft.ts'
import { validValue } from './schema-values.ts'

type Header = readonly [string, string]

export type Credentials = {
  /** Headers of the credentials that the service knows, by the name of their scheme in the document. */
  readonly good: ReadonlyMap<string, readonly Header[]>
  readonly sessionCookie: string
  /** Header and value that must be refused; `?` for the query. */
  readonly bad: BadCredentials
}

export type RequestCase = {
  readonly operation: Operation
  readonly what: readonly string[]
  readonly draft: RequestDraft
  /** Which of the known tasks `{id}` is; beyond them, one that nobody knows. */
  readonly idPick: number
  /** The statuses that may answer. */
  readonly statuses: ReadonlySet<number>
}

const refusals = [400, 401, 403, 404, 405, 406, 409, 413, 415, 417, 422, 429, 431]

/** Requests of every described operation: good ones, ones with a fault, and ones with several. */
export function requestCase(operations: readonly Operation[], credentials: Credentials): fc.Arbitrary<RequestCase> {
  const weighted = operations.map((operation) => ({ weight: weightOf(operation), arbitrary: fc.constant(operation) }))
  return fc.oneof(...weighted).chain((operation) =>
    validDraft(operation, credentials).chain(({ draft, body, isIdentified }) => {
      const faults = faultsOf(operation, body, credentials)
      return fc
        .record({
          chosen: fc.oneof(
            { weight: 3, arbitrary: fc.constant<Fault[]>([]) },
            { weight: 5, arbitrary: fc.constantFrom(...faults).map((one): Fault[] => [one]) },
            { weight: 1, arbitrary: fc.subarray(faults, { minLength: 2, maxLength: 3 }) },
          ),
          noises: fc.array(noise, { maxLength: 2 }),
          idPick: fc.nat(40),
        })
        .map(({ chosen, noises, idPick }) => ({
          operation,
          what: chosen.map(({ what }) => what),
          draft: [...chosen.map(({ apply }) => apply), ...noises].reduce((changed, apply) => apply(changed), draft),
          idPick,
          statuses: statusesOf(operation, chosen, isIdentified),
        }))
    }),
  )
}

/** Where more can be wrong, more is tried. */
const weightOf = ({ body, query, security }: Operation) =>
  1 + (body === undefined ? 0 : 8) + Math.ceil(query.length / 2) + (security === undefined ? 0 : 2)

function statusesOf(operation: Operation, faults: readonly Fault[], isIdentified: boolean): ReadonlySet<number> {
  const [fault, second] = faults
  if (second !== undefined) return new Set([...operation.answers.keys(), ...refusals])
  if (fault !== undefined) return new Set([...fault.statuses, ...(isIdentified ? [] : [401])])
  const plain = [...operation.answers.keys()].filter((status) => status < 400 || status === 404 || status === 409)
  return new Set(isIdentified ? plain : [...plain, 401, 403])
}

/** A lock that is set would refuse all tasks, and a sign-out would end the session: these never carry a credential. */
const nothingAfter = ['/deploy-lock', '/logout']

function validDraft(operation: Operation, { good }: Credentials) {
  const { security, needsCredential, body: schema } = operation
  const isLast = operation.method === 'POST' && nothingAfter.some((end) => operation.path.endsWith(end))
  const known = [...good].filter(([name]) => security?.includes(name) && !isLast).map(([, headers]) => headers)
  const choices = needsCredential ? known : [undefined, ...known]
  return fc
    .record({
      query: someOf(operation.query),
      headers: someOf(operation.headers),
      body: schema === undefined ? fc.constant(undefined) : validValue(schema).map(withoutTarget),
      credential: fc.constantFrom(...(choices.length === 0 ? [undefined] : choices)),
    })
    .map(({ query, headers, body, credential = [] }) => ({
      body,
      isIdentified: !needsCredential || credential.length > 0,
      draft: draftOf(operation, query, body, [...headers, ...credential]),
    }))
}

/** No schema says which tasks were deployed, and no other may be returned to. */
function withoutTarget(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('rollback_target_id' in body)) return body
  const { rollback_target_id: _, ...others } = body
  return others
}

const someOf = (parameters: readonly Parameter[]): fc.Arbitrary<Header[]> =>
  fc
    .subarray(parameters.filter(({ required }) => !required))
    .map((optional) => [...parameters.filter(({ required }) => required), ...optional])
    .chain((chosen) =>
      fc
        .tuple(...chosen.map(validParameter))
        .map((values) => chosen.map(({ name }, index): Header => [name, String(values[index])])),
    )

/** Waiting is kept short, some keys come twice; no schema says what is a zone, and that a time is before the year 10000. */
function validParameter({ name, schema }: Parameter): fc.Arbitrary<unknown> {
  if (name === 'tz') return fc.constantFrom('UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires')
  if (name === 'wait') return fc.constant('1')
  if (name === 'idempotency-key') return fc.oneof(fc.constantFrom('once', 'twice'), validValue(schema))
  if (name === 'last-event-id') return fc.oneof(fc.nat(), fc.constant('no id'))
  return /_timestamp$|^(?:ended_)?(?:from|to)$/.test(name) ? fc.nat() : validValue(schema)
}

function draftOf(
  { method, path, body: schema }: Operation,
  query: RequestDraft['query'],
  body: unknown,
  headers: readonly Header[],
): RequestDraft {
  return {
    method,
    path,
    query: consistent(query),
    version: 'HTTP/1.1',
    headers: [
      ['Host', '127.0.0.1'],
      ['Connection', 'close'],
      ...(schema === undefined ? [] : [['Content-Type', 'application/json'] as const]),
      ...headers,
    ],
    body: schema === undefined ? undefined : Buffer.from(JSON.stringify(body)),
  }
}

/** Filters of which the first is a time before the second. */
const ranges = [
  ['from_timestamp', 'to_timestamp'],
  ['ended_from', 'ended_to'],
]
const maxRangeSeconds = 92 * 86_400

/** What a schema cannot say of two parameters: a range begins before it ends, soon enough, and a page is found in one way. */
function consistent(query: RequestDraft['query']): RequestDraft['query'] {
  const from = query.find(([name]) => name === 'from')?.[1]
  const hasCursor = query.some(([name]) => name === 'cursor')
  const kept = query.filter(([name]) => !(hasCursor && name === 'offset'))
  return kept.map(([name, value]) => {
    if (name === 'to' && from !== undefined) return [name, String(Number(from) + 1 + (Number(value) % maxRangeSeconds))]
    const [ends] = ranges.filter((names) => names.includes(name))
    if (ends === undefined) return [name, value]
    const times = query.filter(([one]) => ends.includes(one)).map(([, time]) => Number(time))
    return [name, String(name === ends[0] ? Math.min(...times) : Math.max(...times))]
  })
}
