import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cpuMs } from '../../../test/support/cpu-time.ts'
import { parseJsonBody } from './json-body.ts'

const errorOf = (text: string | Buffer): string => {
  try {
    parseJsonBody(Buffer.from(text))
    return 'none'
  } catch (error) {
    return String(error)
  }
}

describe('JSON bodies (decision 0001)', () => {
  test('a body is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        const plain = text.replaceAll('__proto__', 'proto')
        expect(parseJsonBody(Buffer.from(plain))).toEqual(JSON.parse(plain))
      }),
    )
  })

  test('of a duplicate key the last one counts, as JSON has it', () => {
    expect(parseJsonBody(Buffer.from('{"app":"a","app":"b"}'))).toEqual({ app: 'b' })
  })

  test.for([
    ['{"app":"a"', '(line 1 column 11)'],
    ['{"app":"a"} x', '(line 1 column 13)'],
    ['{"app":"a",\n "x":', 'Unexpected end of JSON input'],
    ['\ufeff{}', 'a byte order mark is not allowed (line 1 column 1)'],
    ["{'app':'a'}", '(line 1 column 2)'],
    ['{"app":NaN}', "Unexpected token 'N'"],
    ['{"app":"a\u0007b"}', 'Bad control character'],
    ['{"app":"\u0007"x', 'Bad control character'],
    [Buffer.from([0x22, 0xff, 0x22]), 'must be UTF-8'],
  ] as const)('%s is rejected: %s', ([text, issue]) => {
    expect(errorOf(text)).toContain(issue)
    expect(errorOf(text)).not.toContain('\u0007')
  })

  test('__proto__ and constructor.prototype are left out', () => {
    const body = parseJsonBody(
      Buffer.from('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"a":1}'),
    )
    expect(body).toEqual({ a: 1 })
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })

  test.for([
    { what: '33 levels', text: '['.repeat(33) + ']'.repeat(33), issue: 'nested deeper than 32' },
    { what: '500,000 levels', text: '{"a":'.repeat(200_000), issue: 'nested deeper than 32' },
    {
      what: '60,000 keys',
      text: `{${Array.from({ length: 60_000 }, (_, index) => `"k${index}":1`).join()}}`,
      issue: 'more than 10000 keys',
    },
    { what: '1 MiB of empty objects', text: `[${'{},'.repeat(349_000)}{}]`, issue: 'more than 10000 keys' },
    {
      what: 'a megabyte of one string, not closed',
      text: `{"a":"${'\\n'.repeat(500_000)}`,
      issue: 'Unterminated string',
    },
    { what: 'a megabyte of digits', text: `${'1'.repeat(1_000_000)}x`, issue: 'not valid JSON' },
    { what: 'a megabyte of blanks', text: `${' '.repeat(1_000_000)}x`, issue: 'not valid JSON' },
  ])(`deep nesting and many keys are 406 in little time (B18): $what`, ({ text, issue }) => {
    const start = cpuMs()
    expect(errorOf(text)).toContain(issue)
    expect(cpuMs() - start).toBeLessThan(250)
  })

  test('32 levels, and commas within strings, are allowed', () => {
    expect(errorOf('['.repeat(32) + ']'.repeat(32))).toBe('none')
    expect(errorOf(`{"a":"${',\\"{['.repeat(20_000)}"}`)).toBe('none')
  })

  test('an empty body is no value; whether one is required is up to the schema', () => {
    expect(parseJsonBody(Buffer.alloc(0))).toBeUndefined()
  })
})
