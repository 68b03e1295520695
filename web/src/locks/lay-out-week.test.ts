import { describe, expect, test } from 'vitest'
import type { DeployLockInterval } from '../../../contract/deploy-lock.ts'
import { layOutWeek } from './lay-out-week.ts'

const seconds = (iso: string) => Date.parse(iso) / 1000
const scheduled = (from: string, to: string | null): DeployLockInterval => ({
  kind: 'scheduled',
  from: seconds(from),
  to: to === null ? null : seconds(to),
  reason: null,
  set_by: null,
})

describe('the week around a moment', () => {
  test.for([
    { change: 'no change', now: '2026-11-19T14:32Z', hours: [24, 24, 24, 24, 24, 24, 24] },
    { change: 'the change to summer time', now: '2026-03-25T12:00Z', hours: [24, 24, 24, 24, 24, 24, 23] },
    { change: 'the change to winter time', now: '2026-10-25T22:59Z', hours: [24, 24, 24, 24, 24, 24, 25] },
  ])('has days of $hours hours with $change in Stockholm', ({ now, hours }) => {
    expect(layOutWeek(seconds(now), 'Europe/Stockholm', []).map((day) => day.hours)).toEqual(hours)
  })

  test('has a day of 23.5 hours where the clock moves by half an hour', () => {
    const week = layOutWeek(seconds('2026-10-01T00:00Z'), 'Australia/Lord_Howe', [])
    expect(week.map(({ hours }) => hours)).toEqual([24, 24, 24, 24, 24, 24, 23.5])
  })

  test('begins on Monday in the chosen zone and knows today', () => {
    const sundayEvening = seconds('2026-11-22T23:30Z')
    const inUtc = layOutWeek(sundayEvening, 'UTC', [])
    expect(inUtc[0]?.from).toBe(seconds('2026-11-16T00:00Z'))
    expect(inUtc.findIndex(({ isToday }) => isToday)).toBe(6)
    const inStockholm = layOutWeek(sundayEvening, 'Europe/Stockholm', [])
    expect(inStockholm[0]?.from).toBe(seconds('2026-11-22T23:00Z'))
    expect(inStockholm.findIndex(({ isToday }) => isToday)).toBe(0)
  })

  test('cuts a lockdown window at midnight, with its end outside', () => {
    const window = scheduled('2026-11-20T17:00Z', '2026-11-23T00:00Z')
    const week = layOutWeek(seconds('2026-11-19T14:32Z'), 'UTC', [window])
    expect(week.map(({ marks }) => marks.map(({ fromHour, toHour }) => [fromHour, toHour]))).toEqual([
      [],
      [],
      [],
      [],
      [[17, 24]],
      [[0, 24]],
      [[0, 24]],
    ])
    expect(week.map(({ marks }) => marks[0]?.begins).filter(Boolean)).toEqual([window.from])
    expect(week.map(({ marks }) => marks[0]?.ends).filter(Boolean)).toEqual([])
  })

  test('counts hours that passed on a day of a clock change', () => {
    const window = scheduled('2026-10-25T00:30Z', '2026-10-25T09:00Z') // 02:30 summer time to 10:00 winter time
    const sunday = layOutWeek(seconds('2026-10-25T12:00Z'), 'Europe/Stockholm', [window])[6]
    expect(sunday?.marks).toEqual([
      { kind: 'scheduled', fromHour: 2.5, toHour: 11, begins: window.from, ends: window.to },
    ])
  })

  test('ends a lock that lasts until released with the week', () => {
    const lock = { ...scheduled('2026-11-21T06:00Z', null), kind: 'manual' as const }
    const week = layOutWeek(seconds('2026-11-21T07:00Z'), 'UTC', [lock])
    expect(week.map(({ marks }) => marks.length)).toEqual([0, 0, 0, 0, 0, 1, 1])
    expect(week[6]?.marks[0]).toMatchObject({ fromHour: 0, toHour: 24, begins: undefined, ends: undefined })
  })
})
