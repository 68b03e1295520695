import type { FastifySchemaCompiler } from 'fastify'
import { z } from 'zod'
import { InvalidRequestError, type RequestPart } from '../request-errors.ts'
import { echo } from './error-text.ts'

type Issue = z.core.$ZodRawIssue

const parts: Record<string, RequestPart> = {
  body: 'body',
  querystring: 'querystring',
  params: 'params',
  headers: 'headers',
}

/** Checks a part of a request by its zod schema and names every issue at once, in our words. */
export const validateRequest: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  const part = parts[httpPart ?? ''] ?? 'body'
  return (data: unknown) => {
    const result = z.safeParse(schema, data, { error: (issue) => ruleOf(issue, part) })
    if (result.success) return { value: result.data }
    const issues = result.error.issues.map(({ path, message }) => issueText(path, message))
    return { error: new InvalidRequestError(part, issues) }
  }
}

const kinds: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
}

/** Words for what every schema can meet; a schema's own words win, zod's are the rest. */
function ruleOf({ code, expected, input, path }: Issue, part: RequestPart): string | undefined {
  if (code !== 'invalid_type') return undefined
  if (part === 'body' && (path ?? []).length === 0) return 'body must be a JSON object'
  if (input === undefined) return 'is required'
  if (part === 'querystring' && Array.isArray(input)) return 'must be given once'
  return `must be ${kinds[String(expected)] ?? String(expected)}`
}

function issueText(path: readonly PropertyKey[], rule: string): string {
  const field = path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    return text === '' ? String(key) : `${text}.${String(key)}`
  }, '')
  return field === '' ? rule : `${echo(field)}: ${rule}`
}
