import { describe, expect, test } from 'vitest'
import { clockTime, exactTime, isoTime, relativeTime } from './moment.ts'

const at = (iso: string) => Date.parse(iso) / 1000
const now = at('2026-11-19T14:32:04Z')

describe('a moment told from Thursday 19 November 2026, 14:32:04 UTC', () => {
  test.for([
    ['2026-11-19T14:33:00Z', '0 s ago'],
    ['2026-11-19T14:31:55Z', '9 s ago'],
    ['2026-11-19T14:30:52Z', '1 min ago'],
    ['2026-11-19T13:39:20Z', '52 min ago'],
    ['2026-11-18T14:32:05Z', '23 h ago'],
    ['2026-11-18T14:32:04Z', '18 Nov'],
    ['2025-12-31T23:59:59Z', '31 Dec 2025'],
  ] as const)('%s reads "%s"', ([iso, words]) => {
    expect(relativeTime(at(iso), now).replaceAll('\u00a0', ' ')).toBe(words)
  })
})

test('an exact time says its zone', () => {
  expect(exactTime(now + 0.9).replaceAll('\u00a0', ' ')).toBe('19 Nov 2026, 14:32:04 UTC')
  expect(clockTime(at('2026-01-02T03:04:05Z'))).toBe('03:04:05\u00a0UTC')
  expect(isoTime(now + 0.5)).toBe('2026-11-19T14:32:04Z')
})

test('a time of day in the zone of this device is what its clock shows', () => {
  expect(clockTime(now, 'local').slice(0, 8)).toBe(new Date(now * 1000).toTimeString().slice(0, 8))
})
