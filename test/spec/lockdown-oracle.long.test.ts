import { describe, expect, test } from 'vitest'
import { closedIntervals, isLockedAt } from '../../server/locks/lockdown-times.ts'
import { parseLockdownSchedule } from '../../server/locks/parse-lockdown-schedule.ts'

/** By hand, and not through the parser: day (0 is Monday), hour, minute of the start and of the end. */
type HandWindow = readonly [number, number, number, number, number, number]

const schedules: readonly { readonly text: string; readonly byHand: readonly HandWindow[] }[] = [
  { text: 'Fri 17:00 - Mon 08:00', byHand: [[4, 17, 0, 0, 8, 0]] },
  {
    text: 'Wed 20:00 - Thu 08:00, Fri 20:00 - Mon 08:00, Sat 10:00 - Sun 12:00',
    byHand: [
      [2, 20, 0, 3, 8, 0],
      [4, 20, 0, 0, 8, 0],
      [5, 10, 0, 6, 12, 0],
    ],
  },
  {
    text: 'Sun 01:45 - Sun 02:15, Fri 00:00 - Fri 00:30',
    byHand: [
      [6, 1, 45, 6, 2, 15],
      [4, 0, 0, 4, 0, 30],
    ],
  },
  { text: 'Sun 02:10 - Sun 02:50', byHand: [[6, 2, 10, 6, 2, 50]] },
  {
    text: 'Mon 00:00 - Sat 23:30, Sun 00:30 - Sun 01:30, Sun 03:00 - Mon 00:00',
    byHand: [
      [0, 0, 0, 5, 23, 30],
      [6, 0, 30, 6, 1, 30],
      [6, 3, 0, 0, 0, 0],
    ],
  },
]
/** Changes of 1 hour at night, of half an hour, of 2 hours, at midnight; south and north; and none at all. */
const timeZones = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Antarctica/Troll',
  'Africa/Cairo',
  'Asia/Kolkata',
]

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const [startMs, endMs] = [Date.UTC(2026, 0, 1), Date.UTC(2028, 0, 1)]

/** The clock on the wall, read from the runtime's own calendar: its minute of the week and how far it is from UTC. */
function createWallClock(timeZone: string) {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    weekday: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  })
  return (ms: number) => {
    const [, weekday = '', month, day, year, hour, minute] =
      /^(\w{3}), (\d\d)\/(\d\d)\/(\d{4}), (\d\d):(\d\d)$/.exec(format.format(ms)) ?? []
    const dayIndex = 'MonTueWedThuFriSatSun'.indexOf(weekday) / 3
    const local = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute))
    return { weekMinute: (dayIndex * 24 + Number(hour)) * 60 + Number(minute), offsetMs: local - ms }
  }
}
type WallClock = ReturnType<typeof createWallClock>

/** Every minute within three hours of a change of the clock, and each 361 minutes elsewhere: in the end each minute of a day. */
function* minutesToLookAt(wallClock: WallClock): Generator<number> {
  const changes: number[] = []
  for (let ms = startMs - 72 * hourMs; ms < endMs + 72 * hourMs; ms += hourMs) {
    if (wallClock(ms).offsetMs !== wallClock(ms + hourMs).offsetMs) changes.push(ms)
  }
  const isNearChange = (ms: number) => changes.some((change) => Math.abs(ms - change) <= 3 * hourMs)
  for (let ms = startMs; ms < endMs; ms += minuteMs) {
    if (((ms - startMs) / minuteMs) % 361 === 0 || isNearChange(ms)) yield ms
  }
}

/** Walks each window minute by minute round the week and ticks off where it has been. */
function tickedWeek(windows: readonly HandWindow[]): readonly boolean[] {
  const ticked = new Array<boolean>(7 * 24 * 60).fill(false)
  for (const [startDay, startHour, startMinute, endDay, endHour, endMinute] of windows) {
    const end = (endDay * 24 + endHour) * 60 + endMinute
    for (
      let minute = (startDay * 24 + startHour) * 60 + startMinute;
      minute !== end;
      minute = (minute + 1) % ticked.length
    ) {
      ticked[minute] = true
    }
  }
  return ticked
}

describe('two years of wall clock', () => {
  test.for(timeZones)('agree with every schedule in %s', (timeZone) => {
    const wallClock = createWallClock(timeZone)
    const judged = schedules.map(({ text, byHand }) => {
      const windows = parseLockdownSchedule(text)
      if ('issue' in windows) throw new Error(windows.issue)
      const schedule = { windows, timeZone }
      const closed = closedIntervals(schedule, new Date(startMs), new Date(endMs))
      return { text, schedule, closed, position: 0, ticked: tickedWeek(byHand) }
    })
    const disagreements: string[] = []
    let comparisons = 0
    for (const ms of minutesToLookAt(wallClock)) {
      const { weekMinute } = wallClock(ms)
      for (const one of judged) {
        while (ms >= (one.closed[one.position]?.to.getTime() ?? Number.POSITIVE_INFINITY)) one.position += 1
        const isInInterval = ms >= (one.closed[one.position]?.from.getTime() ?? Number.POSITIVE_INFINITY)
        const expected = one.ticked[weekMinute]
        comparisons += 2
        if (isInInterval !== expected) disagreements.push(`${one.text}: interval at ${new Date(ms).toISOString()}`)
        if (isLockedAt(one.schedule, new Date(ms)) !== expected) {
          disagreements.push(`${one.text}: instant ${new Date(ms).toISOString()}`)
        }
      }
    }
    console.info(`${timeZone}: ${comparisons} comparisons, ${disagreements.length} disagreements`)
    expect(disagreements.slice(0, 20)).toEqual([])
    expect(comparisons).toBeGreaterThan(25_000)
  })
})
