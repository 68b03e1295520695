type Schema = { readonly type?: string; readonly anyOf?: readonly Schema[]; readonly examples?: readonly string[] }
type Content = Record<string, { schema: Schema | { readonly $ref: string } }>
type Answer = { description: string; headers?: object; content?: Content }
type Operation = {
  security?: object[]
  requestBody?: { required?: boolean; content: Content }
  responses?: Record<string, Answer>
}
type Document = { readonly paths?: Record<string, Record<string, Operation>> }

/** What an answer means, wherever it is given. */
const meanings: Record<string, string> = {
  200: 'As asked',
  201: 'Made',
  202: 'Accepted: its end is told by `GET /api/v1/tasks/{id}`',
  204: 'The stream is over: nothing more will come',
  302: 'Go on elsewhere',
  400: 'Malformed HTTP, path or query; `error` names the parameter',
  401: 'No credential was given where one is needed, or one was refused; `error` says which',
  403: 'Not for this user, or for a page of another origin, or a session without its header',
  404: 'Not here',
  406: 'The request breaks a rule that `error` names, or deployments are locked (`status` is then `rejected`)',
  408: 'The request took too long to arrive',
  409: 'Not as things are',
  413: 'The body is larger than 1 MiB',
  415: 'The body is not JSON',
  417: 'Only `Expect: 100-continue` is understood',
  429: 'Too many; `Retry-After` tells when to come back',
  431: 'The headers are larger than 8 KiB, or more than 100',
  500: 'Unexpected; the request id in `error` leads to the log',
  503: 'Something that the service needs does not answer; try again later',
}

/** Given before any route is asked, or whatever the route. */
const ofEveryRequest = ['400', '403', '408', '417', '431', '500']
const ofEveryChange = ['406', '413', '415']

const readers = [{}, { jwt: [] }, { deployToken: [] }, { oidc: [] }, { session: [] }]

/**
 * Adds to each operation what is true of all: the answers that it may get without being asked, what each answer means, and
 * the credentials that reading takes where it was closed.
 */
export function completeOperations<D extends object>(document: D): D {
  const { paths = {} }: Document = JSON.parse(JSON.stringify(document))
  for (const operations of Object.values(paths))
    for (const [method, operation] of Object.entries(operations)) complete(method, operation)
  return { ...document, paths }
}

function complete(method: string, operation: Operation): void {
  const responses = { ...operation.responses }
  for (const status of [...ofEveryRequest, ...(method === 'get' ? [] : ofEveryChange)])
    responses[status] ??= { description: unsaid, content: status === '406' ? refusalContent : errorContent }
  for (const [status, answer] of Object.entries(responses)) {
    if (answer.description === unsaid) answer.description = meanings[status] ?? unsaid
    if (['406', '429', '503'].includes(status)) answer.headers ??= retryAfter
  }
  const stream = responses['200']?.content?.['text/event-stream']
  if (stream) stream.schema = streamSchema
  if (operation.requestBody && mayBeNull(operation.requestBody.content)) operation.requestBody.required = false
  operation.responses = responses
  if ('401' in responses) operation.security ??= readers
}

/** A body that may be null may as well be left out. */
const mayBeNull = (content: Content) =>
  Object.values(content).some(({ schema }) => 'anyOf' in schema && schema.anyOf?.some(({ type }) => type === 'null'))

const streamSchema: Schema = { type: 'string', examples: ['id: 1042\ndata: {"id":1042,"kind":"verdict", …}\n\n'] }

/** What the generator writes where a route says nothing. */
const unsaid = 'Default Response'
const errorContent = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
const refusalContent = { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } }
const retryAfter = {
  'Retry-After': { description: 'Seconds, where it is known when to come back', schema: { type: 'integer' } },
}
