import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { z } from 'zod'

const token = 'Bearer feed-token'
const attribute = z.strictObject({ key: z.string().min(1), value: z.strictObject({ stringValue: z.string() }) })
const nanoseconds = z.string().regex(/^\d{19}$/)
const status = z.strictObject({
  code: z.union([z.literal(1), z.literal(2)]).optional(),
  message: z.string().optional(),
})
const spanId = z.string().regex(/^(?!0{16})[0-9a-f]{16}$/)

/** https://github.com/open-telemetry/opentelemetry-proto, as JSON. */
const Span = z.strictObject({
  traceId: z.string().regex(/^(?!0{32})[0-9a-f]{32}$/),
  spanId,
  parentSpanId: spanId.optional(),
  name: z.string().min(1),
  kind: z.int().min(1).max(5),
  startTimeUnixNano: nanoseconds,
  endTimeUnixNano: nanoseconds,
  attributes: z.array(attribute),
  events: z
    .array(z.strictObject({ timeUnixNano: nanoseconds, name: z.string().min(1), attributes: z.array(attribute) }))
    .optional(),
  status,
})
export type ReceivedSpan = z.infer<typeof Span>
const Traces = z.strictObject({
  resourceSpans: z
    .array(
      z.strictObject({
        resource: z.strictObject({ attributes: z.array(attribute) }),
        scopeSpans: z
          .array(z.strictObject({ scope: z.looseObject({ name: z.string() }), spans: z.array(Span) }))
          .length(1),
      }),
    )
    .length(1),
})

const iso = z.iso.datetime()
const dates = { createdDate: iso, startedDate: iso, finishedDate: iso }
/** https://devlake.apache.org/docs/Plugins/webhook */
const Deployment = z.strictObject({
  id: z.string().min(1),
  displayTitle: z.string(),
  ...dates,
  result: z.enum(['SUCCESS', 'FAILURE', 'ABORT']),
  environment: z.enum(['PRODUCTION', 'STAGING', 'TESTING', 'DEVELOPMENT']),
  deploymentCommits: z
    .array(
      z.strictObject({
        repoUrl: z.string().min(1),
        commitSha: z.string().min(1),
        refName: z.string().optional(),
        ...dates,
      }),
    )
    .min(1),
})

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
const schemas = path.join(import.meta.dirname, '..', 'fixtures', 'cdevents')
for (const file of readdirSync(schemas).filter((name) => name.endsWith('.json')))
  ajv.addSchema(JSON.parse(readFileSync(path.join(schemas, file), 'utf8')))

const CdEvent = z.looseObject({
  context: z.looseObject({ id: z.string(), source: z.string(), type: z.string(), timestamp: z.string() }),
  subject: z.looseObject({ id: z.string(), content: z.looseObject({ artifactId: z.string() }) }),
})
type ReceivedEvent = z.infer<typeof CdEvent>

/** DevLake, a receiver of CDEvents and an OTLP collector. What does not fit their specifications is answered 400 and noted. */
export async function startFeedReceivers() {
  const deployments: z.infer<typeof Deployment>[] = []
  const cdEvents: ReceivedEvent[] = []
  const traces: ReceivedSpan[][] = []
  const refusals: string[] = []
  /** So many events are taken before the receiver is away once. */
  let outageAfter = Number.POSITIVE_INFINITY

  function take(url: string, headers: IncomingHttpHeaders, body: string): void {
    const json: unknown = JSON.parse(body)
    if (headers['content-type'] !== 'application/json') throw new Error(`content-type ${headers['content-type']}`)
    if (url === '/otlp/v1/traces') traces.push([...(Traces.parse(json).resourceSpans[0]?.scopeSpans[0]?.spans ?? [])])
    else if (headers.authorization !== token) throw new Error('no token')
    else if (url === '/devlake') deployments.push(Deployment.parse(json))
    else if (url === '/cdevents') cdEvents.push(checkCdEvent(headers, json))
    else throw new Error(`nothing is at ${url}`)
  }

  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    if (request.url === '/cdevents' && cdEvents.length >= outageAfter) {
      outageAfter = Number.POSITIVE_INFINITY
      return response.writeHead(503, { 'retry-after': '1' }).end()
    }
    try {
      take(request.url ?? '', request.headers, body)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    } catch (error) {
      refusals.push(String(error))
      response.writeHead(400).end()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    deployments,
    cdEvents,
    traces,
    refusals,
    failOnceAfter: (events: number) => {
      outageAfter = events
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Binary mode of CloudEvents: the attributes are headers, the body is the CDEvent, valid by the schema of its type. */
function checkCdEvent(headers: IncomingHttpHeaders, json: unknown): ReceivedEvent {
  const event = CdEvent.parse(json)
  const { id, source, type, timestamp } = event.context
  const attributes = ['specversion', 'id', 'source', 'type', 'time', 'subject'].map((name) => headers[`ce-${name}`])
  const expected = ['1.0', id, source, type, timestamp, event.subject.id]
  const decoded = attributes.map((value) => decodeURIComponent(String(value)))
  if (decoded.join('\n') !== expected.join('\n')) throw new Error(`headers are ${decoded.join()}`)
  const [, predicate] = /^dev\.cdevents\.service\.(\w+)\./.exec(type) ?? []
  const validate = ajv.getSchema(`https://cdevents.dev/0.5.0/schema/service-${predicate}-event`)
  if (validate?.(json) !== true) throw new Error(`${type}: ${ajv.errorsText(validate?.errors)}`)
  return event
}
