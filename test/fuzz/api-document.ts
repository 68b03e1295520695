import { z } from 'zod'

const Schema = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  pattern: z.string().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  get properties() {
    return z.record(z.string(), Schema).optional()
  },
  get items() {
    return Schema.optional()
  },
  get anyOf() {
    return z.array(Schema).optional()
  },
})
export type Schema = z.infer<typeof Schema>

const Content = z.record(z.string(), z.object({ schema: Schema.optional() }))
const OperationShape = z.object({
  parameters: z
    .array(z.object({ name: z.string(), in: z.string(), required: z.boolean().default(false), schema: Schema }))
    .default([]),
  requestBody: z.object({ required: z.boolean().default(false), content: Content }).optional(),
  security: z.array(z.record(z.string(), z.unknown())).optional(),
  responses: z.record(z.string(), z.object({ content: Content.optional() })),
})
const Document = z.object({ paths: z.record(z.string(), z.record(z.string(), OperationShape)) })

export type Parameter = { readonly name: string; readonly required: boolean; readonly schema: Schema }

/** One method of one path, as the service describes it. */
export type Operation = {
  readonly method: string
  readonly path: string
  /** Those of paths with a parameter among them, where its value may be this path's name. */
  readonly methodsOfPath: readonly string[]
  readonly query: readonly Parameter[]
  readonly headers: readonly Parameter[]
  readonly body: Schema | undefined
  readonly isBodyRequired: boolean
  /** Names of the accepted credentials; undefined where none is looked at. */
  readonly security: readonly string[] | undefined
  readonly needsCredential: boolean
  /** Checks the JSON of an answer, by status; undefined where no JSON is described. */
  readonly answers: ReadonlyMap<number, z.ZodType | undefined>
}

/** Reads the service's own API document, with every reference replaced by what it refers to. */
export function readApiDocument(document: unknown): Operation[] {
  const { paths } = Document.parse(inlined(document, document))
  return Object.entries(paths).flatMap(([path, operations]) => {
    const methods = Object.entries(paths).flatMap(([one, found]) => (takes(one, path) ? Object.keys(found) : []))
    return Object.entries(operations).map(([method, shape]) => operationOf(method, path, methods, shape))
  })
}

/** Whether requests of one path can come to another: `/tasks/{id}` takes `DELETE /tasks/counts` too. */
function takes(pattern: string, path: string): boolean {
  const [segments, wanted] = [pattern.split('/'), path.split('/')]
  return segments.length === wanted.length && segments.every((one, at) => one.startsWith('{') || one === wanted[at])
}

function operationOf(
  method: string,
  path: string,
  methods: readonly string[],
  { parameters, requestBody, security, responses }: z.infer<typeof OperationShape>,
): Operation {
  return {
    method: method.toUpperCase(),
    path,
    methodsOfPath: methods.map((one) => one.toUpperCase()),
    query: parameters.filter((parameter) => parameter.in === 'query'),
    headers: parameters.filter((parameter) => parameter.in === 'header'),
    body: requestBody?.content['application/json']?.schema,
    isBodyRequired: requestBody?.required ?? false,
    security: security?.flatMap((scheme) => Object.keys(scheme)),
    needsCredential: security?.every((scheme) => Object.keys(scheme).length > 0) ?? false,
    answers: new Map(
      Object.entries(responses).map(([status, { content }]) => [
        Number(status),
        checkerOf(content?.['application/json']?.schema),
      ]),
    ),
  }
}

const checkerOf = (schema: Schema | undefined): z.ZodType | undefined =>
  // The document is JSON that was parsed as a schema above; the library's own type of it is narrower.
  schema && z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])

/** Puts in place of every reference what it refers to. */
export function inlined(value: unknown, document: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => inlined(item, document))
  if ('$ref' in value && typeof value.$ref === 'string') return inlined(targetOf(value.$ref, document), document)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inlined(item, document)]))
}

function targetOf(reference: string, document: unknown): unknown {
  return reference
    .split('/')
    .slice(1)
    .reduce<unknown>((value, key) => new Map(Object.entries(Object(value))).get(key), document)
}
