import { describe, expect, test } from 'vitest'
import cases from '../../test/fixtures/schedule-cases.json' with { type: 'json' }
import { explainSchedule } from './explain-schedule.ts'

const now = new Date('2026-11-18T12:00:00Z')
const json = (...args: string[]): unknown => JSON.parse(explainSchedule([...args, '--json'], now).output)

describe('what a schedule means', () => {
  test('is told to people with its windows, its next changes and the instants asked for', () => {
    const at = ['--at', '2026-11-20T16:00:00Z', '--at', '2026-11-20T16:59:59+01:00']
    const { exitCode, output, complaint } = explainSchedule(
      ['Fri 17:00-Mon 08:00', '--timezone', 'Europe/Berlin', ...at],
      now,
    )
    expect({ exitCode, complaint }).toEqual({ exitCode: 0, complaint: '' })
    const lines = output.split('\n')
    expect(lines.slice(0, 5)).toEqual([
      'windows, by the clock of Europe/Berlin:',
      '  Fri 17:00 - Mon 08:00',
      'next changes:',
      '  2026-11-20T16:00:00.000Z locks (Friday, 20 November 2026 at 17:00)',
      '  2026-11-23T07:00:00.000Z opens (Monday, 23 November 2026 at 08:00)',
    ])
    expect(lines.slice(-2)).toEqual(['2026-11-20T16:00:00Z: locked', '2026-11-20T16:59:59+01:00: open'])
  })

  test('is told to programs', () =>
    expect(json('Fri 17:00 - Mon 08:00', '--at', '2026-11-20T17:00:00Z')).toMatchObject({
      windows: [{ from: 'Fri 17:00', to: 'Mon 08:00' }],
      transitions: [{ at: '2026-11-20T17:00:00.000Z', locked: true }, ...Array(9).fill({ at: expect.any(String) })],
      at: [{ instant: '2026-11-20T17:00:00Z', locked: true }],
    }))
  test('is nothing for a blank one', () => {
    expect(json(' ')).toEqual({ windows: [], transitions: [], at: [] })
    expect(explainSchedule([' '], now).output).toBe('no windows: nothing is ever locked')
  })
  test('comes with a warning where it is probably not meant', () =>
    expect(explainSchedule(['Tue 09:00 - Tue 10:00, Tue 09:30 - Tue 11:00'], now)).toMatchObject({
      exitCode: 0,
      complaint: 'warning: LOCKDOWN_SCHEDULE has overlapping windows: 1 and 2',
    }))
  test.for(cases.valid)('$schedule in $timezone at $at: locked is $locked', ({ schedule, timezone, at, locked }) =>
    expect(json(schedule, '--timezone', timezone, '--at', at)).toMatchObject({ at: [{ instant: at, locked }] }),
  )
  test.for(['-271821-04-20T00:00:00Z', '+275760-09-13T00:00:00Z', '1900-01-01T00:00:00Z'])(
    'can be asked for %s',
    (instant) =>
      expect(explainSchedule(['Mon 00:00 - Sun 23:59', `--at=${instant}`], now)).toMatchObject({ exitCode: 0 }),
  )
})

describe('what cannot be explained', () => {
  test.for(cases.invalid)('$schedule ends with 78 and the window', ({ schedule, window }) =>
    expect(explainSchedule([schedule], now)).toMatchObject({
      exitCode: 78,
      output: '',
      complaint: expect.stringContaining(`LOCKDOWN_SCHEDULE: window ${window} (`),
    }),
  )
  test.for(['-', '- Mon 08:00'])('the schedule %j is no flag', (schedule) =>
    expect(explainSchedule([schedule, '--json'], now).exitCode).toBe(78),
  )
  test.for(cases.invalid_timezones)('the time zone %s ends with 78', (zone) =>
    expect(explainSchedule(['Fri 17:00 - Mon 08:00', '--timezone', zone], now)).toMatchObject({
      exitCode: 78,
      complaint: `LOCKDOWN_TIMEZONE: "${zone}" is not an IANA time zone`,
    }),
  )
  test.for<[string[], string]>([
    [[], 'give one schedule, in quotes'],
    [['Fri', '17:00'], 'give one schedule, in quotes'],
    [['', '--zone', 'UTC'], "Unknown option '--zone'"],
    [['', '--at'], "'--at <value>' argument missing"],
    [['', '--json=yes'], "'--json' does not take an argument"],
    [['', '--at', 'yesterday'], '--at yesterday: must be an instant such as'],
    [['', '--at', '2026-11-20T17:00:00'], '--at 2026-11-20T17:00:00: must be an instant such as'],
  ])('the arguments %j end with 2 and the usage', ([args, complaint]) => {
    const explanation = explainSchedule(args, now)
    expect(explanation).toMatchObject({ exitCode: 2, output: '', complaint: expect.stringContaining(complaint) })
    expect(explanation.complaint).toContain('usage: npm run schedule -- "<schedule>"')
  })
})
