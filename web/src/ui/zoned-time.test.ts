import { describe, expect, test } from 'vitest'
import { clockIn, dayIn, epochAt, labelledTime, offsetWords, timeIn, wallDay, zoneName } from './zoned-time.ts'

const seconds = (iso: string) => Date.parse(iso) / 1000

describe('times in a zone', () => {
  test.for([
    { zone: 'Europe/Stockholm', wall: '2026-11-19T18:00', at: '2026-11-19T17:00Z' },
    { zone: 'America/New_York', wall: '2026-07-01T00:00', at: '2026-07-01T04:00Z' },
    { zone: 'Asia/Kolkata', wall: '2026-07-01T00:00', at: '2026-06-30T18:30Z' },
    { zone: 'Europe/Stockholm', wall: '2026-10-25T02:30', at: '2026-10-25T00:30Z' }, // twice: the first
    { zone: 'Europe/Stockholm', wall: '2026-03-29T02:30', at: '2026-03-29T01:30Z' }, // never: 03:30
    { zone: 'Africa/Cairo', wall: '2026-04-24T00:00', at: '2026-04-23T22:00Z' }, // the day begins at 01:00
  ])('$wall in $zone is $at', ({ zone, wall, at }) => {
    expect(epochAt(seconds(`${wall}Z`), zone)).toBe(seconds(at))
  })

  test('are written with their day once it is another one, and with their year once it is another one', () => {
    const at = seconds('2026-11-19T23:30:59.9Z')
    expect(clockIn(at, 'Europe/Stockholm')).toBe('00:30')
    expect(dayIn(at, 'Europe/Stockholm')).toBe('Fri\u00a020\u00a0Nov')
    expect(timeIn(at, at - 600, 'UTC')).toBe('23:30')
    expect(timeIn(at, at - 3_600, 'Europe/Stockholm')).toBe('Fri\u00a020\u00a0Nov, 00:30')
    expect(timeIn(seconds('2027-01-01T00:00Z'), at, 'UTC')).toBe('Fri\u00a01\u00a0Jan\u00a02027, 00:00')
    expect(wallDay(at, 'Europe/Stockholm') - wallDay(at, 'UTC')).toBe(1)
  })

  test.for([
    ['UTC', 'UTC', '17:18'],
    ['UTC', 'Europe/Stockholm', '17:18 UTC'],
    ['Europe/Stockholm', 'Europe/Stockholm', '18:18'],
    ['Europe/Stockholm', 'UTC', '18:18 UTC+1'],
    ['Europe/Stockholm', 'Europe/Berlin', '18:18'], // the same clock
    ['Asia/Kolkata', 'Europe/Stockholm', '22:48 UTC+5:30'],
    ['Asia/Tokyo', 'Europe/Stockholm', '02:18 UTC+9'],
  ] as const)('in %s are labelled unless a clock in %s shows the same: %s', ([zone, own, words]) => {
    const at = seconds('2026-11-19T17:18Z')
    expect(labelledTime(at, at - 3_600, zone, own).replaceAll('\u00a0', ' ')).toBe(words)
  })

  test('name their distance to UTC', () => {
    const at = seconds('2026-07-01T00:00Z')
    const words = ['UTC', 'Europe/Stockholm', 'Asia/Kolkata', 'America/New_York'].map((zone) => offsetWords(at, zone))
    expect(words).toEqual(['UTC', 'UTC+2', 'UTC+5:30', 'UTC−4'])
  })

  test.for([
    ['UTC', 'UTC'],
    ['Etc/UTC', 'UTC'],
    ['Europe/Stockholm', 'Stockholm, UTC+1'],
    ['Europe/London', 'London, UTC'],
    ['America/Argentina/Buenos_Aires', 'Buenos Aires, UTC−3'],
  ] as const)('are of a zone whose name is short: %s is "%s"', ([zone, words]) => {
    expect(zoneName(zone, seconds('2026-11-19T17:18Z'))).toBe(words)
  })
})
