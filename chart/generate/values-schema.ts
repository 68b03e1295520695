import { parse } from 'yaml'

export type Schema = Record<string, unknown>
/** A row of the table: the value by its path, its default and its meaning. */
export type ValueRow = { readonly path: string; readonly chosen: unknown; readonly meaning: string }
type Comment = { readonly meaning: string; readonly rules: Schema }

/**
 * The JSON Schema and the table of values.yaml.
 *
 * A map with described keys accepts these keys only. Any other map is handed on to Kubernetes, whose schema counts.
 * @param text of values.yaml, with `# -- <meaning>` and `# @schema <YAML>` above a key
 * @param ofService schemas of values that are text of the service, by path; `# @schema` adds to them
 */
export function readValues(
  text: string,
  ofService: ReadonlyMap<string, Schema>,
): { schema: Schema; rows: readonly ValueRow[] } {
  const comments = commentsOf(text)
  const rows: ValueRow[] = []

  function schemaOf(value: unknown, path: readonly string[]): Schema {
    const name = path.join('.')
    const { meaning, rules } = comments.get(name) ?? { meaning: '', rules: {} }
    const children = Object.entries(Object(value)).filter(([key]) => comments.has([...path, key].join('.')))
    const isGroup = children.length > 0
    if (meaning !== '') rows.push({ path: name, chosen: isGroup ? undefined : value, meaning })
    const inferred = isGroup
      ? {
          type: 'object',
          additionalProperties: false,
          properties: Object.fromEntries(children.map(([key, child]) => [key, schemaOf(child, [...path, key])])),
        }
      : { type: typeOf(value), ...(isTexts(path) ? { additionalProperties: { type: 'string' } } : {}) }
    return {
      ...inferred,
      ...ofService.get(name),
      ...(meaning === '' ? {} : { description: meaning }),
      ...(isGroup ? {} : { default: value }),
      ...rules,
    }
  }

  return { schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', ...schemaOf(parse(text), []) }, rows }
}

/** The comment above each key, by the path of the key. */
function commentsOf(text: string): ReadonlyMap<string, Comment> {
  const comments = new Map<string, Comment>([['', { meaning: '', rules: {} }]])
  const keys: string[] = []
  let lines: string[] = []
  for (const line of text.split('\n')) {
    const [, comment] = /^ *# ?(.*)$/.exec(line) ?? []
    const [, indent = '', key] = /^((?: {2})*)([\w.-]+):/.exec(line) ?? []
    if (comment !== undefined) lines.push(comment)
    else {
      if (key !== undefined) keys.splice(indent.length / 2, Number.POSITIVE_INFINITY, key)
      const isDescribed = lines.some((one) => /^(?:--|@schema) ?/.test(one))
      if (key !== undefined && (isDescribed || indent === '')) comments.set(keys.join('.'), commentOf(lines))
      lines = []
    }
  }
  return comments
}

function commentOf(lines: readonly string[]): Comment {
  const meaning = lines.find((line) => line.startsWith('-- '))?.slice(3) ?? ''
  const at = lines.findIndex((line) => line.startsWith('@schema'))
  const rules = at < 0 ? '{}' : [lines[at]?.slice('@schema'.length), ...lines.slice(at + 1)].join('\n')
  return { meaning, rules: parse(rules) }
}

const typeOf = (value: unknown) =>
  Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : value === null ? 'null' : typeof value

/** Kubernetes takes labels and annotations as texts only. */
const isTexts = (path: readonly string[]) => /(?:labels|annotations|nodeSelector)$/i.test(path.at(-1) ?? '')
