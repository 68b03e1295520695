import { expect, test } from 'vitest'
import { type LockPeriod, renderLockCalendar } from './lock-calendar.ts'
import { parseLockdownSchedule } from './parse-lockdown-schedule.ts'

const secondsOf = (text: string) => Date.parse(text) / 1000
const rangeOf = (from: string, to: string) => ({ from: secondsOf(from), to: secondsOf(to) })

function calendarOf(text: string, from: string, to: string, periods: readonly LockPeriod[] = [], timeZone = 'UTC') {
  const windows = parseLockdownSchedule(text)
  if ('issue' in windows) throw new Error(windows.issue)
  return renderLockCalendar(rangeOf(from, to), { windows, timeZone }, periods)
}

test('windows that reach over the edges of the range are whole, and those that only touch it are left out', () => {
  const text = 'Fri 17:00 - Mon 08:00, Wed 00:00 - Wed 12:00'
  const { intervals } = calendarOf(text, '2026-11-22T00:00:00Z', '2026-11-25T00:00:00Z')
  expect(intervals).toEqual([
    {
      kind: 'scheduled',
      from: secondsOf('2026-11-20T17:00:00Z'),
      to: secondsOf('2026-11-23T08:00:00Z'),
      reason: null,
      set_by: null,
    },
  ])
})

test.for([
  ['2026-03-29T00:00:00Z', 23],
  ['2026-10-25T00:00:00Z', 25],
] as const)('a window of a whole day whose clock changes, %s, lasts %i hours', ([day, hours]) => {
  const to = new Date(Date.parse(day) + 86_400_000).toISOString()
  const { intervals } = calendarOf('Sun 00:00 - Mon 00:00', day, to, [], 'Europe/Stockholm')
  expect(intervals.map((one) => (Number(one.to) - one.from) / 3_600)).toEqual([hours])
})

test('a schedule without a pause is one interval beyond both ends', () => {
  const [from, to] = ['2026-11-22T00:00:00Z', '2026-11-25T00:00:00Z']
  const { intervals } = calendarOf('Mon 00:00 - Thu 00:00, Thu 00:00 - Mon 00:00', from, to)
  expect(intervals.length).toBe(1)
  expect(intervals[0]?.from).toBeLessThan(secondsOf(from))
  expect(intervals[0]?.to).toBeGreaterThan(secondsOf(to))
})

test('holds 1,000 intervals, and says where there are more', () => {
  const [from, to] = ['2026-11-16T00:00:00Z', '2026-11-17T00:00:00Z']
  const period = { kind: 'manual', to: null, reason: 'drill', setBy: 'ada' } as const
  const periods = Array.from({ length: 1_001 }, (_, at) => ({ ...period, from: new Date(Date.parse(from) + at) }))
  const whole = calendarOf('', from, to, periods.slice(1))
  expect([whole.intervals.length, whole.capped]).toEqual([1_000, undefined])
  const cut = calendarOf('', from, to, periods)
  expect([cut.intervals.length, cut.capped]).toEqual([1_000, true])
  expect(cut.intervals[0]).toEqual({ kind: 'manual', from: secondsOf(from), to: null, reason: 'drill', set_by: 'ada' })
})
