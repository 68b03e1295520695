import { describe, expect, test } from 'vitest'
import cases from '../../test/fixtures/schedule-cases.json' with { type: 'json' }
import { cpuMs } from '../../test/support/cpu-time.ts'
import { findScheduleWarning, type LockdownWindow } from './lockdown-window.ts'
import { parseLockdownSchedule } from './parse-lockdown-schedule.ts'

const mistakeIn = (text: string): string | undefined => {
  const parsed = parseLockdownSchedule(text)
  return 'issue' in parsed ? parsed.issue : undefined
}
const windowsOf = (text: string): readonly LockdownWindow[] => {
  const parsed = parseLockdownSchedule(text)
  if ('issue' in parsed) throw new Error(parsed.issue)
  return parsed
}

const badDays = 'B41, B42, B43, B44'
const badWindows = 'B45, B46, B47'
describe(`an unreadable schedule is rejected with its window and the rule (spec 2.4, ${badDays}, ${badWindows})`, () => {
  test.for<[string, string]>([
    ['Fri 20 - Mon 08', 'window 1 ("Fri 20 - Mon 08") has the time "20": time must be HH:MM'],
    ['Fri 8:00 - Mon 08:00', 'time must be HH:MM'],
    ['Fri 2000 - Mon 08:00', 'time must be HH:MM'],
    ['Fri 20:00\n - Mon 08:00', 'window 1 ("Fri 20:00\\n - Mon 08:00") has the time "20:00\\n": time must be HH:MM'],
    ['Fri ٢٠:00 - Mon 08:00', 'time must be HH:MM'],
    ['Fri 25:00 - Mon 08:00', 'hour must be 00 to 23'],
    ['Fri 24:00 - Mon 08:00', 'hour must be 00 to 23'],
    ['Fri 99:99 - Mon 08:00', 'hour must be 00 to 23'],
    ['Fri 20:60 - Mon 08:00', 'minute must be 00 to 59'],
    ['Fryday 20:00 - Mon 08:00', 'unknown day "Fryday": use Mon, Tue, Wed, Thu, Fri, Sat, Sun'],
    ['fri 20:00 - Mon 08:00', 'unknown day "fri": use Mon, Tue'],
    ['Friday 20:00 - Mon 08:00', 'unknown day "Friday": use Mon, Tue'],
    ['Fri 20:00 - Lun 08:00', 'unknown day "Lun": use Mon, Tue'],
    ['constructor 20:00 - Mon 08:00', 'unknown day "constructor": use Mon, Tue'],
    ['Fri 20:00 to Mon 08:00', 'such as Fri 17:00 - Mon 08:00'],
    ['Fri 20:00 – Mon 08:00', 'such as Fri 17:00 - Mon 08:00'],
    ['Fri 20:00 -', 'such as Fri 17:00 - Mon 08:00'],
    ['- Mon 08:00', 'such as Fri 17:00 - Mon 08:00'],
    ['-', 'window 1 ("-") must be <Day> <HH:MM> - <Day> <HH:MM>, such as'],
    ['Fri\u00a020:00 - Mon 08:00', 'such as Fri 17:00 - Mon 08:00'],
    ['Fri 20:00 - Mon 08:00,', 'window 2 ("") is empty: remove a comma'],
    [',Fri 20:00 - Mon 08:00', 'window 1 ("") is empty: remove a comma'],
    ['Fri 20:00 - Mon 08:00, \t,Tue 01:00 - Tue 02:00', 'window 2 ("") is empty: remove a comma'],
    ['Fri 20:00 - Fri 20:00', 'window 1 ("Fri 20:00 - Fri 20:00") starts and ends at the same minute'],
    ['Fri 20:00 - Fri 08:00', 'window 1 ("Fri 20:00 - Fri 08:00") ends before it starts; write two windows'],
    ['Wed 20:00 - Thu 08:00, Fri 20:00 - Fri 08:00', 'window 2 ("Fri 20:00 - Fri 08:00") ends before it starts'],
  ])('%j', ([text, issue]) => expect(mistakeIn(text)).toContain(issue))

  const textOfRule: Readonly<Record<string, string>> = {
    time: 'time must be HH:MM',
    hour: 'hour must be 00 to 23',
    minute: 'minute must be 00 to 59',
    day: 'unknown day',
    format: 'must be <Day> <HH:MM> - <Day> <HH:MM>',
    same: 'starts and ends at the same minute',
    empty: 'is empty',
    backwards: 'ends before it starts',
  }
  test.for(cases.invalid)('$schedule: window $window, rule $rule', ({ schedule, window, entry, rule }) => {
    expect(mistakeIn(schedule)).toContain(`window ${window} (${JSON.stringify(entry)}) `)
    expect(mistakeIn(schedule)).toContain(textOfRule[rule])
  })
})

describe('a schedule that is understood', () => {
  test.for<[string, LockdownWindow[]]>([
    ['', []],
    [' \t', []],
    ['Mon 00:00 - Mon 00:01', [{ start: 0, end: 1 }]],
    ['Fri 17:00 - Mon 08:00', [{ start: 4 * 1440 + 17 * 60, end: 480 }]],
    [
      '\nMon 00:00 - Mon 00:01,\r\n  Mon 00:02 - Mon 00:03\n',
      [
        { start: 0, end: 1 },
        { start: 2, end: 3 },
      ],
    ],
    ['Sun 20:00 - Mon 00:00', [{ start: 6 * 1440 + 20 * 60, end: 0 }]],
    [
      '\tWed\t20:00-Thu  08:00 ,\t Sun 00:00 \t-\t Sun 23:59 ',
      [
        { start: 2 * 1440 + 20 * 60, end: 3 * 1440 + 480 },
        { start: 6 * 1440, end: 10_079 },
      ],
    ],
  ])('%j', ([text, windows]) => expect(parseLockdownSchedule(text)).toEqual(windows))
})

describe('a schedule that is probably not meant gets one warning', () => {
  const wholeWeek = 'locks the whole week: no task is ever accepted'
  test.for<[string, string | undefined]>([
    ['Tue 09:00 - Tue 10:00, Tue 09:30 - Tue 11:00', 'has overlapping windows: 1 and 2'],
    ['Mon 07:00 - Mon 09:00, Wed 01:00 - Wed 02:00, Fri 17:00 - Mon 08:00', 'has overlapping windows: 1 and 3'],
    ['Wed 01:00 - Wed 02:00, Wed 01:00 - Wed 02:00', 'has overlapping windows: 1 and 2'],
    ['Mon 00:00 - Sun 00:00, Sun 00:00 - Mon 00:00', wholeWeek],
    ['Tue 00:00 - Mon 12:00, Mon 06:00 - Wed 12:00', wholeWeek],
    ['Mon 00:00 - Sun 23:59', undefined],
    ['Tue 09:00 - Tue 10:00, Tue 10:00 - Tue 11:00', undefined],
    ['Sun 20:00 - Mon 00:00, Mon 00:00 - Mon 08:00', undefined],
    ['', undefined],
  ])('%s: %s', ([text, warning]) => expect(findScheduleWarning(windowsOf(text))).toBe(warning))
})

describe('hostile text of 100 kB is refused at once', () => {
  const size = 100_000
  test.for<[string, string]>([
    ['commas', ','.repeat(size)],
    ['blanks before something', `${' '.repeat(size)}x`],
    ['tabs within a window', `Fri${'\t'.repeat(size)}20:00 - Mon 08:00 x`],
    ['hyphens', '-'.repeat(size)],
    ['hyphens with blanks', '- '.repeat(size / 2)],
    ['words', 'a '.repeat(size / 2)],
    ['digits', `Fri ${'2'.repeat(size)}`],
    ['windows, the last one wrong', `${'Fri 20:00 - Mon 08:00,'.repeat(size / 22)}x`],
  ])('%s', ([, text]) => {
    // Meant to take below 5 ms; a step that looks at characters again and again would take seconds.
    const began = cpuMs()
    expect(mistakeIn(text)?.length).toBeLessThan(300)
    expect(cpuMs() - began).toBeLessThan(250)
  })
})
