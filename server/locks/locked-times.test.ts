import { expect, test } from 'vitest'
import type { LockPeriod } from './lock-calendar.ts'
import { lockedTimes } from './locked-times.ts'
import { parseLockdownSchedule } from './parse-lockdown-schedule.ts'

const windows = parseLockdownSchedule('Tue 10:00 - Tue 14:00')
if ('issue' in windows) throw new Error(windows.issue)
const at = (time: string) => new Date(`2026-11-${time}:00Z`)
const tuesday = { from: at('24T00:00'), to: at('24T20:00') }
const period = (kind: LockPeriod['kind'], from: string, to?: string) => ({
  kind,
  from: at(from),
  to: to ? at(to) : null,
})

test.for<[string, Parameters<typeof lockedTimes>[2][number][], string[]]>([
  ['by the schedule', [], ['10:00 - 14:00']],
  ['by a user too', [period('manual', '24T15:00', '24T16:00')], ['10:00 - 14:00', '15:00 - 16:00']],
  ['by both at once, which counts once', [period('manual', '24T13:00', '24T15:00')], ['10:00 - 15:00']],
  ['until now where no user has released it', [period('manual', '24T19:00')], ['10:00 - 14:00', '19:00 - 20:00']],
  [
    'not while a user had opened the window',
    [period('opened', '24T11:00', '24T12:00')],
    ['10:00 - 11:00', '12:00 - 14:00'],
  ],
  [
    'by a user within an opened window',
    [period('opened', '24T10:00', '24T12:00'), period('manual', '24T12:00', '24T13:00')],
    ['12:00 - 14:00'],
  ],
  ['since before the range', [period('manual', '20T00:00', '24T01:00')], ['00:00 - 01:00', '10:00 - 14:00']],
])('deployments were locked %s', ([, periods, expected]) => {
  const locked = lockedTimes(tuesday, { windows, timeZone: 'UTC' }, periods)
  expect(
    locked.map(({ from, to }) => `${from.toISOString().slice(11, 16)} - ${to.toISOString().slice(11, 16)}`),
  ).toEqual(expected)
})
