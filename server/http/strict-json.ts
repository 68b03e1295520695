import { echo } from './error-text.ts'

/** A text that is not JSON as we take it. The message says where and why, and is shown to the caller. */
export class InvalidJsonError extends Error {
  override readonly name = 'InvalidJsonError'
}

const deepest = 32
const mostKeys = 10_000
const blanks = /[ \t\n\r]*/y
const literal = /true|false|null/y
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const literals: Record<string, boolean | null> = { true: true, false: false, null: null }

/**
 * Parses JSON as RFC 8259 has it, and refuses what JSON.parse lets pass: a key given twice, nesting deeper than 32,
 * more than 10,000 keys (decision 0006). Objects have no prototype, so `__proto__` is a key like any other.
 * @throws {InvalidJsonError} with line, column and byte
 */
export function parseStrictJson(text: string): unknown {
  const reader = createReader(text)
  const value = reader.readValue(0)
  reader.expectEnd()
  return value
}

function createReader(text: string) {
  let at = 0
  let keys = 0

  const fail = (rule: string, position = at): never => {
    throw new InvalidJsonError(`body is not valid JSON: ${rule} at ${placeOf(text, position)}`)
  }
  const match = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0] ?? ''
    at += found.length
    return found
  }
  const peek = (): string => {
    match(blanks)
    return text.charAt(at)
  }
  const accept = (sign: string): boolean => {
    if (peek() !== sign) return false
    at++
    return true
  }
  const expect = (sign: string, alternative = '') => {
    if (!accept(sign)) fail(`expected '${sign}'${alternative} but found ${foundAt(text, at)}`)
  }

  const readValue = (depth: number): unknown => {
    const sign = peek()
    if (depth >= deepest && (sign === '{' || sign === '[')) fail(`nested deeper than ${deepest}`)
    if (sign === '{') return readObject(depth + 1)
    if (sign === '[') return readArray(depth + 1)
    if (sign === '"') return readString()
    const word = match(literal)
    if (word !== '') return literals[word]
    const digits = match(number)
    return digits === '' ? fail(`expected a value but found ${foundAt(text, at)}`) : Number(digits)
  }

  const readObject = (depth: number): object => {
    const object: Record<string, unknown> = Object.create(null)
    at++
    if (accept('}')) return object
    do {
      const key = readKey(object)
      expect(':')
      object[key] = readValue(depth)
    } while (accept(','))
    expect('}', " or ','")
    return object
  }

  const readKey = (object: object): string => {
    if (peek() !== '"') fail(`expected a key in double quotes but found ${foundAt(text, at)}`)
    const start = at
    const key = readString()
    if (key in object) throw new InvalidJsonError(`duplicate key ${echo(key)} at ${placeOf(text, start)}`)
    if (++keys > mostKeys) fail(`more than ${mostKeys} keys`, start)
    return key
  }

  const readArray = (depth: number): unknown[] => {
    const items: unknown[] = []
    at++
    if (accept(']')) return items
    do items.push(readValue(depth))
    while (accept(','))
    expect(']', " or ','")
    return items
  }

  const readString = (): string => {
    const start = at
    at = endOfString(text, start)
    try {
      return JSON.parse(text.slice(start, at))
    } catch {
      return fail('a string that is not closed, or holds a control character or an unknown escape', start)
    }
  }

  const expectEnd = () => {
    if (peek() !== '') fail(`expected the end but found ${foundAt(text, at)}`)
  }
  return { readValue, expectEnd }
}

/** The index behind the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return text.length
}

function foundAt(text: string, at: number): string {
  const found = text.codePointAt(at)
  return found === undefined ? 'the end' : `'${echo(String.fromCodePoint(found))}'`
}

function placeOf(text: string, at: number): string {
  const before = text.slice(0, at)
  const line = before.split('\n').length
  return `line ${line}, column ${at - before.lastIndexOf('\n')} (byte ${Buffer.byteLength(before)})`
}
