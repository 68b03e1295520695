import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cpuMs } from '../../test/support/cpu-time.ts'
import { parseJsonBody } from './json-body.ts'
import { parseStrictJson } from './strict-json.ts'

const faultOf = (text: string | Buffer): string => {
  try {
    parseJsonBody(Buffer.from(text))
    return 'none'
  } catch (error) {
    return String(error)
  }
}

describe('JSON bodies are read strictly (decision 0006)', () => {
  test('whatever JSON.stringify writes is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        expect(structuredClone(parseStrictJson(text))).toEqual(JSON.parse(text))
      }),
    )
  })

  test('whatever it accepts, JSON.parse accepts', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"a"',
      ':',
      ',',
      '1',
      '-',
      '.5',
      'e',
      'true',
      'null',
      ' ',
      '\n',
      '"',
      '\\',
      '\u0000',
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join('')
        if (faultOf(text) === 'none' && text !== '') expect(() => JSON.parse(text)).not.toThrow()
      }),
      { numRuns: 2_000 },
    )
  })

  test.for([
    ['{"app":"a","app":"b"}', 'duplicate key app at line 1, column 12'],
    ['{"a":{"b":1,\n"b":2}}', 'duplicate key b at line 2, column 1'],
    ['{"a":1,"\\u0061":2}', 'duplicate key a'],
    ['{"__proto__":1,"__proto__":2}', 'duplicate key __proto__'],
    ['{"app":"a"', "expected '}' or ',' but found the end at line 1, column 11"],
    ['{"app":"a"} x', "expected the end but found 'x' at line 1, column 13"],
    ['{"app":"a"}{"app":"b"}', "expected the end but found '{'"],
    ['\ufeff{}', 'expected a value but found'],
    ["{'app':'a'}", 'expected a key in double quotes'],
    ['{"app":NaN}', "expected a value but found 'N' at line 1, column 8"],
    ['{"app":Infinity}', 'expected a value'],
    ['{"app":01}', "expected '}'"],
    ['{"app":1.}', "expected '}'"],
    ['{"app":+1}', 'expected a value'],
    ['{"app":"a",}', 'expected a key'],
    ['[1,]', 'expected a value'],
    ['{"app" "a"}', "expected ':'"],
    ['// comment\n{}', 'expected a value'],
    ['{"app":"a\nb"}', 'a string that is not closed'],
    ['{"app":"\\x41"}', 'unknown escape'],
    ['{"é":"a" ', 'line 1, column 10 (byte 10)'],
    ['{\n  "app": \n', 'line 3, column 1'],
    [Buffer.from([0x22, 0xff, 0x22]), 'it must be UTF-8'],
  ] as const)('%s: %s', ([text, fault]) => expect(faultOf(text)).toContain(fault))

  test.for(['{"a":1,"b":{"a":1}}', '[[1],[2]]', ' {} ', '-0.5e+3', '"\\ud83d\\ude00"'])('%s is fine', (text) => {
    expect(faultOf(text)).toBe('none')
  })

  test('__proto__ is a key like any other', () => {
    const body = parseStrictJson('{"__proto__":{"polluted":true},"constructor":1}')
    expect(Object.getOwnPropertyNames(body)).toEqual(['__proto__', 'constructor'])
    expect(Object.getPrototypeOf(body)).toBeNull()
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  test.for([
    { what: '2,000 levels', text: '['.repeat(2_000), fault: 'nested deeper than 32' },
    { what: '500,000 levels', text: '{"a":'.repeat(200_000), fault: 'nested deeper than 32' },
    {
      what: '60,000 keys',
      text: `{${Array.from({ length: 60_000 }, (_, index) => `"k${index}":1`).join()}}`,
      fault: 'more than 10000 keys',
    },
    { what: 'a megabyte of one string, not closed', text: `{"a":"${'\\n'.repeat(500_000)}`, fault: 'not closed' },
    { what: 'a megabyte of digits', text: `${'1'.repeat(1_000_000)}x`, fault: 'expected the end' },
    { what: 'a megabyte of blanks', text: `${' '.repeat(1_000_000)}x`, fault: 'expected a value' },
  ])('$what are refused quickly', ({ text, fault }) => {
    const start = cpuMs()
    expect(faultOf(text)).toContain(fault)
    expect(cpuMs() - start).toBeLessThan(250)
  })

  test('an empty body is no value, which the schema then judges', () => {
    expect(parseJsonBody(Buffer.alloc(0))).toBeUndefined()
  })
})
