import { describe, expect } from 'vitest'
import { z } from 'zod'
import { test } from '../support/shared-world.ts'

const Schema = z.looseObject({ examples: z.array(z.unknown()).optional(), enum: z.array(z.unknown()).optional() })
const Content = z.record(z.string(), z.object({ schema: Schema }))
const Operation = z.object({
  operationId: z.string().optional(),
  summary: z.string().optional(),
  tags: z.array(z.string()).default([]),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  parameters: z.array(z.object({ name: z.string(), description: z.string().optional() })).default([]),
  requestBody: z.object({ required: z.boolean().default(false), content: Content }).optional(),
  responses: z.record(z.string(), z.object({ description: z.string(), content: Content.optional() })),
})
const Schemas = z.record(z.string(), z.object({ properties: z.record(z.string(), z.looseObject({})).default({}) }))
const Document = z.object({
  openapi: z.string(),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({ securitySchemes: z.record(z.string(), z.looseObject({ description: z.string() })) }),
})

let document: z.infer<typeof Document>
let schemas: z.infer<typeof Schemas>
/** As it came, with every reference replaced by what it refers to. */
let whole: unknown
test.beforeAll(async ({ world }) => {
  const { body } = await world.service.request('/swagger/index.html/json')
  whole = inlined(body, body)
  document = Document.parse(whole)
  schemas = z.object({ components: z.object({ schemas: Schemas }) }).parse(whole).components.schemas
})

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, method, ...operation })),
  )
/** Of each operation that does not have it. */
const without = (has: (operation: ReturnType<typeof operations>[number]) => boolean) =>
  operations()
    .filter((operation) => !has(operation))
    .map(({ name }) => name)

describe('the API document (spec 1.6, 4, 7)', () => {
  test('describes every operation, also those of the identity provider', () => {
    expect(document.openapi).toBe('3.1.0')
    expect(
      operations()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(
      [
        ...['delete /api/v1/deploy-lock', 'delete /api/v1/deploy-tokens/{id}', 'delete /api/v1/tasks/{id}'],
        ...['get /api/v1/apps/summary', 'get /api/v1/audit', 'get /api/v1/config', 'get /api/v1/deploy-lock'],
        ...['get /api/v1/deploy-lock/calendar', 'get /api/v1/deploy-lock/details'],
        ...[
          'get /api/v1/deliveries',
          'get /api/v1/notification-targets',
          'get /api/v1/deploy-tokens',
          'get /api/v1/events',
          'get /api/v1/history',
        ],
        ...[
          'get /api/v1/reachability',
          'get /api/v1/session',
          'get /api/v1/settings',
          'get /api/v1/status',
          'get /api/v1/tasks',
          'get /api/v1/tasks/{id}',
        ],
        ...['get /api/v1/tasks/counts', 'get /api/v1/tasks/names'],
        ...[
          'get /api/v1/tasks/{id}/events',
          'get /api/v1/version',
          'get /api/v1/versions',
          'get /auth/callback',
          'get /auth/login',
        ],
        ...['get /healthz', 'get /livez', 'get /readyz', 'post /api/v1/deploy-lock', 'post /api/v1/deploy-tokens'],
        'post /api/v1/deliveries/{id}/retry',
        ...['post /api/v1/tasks', 'post /auth/logout'],
      ].sort(),
    )
  })

  test('says of each what it is for, and what each of its answers means', () => {
    expect(without(({ summary = '' }) => summary.length > 5)).toEqual([])
    expect(
      without(({ responses }) =>
        Object.values(responses).every(({ description }) => description !== '' && description !== 'Default Response'),
      ),
    ).toEqual([])
  })

  test('shows an example of each body, which its own schema takes', () => {
    const bodies = operations().flatMap(({ name, requestBody, responses }) =>
      Object.entries({ request: requestBody, ...responses }).flatMap(([which, part]) =>
        Object.entries(part?.content ?? {}).map(([, { schema }]) => ({ of: `${name}: ${which}`, schema })),
      ),
    )
    expect(bodies.length).toBeGreaterThan(100)
    expect(bodies.filter(({ schema }) => examplesOf(schema).length === 0).map(({ of }) => of)).toEqual([])
    const wrong = bodies.flatMap(({ of, schema }) => {
      const checker = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])
      return examplesOf(schema)
        .filter((example) => !checker.safeParse(example).success)
        .map(() => of)
    })
    expect(wrong).toEqual([])
  })

  test('names the errors that any request may get, and those of changes', () => {
    for (const status of ['400', '408', '417', '431', '500'])
      expect([status, ...without(({ responses }) => status in responses)]).toEqual([status])
    for (const status of ['403', '406', '413', '415'])
      expect([status, ...without(({ method, responses }) => method === 'get' || status in responses)]).toEqual([status])
    expect(without(({ name, responses }) => !name.includes('{id}') || '404' in responses)).toEqual([])
  })

  test('names the credentials of each operation that can refuse one, and tells of each what it is', () => {
    const schemes = document.components.securitySchemes
    expect(Object.keys(schemes).sort()).toEqual(['csrf', 'deployToken', 'jwt', 'oidc', 'session'])
    expect(without(({ responses, security = [] }) => !('401' in responses) || security.length > 0)).toEqual([])
    expect(
      without(({ security = [] }) => security.flatMap(Object.keys).every((name) => Object.hasOwn(schemes, name))),
    ).toEqual([])
    const isOptional = (security: object[]) =>
      security.length === 0 || security.some((way) => Object.keys(way).length === 0)
    expect(
      without(({ security = [], responses }) => isOptional(security) || ['401', '403'].some((one) => one in responses)),
    ).toEqual([])
  })

  test('names each operation once, for clients that are generated', () => {
    const ids = operations().map(({ operationId }) => operationId)
    expect(ids.filter((id) => !/^[a-z][a-zA-Z]+$/.test(id ?? ''))).toEqual([])
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('tells how wide each number is that has no bounds, and lets words come that no client knows yet', () => {
    const numbers: { type: string; format?: string; maximum?: number }[] = []
    JSON.stringify(whole, (_, value) => {
      if (value?.type === 'number' || value?.type === 'integer') numbers.push(value)
      return value
    })
    expect(numbers.length).toBeGreaterThan(100)
    const isTold = ({ format, maximum = Infinity }: (typeof numbers)[number]) =>
      format !== undefined || maximum < 2 ** 31
    expect(numbers.filter((schema) => !isTold(schema))).toEqual([])
    const { Task, TaskEvent } = schemas
    expect(Task?.properties.status).toHaveProperty('enum')
    expect(Task?.properties.cause).not.toHaveProperty('enum')
    expect(TaskEvent?.properties.kind).toMatchObject({ type: 'string', 'x-extensible-enum': expect.any(Array) })
  })

  test('tells of the text of a submission what no text may be', () => {
    const { app, author } = z.record(z.string(), z.looseObject({ pattern: z.string() })).parse({
      app: schemas.TaskSubmission?.properties.app,
      author: schemas.TaskSubmission?.properties.author,
    })
    const takes = (schema: { pattern: string } | undefined, text: string) =>
      new RegExp(schema?.pattern ?? '').test(text)
    expect(['', ' ', 'a\tb', 'a\u0085'].filter((text) => takes(author, text))).toEqual([])
    expect(['a', 'Ada Lovelace', '100%', '漢字 😀'].filter((text) => !takes(author, text))).toEqual([])
    expect(takes(app, 'a%b')).toBe(false)
  })

  test('explains each group of operations', () => {
    const Tagged = z.object({ tags: z.array(z.object({ name: z.string(), description: z.string().min(5) })) })
    const explained = Tagged.parse(whole).tags.map(({ name }) => name)
    const used = operations().flatMap(({ tags }) => tags)
    expect(new Set(explained)).toEqual(new Set(used))
    expect(without(({ tags }) => tags.length === 1)).toEqual([])
  })

  test('says what may be left out, and where events stream', () => {
    const required = operations().flatMap(({ name, requestBody }) => (requestBody?.required ? [name] : []))
    expect(required.sort()).toEqual(['post /api/v1/deploy-tokens', 'post /api/v1/tasks'])
    const streams = operations().filter(({ responses }) => responses['200']?.content?.['text/event-stream'])
    expect(streams.map(({ name }) => name)).toEqual(['get /api/v1/events', 'get /api/v1/tasks/{id}/events'])
    for (const { parameters } of streams) expect(parameters.map(({ name }) => name)).toContain('last-event-id')
  })

  test('marks the deploy token as deprecated in favour of a JWT (spec 9.2)', () => {
    expect(document.components.securitySchemes.deployToken).toMatchObject({
      'x-deprecated': true,
      description: expect.stringMatching(/^Deprecated: use a JWT/),
    })
  })
})

/** A fixed value is its own example; that of what may also be something else, or null, is that of its first form. */
function examplesOf(schema: z.infer<typeof Schema>): readonly unknown[] {
  const [first] = z.array(Schema).catch([]).parse(schema.anyOf)
  return schema.examples ?? schema.enum ?? (first ? examplesOf(first) : schema.type === 'null' ? [null] : [])
}

/** Puts in place of every reference what it refers to. */
function inlined(value: unknown, document: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => inlined(item, document))
  if ('$ref' in value && typeof value.$ref === 'string') return inlined(targetOf(value.$ref, document), document)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inlined(item, document)]))
}

const targetOf = (reference: string, document: unknown) =>
  reference
    .split('/')
    .slice(1)
    .reduce<unknown>((value, key) => new Map(Object.entries(Object(value))).get(key), document)
