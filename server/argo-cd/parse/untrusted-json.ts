/**
 * Reading JSON from other programs: what is missing or of the wrong type is `undefined`, `''`, `[]` or `{}`, never a throw.
 * Texts are cleaned of what PostgreSQL refuses to store: NUL, and halves of surrogate pairs.
 */

/** Above this, JSON is parsed in a thread of its own. */
export const largeJsonBytes = 1024 * 1024

type JsonObject = Readonly<Record<string, unknown>>

const nothing: JsonObject = Object.freeze({})

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object at `key`, or an empty one. */
export function objectAt(value: unknown, key: string): JsonObject {
  const found = isObject(value) ? value[key] : undefined
  return isObject(found) ? found : nothing
}

export function hasObject(value: unknown, key: string): boolean {
  return isObject(value) && isObject(value[key])
}

/** The text at `key`; an empty text counts as absent, as in Go's JSON. */
export function textAt(value: unknown, key: string): string | undefined {
  const found = isObject(value) ? value[key] : undefined
  return typeof found === 'string' && found !== '' ? cleanText(found) : undefined
}

export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

export function numberAt(value: unknown, key: string): number | undefined {
  const found = isObject(value) ? value[key] : undefined
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined
}

export function isTrueAt(value: unknown, key: string): boolean {
  return isObject(value) && value[key] === true
}

export function listAt(value: unknown, key: string): readonly unknown[] {
  const found = isObject(value) ? value[key] : undefined
  return Array.isArray(found) ? found : []
}

export function textsAt(value: unknown, key: string): readonly string[] {
  return listAt(value, key)
    .filter((item) => typeof item === 'string')
    .map(cleanText)
}

/** Milliseconds since 1970 of an RFC 3339 time; `undefined` when it cannot be read. */
export function timeAt(value: unknown, key: string): number | undefined {
  const text = textAt(value, key)
  const time = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
