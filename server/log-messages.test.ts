import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'

const root = path.join(import.meta.dirname, '..')
const sources = globSync('{server,simulator}/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))

/** What is logged as a warning or an error, or handed to whoever logs it: what the expression finds behind the call. */
const found = (behind: string) =>
  sources.flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8')
    const calls = text.matchAll(new RegExp(`\\b(?:log\\.(?:warn|error|fatal)|onError)\\(\\s*${behind}`, 'g'))
    return [...calls].map(([call, message]) => ({ file, call, message: message ?? '' }))
  })

const fields = String.raw`(?:\{[^}]*\}|\w+),\s*`
const messages = found(`(?:${fields})?'([^']*)'`)
const wordsOfEveryFailure = /\b(?:failed|failure|retrying|error|unexpected(?:ly)?|trouble|something|anything|work)\b/g

describe('a failure in the background', () => {
  test('is found in the sources', () => expect(messages.length).toBeGreaterThan(25))

  test('is logged as `err`, since of another field the log shows no reason', () => {
    expect(found(String.raw`(?:error|cause)\s*[,)](?!\s*=>)`).filter(({ call }) => call.includes('log.'))).toEqual([])
    expect(found(String.raw`\{[^}]*(?<!\berr: )\b(?:error|cause)\b[^}]*\}`)).toEqual([])
  })

  test.for(messages)('has a name: $message ($file)', ({ message }) => {
    expect(message.replaceAll(wordsOfEveryFailure, '')).toMatch(/[a-z]{3}/)
    expect(message).not.toMatch(/\b(?:something|anything)\b/)
  })

  test('has a fixed name: what differs is a field', () => expect(found(`(?:${fields})?\``)).toEqual([]))
})
