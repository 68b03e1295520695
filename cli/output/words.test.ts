import { expect, test } from 'vitest'
import { spanOf, timeOf, titleOf } from './words.ts'

test.for([
  [0.24, '0.2s'],
  [9.94, '9.9s'],
  [9.96, '10s'],
  [31.4, '31s'],
  [99.6, '1m40s'],
  [125, '2m05s'],
  [7_320, '2h02m'],
  [-3, '0.0s'],
] as const)('%d s is %s', ([seconds, text]) => expect(spanOf(seconds)).toBe(text))

test('a time is UTC', () => expect(timeOf(1_795_867_200)).toBe('2026-11-28 12:00 UTC'))

const image = (name: string, tag: string) => ({ image: name, tag })
test('names the environment', () => {
  const task = { app: 'shop', images: [{ image: 'shop', tag: '2' }], environment: 'production' }
  expect(titleOf(task)).toBe('shop 2 (production)')
})

test.for([
  ['a first deployment', [image('shop', '1.1.0')], undefined, 'shop 1.1.0'],
  ['a new version', [image('shop', '1.2.0')], [image('shop', '1.1.0')], 'shop 1.1.0 → 1.2.0'],
  ['the same version', [image('shop', '1.2.0')], [image('shop', '1.2.0')], 'shop 1.2.0'],
  ['one tag for all', [image('a', '2'), image('b', '2')], [image('a', '1'), image('b', '1')], 'shop 1 → 2'],
  ['one of two', [image('a', '1'), image('b', '2')], [image('a', '1'), image('b', '1')], 'shop 1 → 2'],
  [
    'different ones',
    [image('a', '2'), image('b', '3')],
    [image('a', '1'), image('b', '1')],
    'shop 1 → 2, 2 of 2 images changed',
  ],
  ['control characters', [image('a', '2\u001b[31m')], undefined, 'shop 2 [31m'],
] as const)('%s', ([, images, before, title]) => {
  const previous = before && { id: '', images: [...before], ended: 0 }
  expect(titleOf({ app: 'shop', images: [...images], ...(previous ? { previous } : {}) })).toBe(title)
})
