import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromData, type PlainData } from './plain-data.ts'
import { parseTemplate, TemplateError } from './template.ts'
import { float } from './values.ts'

const render = (template: string, data: PlainData = null) => parseTemplate('t', template).render(fromData(data))
const limits = { maxSteps: 1000, maxOutputBytes: 4096 }
const errorOf = (work: () => unknown) => {
  try {
    work()
    return 'no error'
  } catch (error) {
    return error instanceof TemplateError ? error.message : `not a TemplateError: ${error}`
  }
}

/** Go rounds what lies exactly between two results to the even one, this language up. */
const isTie = (digits: string, kept: number) => /^50*$/.test(digits.slice(kept))
/** All decimal digits of a number, without its sign. */
const digitsOf = (value: number) =>
  Math.abs(value) < 1e21 ? Math.abs(value).toFixed(100) : BigInt(Math.abs(value)).toString()

describe('a template', () => {
  test('of plain data reads objects as maps, so that a missing key is no error', () => {
    expect(render('{{.app}} {{len .tags}} {{.missing}} {{1.5}}', { app: 'pay', tags: ['a', 'b'] })).toBe(
      'pay 2 <no value> 1.5',
    )
  })

  test.for([
    ['steps', '{{range 2000}}{{end}}', 'exceeded maximum number of steps (1000)'],
    ['output', `{{range 50}}${'0123456789'.repeat(10)}{{end}}`, 'exceeded maximum output of 4096 bytes'],
    ['text that is made and not written', '{{$x := "ab"}}{{range 40}}{{$x = print $x $x}}{{end}}', '(1000)'],
    ['padding', '{{$x := printf "%9999999d%9999999d" 1 1}}', 'exceeded maximum number of steps (1000)'],
    ['templates in each other', '{{define "a"}}{{template "a"}}{{end}}{{template "a"}}', 'exceeded maximum'],
  ])('ends at its limit of %s', ([, template = '', message = '']) => {
    expect(errorOf(() => parseTemplate('t', template).render(undefined, limits))).toContain(message)
  })

  test.for([
    ['blocks', '{{if 1}}', '{{end}}'],
    ['templates', '{{block "a" .}}', '{{end}}'],
    ['parentheses', '{{', '(', ')', '}}'],
  ])('with 50,000 %s in each other is an error of the template', ([, ...parts]) => {
    const middle = parts.length / 2
    const nested = parts
      .map((part, index) => part.repeat(index === middle - 1 || index === middle ? 50_000 : 1))
      .join('')
    expect(errorOf(() => render(nested))).toMatch(/^template: t:.*(nested too deeply|depth exceeded)/)
  })

  test('recursion through ranges and blocks ends with an error of the template', () => {
    const template = '{{define "a"}}{{range 1}}{{with 1}}{{if 1}}{{template "a" (print 1)}}{{end}}{{end}}{{end}}{{end}}'
    expect(errorOf(() => render(`${template}{{template "a"}}`))).toMatch(/maximum template depth|nested too deeply/)
  })
})

describe('for any text', () => {
  const pieces = fc.constantFrom(
    ...['{{', '}}', '{{- ', ' -}}', '(', ')', '|', '.', '$x', ':=', '=', '"a"', '`b`', "'c'", '1', '0x1p-2', '-', ','],
    ...[
      'if ',
      'else',
      'end',
      'range ',
      'with ',
      'define "t"',
      'template "t" ',
      'block "t" ',
      'break',
      'continue',
      'nil',
    ],
    ...['printf "%5.3[1]*v%q%x|" ', 'print ', 'len ', 'index ', 'slice ', 'eq ', 'lt ', 'and ', 'or ', 'call ', 'js '],
    ...['.list', '.map.a', '.text', ' ', '\n', '/* c */', 'é', '\ud800', '\0'],
  )
  const data = fc.dictionary(fc.constantFrom('list', 'map', 'text'), fc.jsonValue()) as fc.Arbitrary<PlainData>

  test('without delimiters, the output is the text', () => {
    const literal = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('{{'))
    fc.assert(
      fc.property(literal, (text) => {
        expect(render(text)).toBe(text)
      }),
    )
  })

  test('a quoted constant is its text, whatever escapes it takes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const escaped = Array.from(text, (char) => `\\U${(char.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`)
        expect(render(`{{"${escaped.join('')}"}}`)).toBe(text)
        expect(render('{{printf "%s" .}}{{len .}}', text)).toBe(text + Buffer.byteLength(text))
        expect(decodeURIComponent(render('{{urlquery .}}', text).replaceAll('+', ' '))).toBe(text)
      }),
    )
  })

  test('numbers print as the language of this engine prints them', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.nat(30), (value, width) => {
        expect(render(`{{.}} {{printf "%${width}d|%x" . .}}`, value)).toBe(
          `${value} ${String(value).padStart(width)}|${value.toString(16)}`,
        )
      }),
    )
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.nat(20), (value, precision) => {
        const [exponent, fixed] = parseTemplate('t', `{{printf "%.${precision}e %.${precision}f" . .}}`)
          .render(float(value))
          .split(' ')
        const [whole = '', fraction = ''] = digitsOf(value).split('.')
        if (!isTie(`${whole}${fraction}`.replace(/^0+/, ''), precision + 1))
          expect(Number(exponent) + 0).toBe(Number(value.toExponential(precision)) + 0)
        if (Math.abs(value) < 1e21 && !isTie(fraction, precision))
          expect(fixed).toBe(Object.is(value, -0) ? `-${value.toFixed(precision)}` : value.toFixed(precision))
      }),
    )
  })

  test.for([
    { value: 3_821_479_200_810_266.5, printed: '3821479200810266 4e+15' },
    { value: 0.5, printed: '0 5e-01' },
    { value: 1.5, printed: '2 2e+00' },
    { value: 2.5, printed: '2 2e+00' },
  ])('a tie rounds to even: $value prints as $printed', ({ value, printed }) => {
    expect(parseTemplate('t', '{{printf "%.0f %.0e" . .}}').render(float(value))).toBe(printed)
  })

  test('nothing but an error of the template is thrown, within its limits', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), data, (parts, value) => {
        const template = parts.join('')
        try {
          const output = parseTemplate('t', template).render(fromData(value), limits)
          expect(Buffer.byteLength(output)).toBeLessThanOrEqual(3 * limits.maxOutputBytes)
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateError)
          expect((error as Error).message).toMatch(/^template: t:/)
        }
      }),
      { numRuns: 3000 },
    )
  })
})
