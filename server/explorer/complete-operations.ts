type Schema = { readonly type?: string; readonly anyOf?: readonly Schema[]; readonly examples?: readonly string[] }
type Content = Record<string, { schema: Schema | { readonly $ref: string } }>
type Answer = { description: string; headers?: object; content?: Content }
type Operation = {
  readonly tags?: readonly string[]
  security?: object[]
  requestBody?: { required?: boolean; content: Content }
  responses?: Record<string, Answer>
}
type Document = {
  readonly tags?: readonly { readonly name: string }[]
  readonly paths?: Record<string, Record<string, Operation>>
  readonly components?: { readonly securitySchemes?: object }
}

/** What an answer means, wherever it is given. */
const meanings: Record<string, string> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted: `GET /api/v1/tasks/{id}` shows the result',
  204: 'The stream has ended: no further events will come',
  302: 'Redirect',
  400: 'Malformed HTTP, path or query; `error` names the parameter',
  401: 'A required credential is missing, or one was rejected; `error` says which',
  403: 'The user is not a member of the required groups, the request is cross-origin, or its CSRF header is missing',
  404: 'Not found',
  406: 'The request breaks a rule that `error` names, or deployments are locked (`status` is then `rejected`)',
  408: 'The request took too long to arrive',
  409: 'Conflict',
  413: 'The body is larger than 1 MiB, or 16 KiB on other routes',
  415: 'The body is not JSON',
  417: 'Only `Expect: 100-continue` is supported',
  429: 'Too many requests; `Retry-After` says when to try again',
  431: 'The headers are larger than 8 KiB, or more than 100',
  500: 'Unexpected error; find the request id of `error` in the log',
  503: 'Service unavailable; try again later',
}

/** Given before any route is asked, or whatever the route. */
const ofEveryRequest = ['400', '403', '408', '417', '431', '500']
const ofEveryChange = ['406', '413', '415']

/** What the settings make of the credentials. */
export type ApiAccess = {
  /** IDP_REQUIRE_READ_AUTH: reading takes a credential. */
  readonly isReadingClosed: boolean
  /** REQUIRE_CREDENTIAL: so does submitting. */
  readonly isCredentialRequired: boolean
  /** IDP_ENABLED: users are known, with the schemes that only they have. */
  readonly hasUsers: boolean
}

const ofUsers = ['oidc', 'session', 'csrf']
const anonymous = {}
const ofReaders = [{ jwt: [] }, { deployToken: [] }, { oidc: [] }, { session: [] }]

/**
 * Adds to each operation what is true of all: the answers that it may get without being asked, what each answer means, and
 * the credentials that reading takes where it was closed. Groups that have no operation here are left out.
 */
export function completeOperations<D extends object>(document: D, access: ApiAccess): D {
  const { paths = {}, components = {}, tags = [] }: Document = JSON.parse(JSON.stringify(document))
  for (const operations of Object.values(paths))
    for (const [method, operation] of Object.entries(operations)) complete(method, operation, access)
  const schemes = Object.entries(components.securitySchemes ?? {})
  const securitySchemes = Object.fromEntries(schemes.filter(([name]) => access.hasUsers || !ofUsers.includes(name)))
  const used = new Set(Object.values(paths).flatMap((operations) => Object.values(operations).flatMap(tagsOf)))
  const completed = {
    paths,
    components: { ...components, securitySchemes },
    tags: tags.filter(({ name }) => used.has(name)),
  }
  return { ...document, ...completed }
}

function complete(method: string, operation: Operation, access: ApiAccess): void {
  const responses = { ...operation.responses }
  const ofCredentials = '401' in responses ? ['429'] : [] // unknown ones are looked up so many times a minute
  for (const status of [...ofEveryRequest, ...(method === 'get' ? [] : ofEveryChange), ...ofCredentials])
    responses[status] ??= { description: unsaid, content: status === '406' ? refusalContent : errorContent }
  for (const [status, answer] of Object.entries(responses)) {
    if (answer.description === unsaid) answer.description = meanings[status] ?? unsaid
    const headers = answer.headers ?? headersOf[status]
    if (headers !== undefined) answer.headers = headers
  }
  const stream = responses['200']?.content?.['text/event-stream']
  if (stream) stream.schema = streamSchema
  if (operation.requestBody) leaveNullOut(operation.requestBody)
  operation.responses = responses
  if ('401' in responses) operation.security ??= access.isReadingClosed ? ofReaders : [anonymous, ...ofReaders]
  operation.security &&= operation.security.filter((way) => isGood(way, method, access))
}

const tagsOf = ({ tags = [] }: Operation) => tags

function isGood(way: object, method: string, { hasUsers, isCredentialRequired }: ApiAccess): boolean {
  const names = Object.keys(way)
  if (names.length === 0) return method === 'get' || !isCredentialRequired
  return hasUsers || !names.some((name) => ofUsers.includes(name))
}

/** A body that may be null may as well be left out, which every generated client can say. */
function leaveNullOut(body: NonNullable<Operation['requestBody']>): void {
  for (const media of Object.values(body.content)) {
    const forms = 'anyOf' in media.schema ? (media.schema.anyOf ?? []) : []
    const [only, ...more] = forms.filter(({ type }) => type !== 'null')
    if (only === undefined || more.length > 0 || forms.length === 1) continue
    media.schema = only
    body.required = false
  }
}

const streamSchema: Schema = {
  type: 'string',
  examples: [':\nid: 1041\n\nid: 1042\ndata: {"id":1042,"kind":"verdict", …}\n\n'],
}

/** What the generator writes where a route says nothing. */
const unsaid = 'Default Response'
const errorContent = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
const refusalContent = { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } }
const retryAfter = {
  'Retry-After': {
    description: 'Seconds to wait before the next attempt, where known',
    schema: { type: 'integer', format: 'int32' },
  },
}
const text = { type: 'string' }
const headersOf: Readonly<Record<string, object>> = {
  302: { Location: { description: 'Address to continue at', schema: text } },
  401: { 'WWW-Authenticate': { description: 'An accepted authentication scheme', schema: text } },
  406: retryAfter,
  429: retryAfter,
  503: retryAfter,
}
