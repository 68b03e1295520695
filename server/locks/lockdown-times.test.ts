import { describe, expect, test } from 'vitest'
import { isTimeZone } from '../../contract/fields.ts'
import cases from '../../test/fixtures/schedule-cases.json' with { type: 'json' }
import { closedIntervals, isLockedAt, type LockdownSchedule, transitionsAfter } from './lockdown-times.ts'
import { parseLockdownSchedule } from './parse-lockdown-schedule.ts'

function aSchedule(text: string, timeZone = 'UTC'): LockdownSchedule {
  const windows = parseLockdownSchedule(text)
  if ('issue' in windows) throw new Error(windows.issue)
  return { windows, timeZone }
}
const hourMs = 3_600_000
const around = (instant: Date) =>
  [new Date(instant.getTime() - 240 * hourMs), new Date(instant.getTime() + 240 * hourMs)] as const
const shown = (intervals: readonly { from: Date; to: Date }[]) =>
  intervals.map(({ from, to }) => `${from.toISOString()} to ${to.toISOString()}`)

describe('whether an instant is locked (spec 2.4)', () => {
  test.for(cases.valid)(
    '$schedule in $timezone at $at, locally $local: $locked',
    ({ schedule, timezone, at, locked }) => {
      const instant = new Date(at)
      const lockdown = aSchedule(schedule, timezone)
      expect(isLockedAt(lockdown, instant)).toBe(locked)
      const closed = closedIntervals(lockdown, ...around(instant))
      expect(closed.some(({ from, to }) => from <= instant && instant < to)).toBe(locked)
    },
  )
})

describe('when a schedule changes', () => {
  test.for(cases.spans)('$schedule in $timezone from $from', ({ schedule, timezone, from, to, transitions }) => {
    const lockdown = aSchedule(schedule, timezone)
    const [start, ...changes] = transitions.map(({ at, locked }) => ({ at: new Date(at), locked }))
    expect(isLockedAt(lockdown, new Date(from))).toBe(start?.locked)
    const found = transitionsAfter(lockdown, new Date(from), changes.length + 1)
    expect(found.slice(0, -1)).toEqual(changes)
    expect(found.at(-1)?.at.getTime()).toBeGreaterThanOrEqual(Date.parse(to))
  })

  test('is strictly after the instant asked about', () => {
    const nights = aSchedule('Wed 20:00 - Thu 08:00')
    const opening = new Date('2026-11-19T08:00:00Z')
    expect(transitionsAfter(nights, new Date(opening.getTime() - 1), 1)).toEqual([{ at: opening, locked: false }])
    expect(transitionsAfter(nights, opening, 1)).toEqual([{ at: new Date('2026-11-25T20:00:00Z'), locked: true }])
  })
  test.for(['', 'Mon 00:00 - Thu 00:00, Thu 00:00 - Mon 00:00'])('is never for %j', (text) =>
    expect(transitionsAfter(aSchedule(text), new Date('2026-11-19T08:00:00Z'), 10)).toEqual([]),
  )
  test('is as far away as the window that the clock skipped', () => {
    const skipped = aSchedule('Sun 02:10 - Sun 02:50', 'Europe/Berlin')
    expect(transitionsAfter(skipped, new Date('2026-03-22T02:00:00Z'), 1)).toEqual([
      { at: new Date('2026-04-05T00:10:00Z'), locked: true },
    ])
  })
})

describe('closed intervals', () => {
  const range = [new Date('2026-11-16T12:00:00Z'), new Date('2026-11-23T12:00:00Z')] as const
  test.for<[string, string[]]>([
    ['Tue 09:00 - Tue 10:00, Tue 09:30 - Tue 11:00', ['2026-11-17T09:00:00.000Z to 2026-11-17T11:00:00.000Z']],
    ['Tue 09:00 - Tue 10:00, Tue 10:00 - Tue 11:00', ['2026-11-17T09:00:00.000Z to 2026-11-17T11:00:00.000Z']],
    ['Sun 20:00 - Mon 00:00, Mon 00:00 - Mon 08:00', ['2026-11-22T20:00:00.000Z to 2026-11-23T08:00:00.000Z']],
    [
      'Mon 08:00 - Mon 18:00',
      ['2026-11-16T12:00:00.000Z to 2026-11-16T18:00:00.000Z', '2026-11-23T08:00:00.000Z to 2026-11-23T12:00:00.000Z'],
    ],
    ['Mon 00:00 - Thu 00:00, Thu 00:00 - Mon 00:00', ['2026-11-16T12:00:00.000Z to 2026-11-23T12:00:00.000Z']],
    ['', []],
  ])('of %j are merged and cut at the range', ([text, intervals]) =>
    expect(shown(closedIntervals(aSchedule(text), ...range))).toEqual(intervals),
  )
  test('go on over a change of the clock', () => {
    const weekends = aSchedule('Fri 20:00 - Mon 08:00', 'Europe/Berlin')
    const closed = closedIntervals(weekends, new Date('2026-10-22T00:00:00Z'), new Date('2026-10-27T00:00:00Z'))
    expect(shown(closed)).toEqual(['2026-10-23T18:00:00.000Z to 2026-10-26T07:00:00.000Z'])
  })
})

describe('a time zone', () => {
  test.for([...cases.invalid_timezones, '', ' UTC', '+02:00', 'Z', '2026-01-01T00:00[UTC]', 'constructor'])(
    'is not %j',
    (name) => expect(isTimeZone(name)).toBe(false),
  )
  test.for(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT-1'])('is %s', (name) =>
    expect(isTimeZone(name)).toBe(true),
  )
})
