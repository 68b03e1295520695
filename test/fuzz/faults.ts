import * as fc from 'fast-check'
import type { Operation } from './api-document.ts'
import { hasHeader, type RequestDraft, withHeader, withoutHeader } from './request-draft.ts'
import { brokenTexts, brokenValues } from './schema-values.ts'

/** One thing that is wrong with a request, and the only statuses that answer it. */
export type Fault = {
  readonly what: string
  readonly statuses: readonly number[]
  readonly apply: (draft: RequestDraft) => RequestDraft
}

export type BadCredentials = readonly (readonly [string, string])[]

type Credentials = { readonly bad: BadCredentials; readonly sessionCookie: string }

const json = (value: unknown) => Buffer.from(JSON.stringify(value) ?? '')
const readMethods = ['GET', 'HEAD', 'OPTIONS']
const otherMethods = ['PUT', 'PATCH', 'DELETE', 'POST', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'get', 'FOO', 'X-Y']

/** Everything that can be wrong with a request of this operation. */
export function faultsOf(operation: Operation, body: unknown, { bad, sessionCookie }: Credentials): Fault[] {
  const changes = !readMethods.includes(operation.method)
  return [
    ...(operation.body === undefined ? [] : bodyFaults(operation, body)),
    ...(operation.body === undefined ? [] : typeFaults),
    ...(changes ? originFaults : []),
    ...queryFaults(operation),
    ...parameterHeaderFaults(operation),
    ...methodFaults(operation),
    ...(isJudged(operation) ? credentialFaults(operation, bad) : []),
    ...(changes && operation.security?.includes('session') ? [sessionAlone(operation, sessionCookie)] : []),
    ...(operation.path.includes('{id}') ? idFaults(operation) : []),
    ...(operation.path.startsWith('/api/') ? pathFaults : []),
    ...headerFaults,
  ]
}

const manyKeys = Buffer.from(`{${Array.from({ length: 60_000 }, (_, key) => `"k${key}":1`).join()}}`)
const deepNest = `{"x":${'['.repeat(2_000)}${']'.repeat(2_000)},`

function bodyFaults({ body: schema = {}, isBodyRequired }: Operation, body: unknown): Fault[] {
  const text = JSON.stringify(body)
  const raw: [string, string | Buffer][] = [
    ['cut', text.slice(0, -1)],
    ['followed by text', `${text} x`],
    ['twice', text + text],
    ['with a byte order mark', `\ufeff${text}`],
    ['in single quotes', text.replaceAll('"', "'")],
    ['with a comma too many', `${text.slice(0, -1)},}`],
    ['NaN', '{"app":NaN}'],
    ['nested deep', deepNest + text.slice(1)],
    ['with 60,000 keys', manyKeys],
    ['not UTF-8', Buffer.concat([Buffer.from('{"x":"'), Buffer.from([0xff, 0xc0, 0x80]), Buffer.from('"}')])],
    ['with a control character', '{"app":"a\u0001"}'],
    ...(isBodyRequired ? [['empty', ''] as [string, string]] : []),
  ]
  return [
    ...raw.map(([what, bytes]) => fault(`a body ${what}`, [406], (draft) => ({ ...draft, body: Buffer.from(bytes) }))),
    ...brokenValues(schema, body).map(({ what, value }) =>
      fault(what, [406], (draft) => ({ ...draft, body: json(value) })),
    ),
    fault('a body above 1 MiB', [413], (draft) => ({ ...draft, body: Buffer.alloc(1_048_577, 32) })),
    fault('a length above 1 MiB', [413], (draft) => ({ ...draft, framing: 'Content-Length: 9999999999\r\n\r\n{' })),
    fault('a compressed body', [415], (draft) => withHeader(draft, 'Content-Encoding', 'gzip')),
    fault('length and chunks', [400], (draft) => ({
      ...draft,
      framing: `Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    })),
    fault('two lengths', [400], (draft) => ({ ...draft, framing: 'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}' })),
    fault('a broken chunk', [400], (draft) => ({
      ...draft,
      framing: 'Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n',
    })),
  ]
}

const typeFaults: Fault[] = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json\ta',
  'application/json; charset=utf-16',
  'application/json, text/plain',
  'application/jsonp',
  'a'.repeat(4_000),
  'é/ü',
].map((type) =>
  fault(`the content type ${type.slice(0, 40)}`, [415], (draft) =>
    withHeader(withoutHeader(draft, 'content-type'), 'Content-Type', type),
  ),
)
typeFaults.push(fault('no content type', [415], (draft) => withoutHeader(draft, 'content-type')))

const originFaults: Fault[] = ['https://evil.example', 'null', 'http://127.0.0.1.evil.example', 'x', 'file://'].map(
  (origin) => fault(`the origin ${origin}`, [403], (draft) => withHeader(draft, 'Origin', origin)),
)
originFaults.push(fault('a cross-site request', [403], (draft) => withHeader(draft, 'Sec-Fetch-Site', 'cross-site')))

function queryFaults({ query }: Operation): Fault[] {
  return query.flatMap(({ name, schema }) =>
    brokenTexts(schema).map((text) =>
      fault(`the parameter ${name} is ${JSON.stringify(text.slice(0, 40))}`, [400], (draft) => ({
        ...draft,
        query: [...draft.query.filter(([one]) => one !== name), [name, text]],
      })),
    ),
  )
}

/** Values that HTTP carries and the parameter's schema forbids; twice is one value with a comma and a blank. */
function parameterHeaderFaults({ headers }: Operation): Fault[] {
  return headers.flatMap(({ name, schema }) =>
    [...brokenTexts(schema).map((text) => text.trim()), 'two words', 'a'.repeat(256), '\xe9']
      .filter((text) => /^[\x20-\xff]*$/.test(text) && !new RegExp(schema.pattern ?? '').test(text))
      .map((text) =>
        fault(`the header ${name} is ${JSON.stringify(text.slice(0, 40))}`, [406], (draft) =>
          withHeader(withoutHeader(draft, name), name, text),
        ),
      ),
  )
}

function methodFaults({ methodsOfPath }: Operation): Fault[] {
  return otherMethods
    .filter((method) => !methodsOfPath.includes(method))
    .map((method) =>
      fault(`the method ${method}`, [400, 404, 405], (draft) => ({ ...draft, method, query: [], body: undefined })),
    )
}

/** A cookie that a page of another site might have sent. */
const sessionAlone = ({ path }: Operation, cookie: string): Fault =>
  fault('a session without the header against forgery', path.includes('{') ? [403, 404] : [403], (draft) =>
    withHeader(withoutHeader(withoutHeader(draft, 'cookie'), 'x-watcher-csrf'), 'Cookie', cookie),
  )

/** Reading that is open takes a credential and does not look at it, nor is one that only takes sessions refused for others. */
const isJudged = ({ method, needsCredential, security = [] }: Operation) =>
  (needsCredential || !readMethods.includes(method)) &&
  ['jwt', 'deployToken', 'oidc'].some((name) => security.includes(name))

function credentialFaults({ path }: Operation, badCredentials: BadCredentials): Fault[] {
  const statuses = path.includes('{') ? [401, 404] : [401] // what is not there is 404 before anybody is judged
  return badCredentials.map(([name, value]) =>
    fault(
      `the credential ${name}: ${value.slice(0, 30)}`,
      name === 'Cookie' ? [403, ...statuses] : statuses,
      (draft) =>
        name === '?'
          ? { ...draft, query: [...draft.query, ['deploy_token', value]] }
          : withHeader(name === 'Cookie' ? withoutHeader(draft, name) : draft, name, value), // of two, the first counts
    ),
  )
}

const oddIds = [
  'not-an-id',
  'x'.repeat(36),
  '..%2f',
  '%00',
  '%F0%9F%98%80',
  '__proto__',
  '0'.repeat(5_000),
  '%27%20OR%201',
]

const idFaults = ({ needsCredential }: Operation): Fault[] =>
  oddIds.map((id) =>
    fault(`the id ${id.slice(0, 40)}`, needsCredential ? [401, 404] : [404], (draft) => ({
      ...draft,
      path: draft.path.replace('{id}', id),
    })),
  )

const pathFaults: Fault[] = (
  [
    ['//', [404]],
    ['/..', [404, 405]],
    ['/%2e%2e/%2e%2e/secret', [404]],
    ['%zz', [400]],
    ['/%00', [404, 405]],
    [';x=1', [401, 404, 405]],
    ['/constructor', [404, 405]],
    ['\u0001', [400]],
    [' x', [400]],
  ] as const
).map(([suffix, statuses]) =>
  fault(`the path ends in ${JSON.stringify(suffix)}`, statuses, (draft) => ({ ...draft, path: draft.path + suffix })),
)

const manyHeaders = Array.from({ length: 101 }, (_, index) => [`X-${index}`, 'a'] as const)
const headerFaults: Fault[] = [
  fault('a header of 9 kB', [431], (draft) => withHeader(draft, 'X-Long', 'a'.repeat(9_000))),
  fault('101 headers', [431], (draft) => ({ ...draft, headers: [...draft.headers, ...manyHeaders] })),
  fault('a header __proto__', [400], (draft) => withHeader(draft, '__proto__', 'x')),
  fault('a folded header', [400], (draft) => withHeader(draft, 'X-Folded', 'a\r\n b')),
  fault('a header without a name', [400], (draft) => withHeader(draft, '', 'x')),
  fault('a blank in a header name', [400], (draft) => withHeader(draft, 'a b', 'x')),
  fault('NUL in a header', [400], (draft) => withHeader(draft, 'X-Nul', 'a\0b')),
  fault('no Host', [400], (draft) => withoutHeader(draft, 'host')),
  fault('an expectation nobody knows', [417], (draft) => withHeader(draft, 'Expect', 'wonders')),
  fault('HTTP of another age', [400], (draft) => ({ ...draft, version: 'HTTP/9.9' })),
]

function fault(what: string, statuses: readonly number[], apply: Fault['apply']): Fault {
  return { what, statuses, apply }
}

/** What a request may carry without any effect. */
export const noise: fc.Arbitrary<(draft: RequestDraft) => RequestDraft> = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9-]{1,20}$/).map((name) => (draft: RequestDraft) => withHeader(draft, `X-${name}`, 'é')),
  fc.string({ unit: 'binary', maxLength: 20 }).map((value) => (draft: RequestDraft) => ({
    ...draft,
    query: [...draft.query, [`unknown${value.replace(/[^\w]/g, '')}`, value] as const],
  })),
  fc.constant((draft: RequestDraft) => (/[a-z}]$/.test(draft.path) ? { ...draft, path: `${draft.path}/` } : draft)),
  fc
    .constantFrom(
      ['X-HTTP-Method-Override', 'DELETE'],
      ['X-Forwarded-For', "1.2.3.4, ' OR 1=1"],
      ['X-Forwarded-Host', 'evil.example'],
      ['Accept', 'application/xml'],
      ['Accept', ''],
      ['Accept-Encoding', 'br;q=1, gzip, \xff'],
      ['Range', 'bytes=0-99999999999'],
      ['If-None-Match', '*'],
      ['Cookie', '__Host-session=x; a=\xff; =;'],
      ['Expect', '100-continue'],
      ['Upgrade', 'websocket'],
      ['Referer', 'javascript:alert(1)'],
      ['Last-Event-ID', '9'.repeat(30)],
      ['User-Agent', '() { :;}; echo'],
    )
    .map(
      ([name, value]) =>
        (draft: RequestDraft) =>
          hasHeader(draft, name) ? draft : withHeader(draft, name, value),
    ),
)
