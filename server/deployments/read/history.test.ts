import { expect, test } from 'vitest'
import { historyRange } from './history.ts'

const hoursOf = ({ from, to }: { from: Date; to: Date }) => (to.getTime() - from.getTime()) / 3_600_000

test.for([
  {
    zone: 'Europe/Berlin',
    now: '2026-03-29T12:00:00Z',
    day: '2026-03-29',
    from: '2026-03-28T23:00:00.000Z',
    hours: 23,
  },
  {
    zone: 'Europe/Berlin',
    now: '2026-10-25T12:00:00Z',
    day: '2026-10-25',
    from: '2026-10-24T22:00:00.000Z',
    hours: 25,
  },
  { zone: 'UTC', now: '2026-11-24T00:00:00Z', day: '2026-11-24', from: '2026-11-24T00:00:00.000Z', hours: 24 },
  { zone: 'Asia/Kolkata', now: '2026-11-23T18:30:00Z', day: '2026-11-24', from: '2026-11-23T18:30:00.000Z', hours: 24 },
  // Midnight is skipped there.
  {
    zone: 'America/Santiago',
    now: '2026-09-06T12:00:00Z',
    day: '2026-09-06',
    from: '2026-09-06T04:00:00.000Z',
    hours: 23,
  },
])('a day of $zone at $now begins at $from and has $hours hours', ({ zone, now, day, from, hours }) => {
  const { days, total } = historyRange(1, zone, new Date(now))
  expect(days).toMatchObject([{ day, from: new Date(from) }])
  expect(days.map(hoursOf)).toEqual([hours])
  expect(total).toEqual({ from: new Date(from), to: new Date(now) })
})

test('the days follow each other, and the period before is as long', () => {
  const { days, total, before } = historyRange(30, 'Europe/Berlin', new Date('2026-11-10T06:00:00Z'))
  expect(days.map(({ day }) => day).slice(0, 2)).toEqual(['2026-10-12', '2026-10-13'])
  expect(days.length).toBe(30)
  for (const [index, { from }] of days.slice(1).entries()) expect(from).toEqual(days[index]?.to)
  expect(before.from).toEqual(new Date('2026-09-11T22:00:00Z'))
  expect(hoursOf(before)).toBe(hoursOf(total))
})

test('the period before ends where the first day begins at the latest', () => {
  const { before, total } = historyRange(1, 'Europe/Berlin', new Date('2026-10-25T22:59:00Z'))
  expect(hoursOf(before)).toBe(24)
  expect(before.to).toEqual(total.from)
})
