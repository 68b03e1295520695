import { describe, expect, test } from 'vitest'
import { clockTime, exactTime, isoTime, relativeTime, shortTime } from './moment.ts'

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
    expect(relativeTime(at(iso), now, 'UTC').replaceAll('\u00a0', ' ')).toBe(words)
  })
})

test('an exact time says its zone', () => {
  expect(exactTime(now + 0.9).replaceAll('\u00a0', ' ')).toBe('19 Nov 2026, 14:32:04 UTC')
  expect(exactTime(now, 'Asia/Kolkata').replaceAll('\u00a0', ' ')).toBe('19 Nov 2026, 20:02:04 UTC+5:30')
  expect(isoTime(now + 0.5)).toBe('2026-11-19T14:32:04Z')
})

test.for([
  ['2026-11-19T03:04:05Z', 'UTC', '03:04:05', '03:04'],
  ['2026-11-18T23:30:00Z', 'Europe/Stockholm', '00:30:00 UTC+1', '00:30 UTC+1'],
  ['2026-11-18T22:30:00Z', 'Europe/Stockholm', '18 Nov, 23:30:00 UTC+1', '18 Nov, 23:30 UTC+1'],
  ['2025-12-31T12:00:00Z', 'UTC', '31 Dec 2025, 12:00:00', '31 Dec 2025, 12:00'],
] as const)('for a reader in UTC %s in %s is "%s", in short "%s"', ([iso, zone, words, short]) => {
  const shown = [clockTime, shortTime].map((tell) => tell(at(iso), now, zone, 'UTC').replaceAll('\u00a0', ' '))
  expect(shown).toEqual([words, short])
})
