import { describe, expect, test } from 'vitest'
import { duration, fineDuration } from './duration.ts'

describe('a duration', () => {
  test.for([
    [-3, '0 s'],
    [0, '0 s'],
    [0.9, '0 s'],
    [41.7, '41 s'],
    [60, '1 min'],
    [72, '1 min 12 s'],
    [900, '15 min'],
    [3_601, '1 h'],
    [9_900, '2 h 45 min'],
    [90_000, '1 d 1 h'],
  ] as const)('of %d seconds reads "%s"', ([seconds, words]) => {
    expect(duration(seconds).replaceAll('\u00a0', ' ')).toBe(words)
  })

  test('never breaks between a figure and its unit', () => {
    expect(duration(72)).toBe('1\u00a0min 12\u00a0s')
  })
})

test.for([
  [-1, '0.0 s'],
  [1.19, '1.1 s'],
  [9.99, '9.9 s'],
  [10, '10 s'],
  [72.4, '1 min 12 s'],
] as const)('%d seconds with tenths are "%s"', ([seconds, words]) => {
  expect(fineDuration(seconds).replaceAll('\u00a0', ' ')).toBe(words)
})
