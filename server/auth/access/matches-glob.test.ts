import { expect, test } from 'vitest'
import { cpuMs } from '../../../test/support/cpu-time.ts'
import { matchesGlob } from './matches-glob.ts'

test.for<[string, string, boolean]>([
  ['shop', 'shop', true],
  ['shop', 'Shop', false],
  ['shop', 'sho', false],
  ['shop', 'shops', false],
  ['shop-api', 'shop-*', true],
  ['shop', 'shop-*', false],
  ['shop-', 'shop-*', true],
  ['team-a/shop', '*/shop', true],
  ['team-a/shop', 'team-a/*', true],
  ['team-a/shop', '*/*', true],
  ['team-a/shop', '*', false],
  ['team-a/shop', 'team-*', false],
  ['team-a/shop', 'team-a?shop', false],
  ['team-a/shop', '*shop', false],
  ['shop', '*/shop', false],
  ['shop', '*', true],
  ['', '*', true],
  ['', '?', false],
  ['shop1', 'shop?', true],
  ['shop12', 'shop?', false],
  ['shop\u{1f600}', 'shop?', true],
  ['abcabd', '*ab?', true],
  ['abcabde', '*ab?', false],
  ['aXbYc', 'a*b*c', true],
  ['aXbY', 'a*b*c', false],
  ['shop', 'sh.p', false],
  ['shop', '[s]hop', false],
  ['shop', '', false],
])('%s matches %s: %s', ([name, glob, expected]) => expect(matchesGlob(name, glob)).toBe(expected))

test('many stars against a long name take no time', () => {
  const began = cpuMs()
  expect(matchesGlob('a'.repeat(255), `${'*a'.repeat(100)}*b`)).toBe(false)
  expect(cpuMs() - began).toBeLessThan(200)
})
