import { expect, test } from 'vitest'
import { echo, joinIssues } from './error-text.ts'

test.for([
  ['short', 'short'],
  ['a\r\nb\u0000', 'a\\u000d\\u000ab\\u0000'],
  ['\u202eevil', '\\u202eevil'],
  ['\ud800', '\ufffd'],
])('%j is shown as %j', ([text, shown]) => expect(echo(text ?? '')).toBe(shown))

test.for(['x'.repeat(10_000), '😀'.repeat(100), '\u0001'.repeat(100)])(
  'an echo never exceeds 64 characters: case %#',
  (text) => {
    expect(echo(text).length).toBeLessThanOrEqual(64)
  },
)

test('issues are joined whole, and what does not fit is counted', () => {
  expect(joinIssues(['app: is required', 'author: is required'])).toBe('app: is required; author: is required')
  const many = joinIssues(Array.from({ length: 100 }, (_, index) => `images[${index}].tag: is required`))
  expect(many).toMatch(/^images\[0\]\.tag: is required; .*images\[\d+\]\.tag: is required; and \d+ more$/)
  expect(many.length).toBeLessThanOrEqual(300)
  expect(joinIssues(['x'.repeat(1_000)]).length).toBeLessThanOrEqual(300)
})
