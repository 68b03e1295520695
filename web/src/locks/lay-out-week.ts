import type { DeployLockInterval } from '../../../contract/deploy-lock.ts'
import { startOfDay, wallDay, weekdayOf } from '../ui/zoned-time.ts'

/** The part of an interval that falls on a day. Hours have passed since the day began, whatever a clock showed. */
export type WeekMark = {
  readonly kind: DeployLockInterval['kind']
  readonly fromHour: number
  readonly toHour: number
  /** Unix seconds; undefined where the interval began on an earlier day. */
  readonly begins: number | undefined
  /** Unix seconds; undefined where it ends on a later day, or never. */
  readonly ends: number | undefined
}

export type WeekDay = {
  /** Unix seconds of its first moment. */
  readonly from: number
  /** Unix seconds of the next day's first moment. */
  readonly to: number
  /** 24, or 23 and 25 on days of a clock change. */
  readonly hours: number
  readonly isToday: boolean
  readonly marks: readonly WeekMark[]
}

const dayOfWeek = [0, 1, 2, 3, 4, 5, 6]

/** The week from Monday to Sunday around a moment, by a calendar in the zone. */
export function layOutWeek(now: number, zone: string, intervals: readonly DeployLockInterval[]): readonly WeekDay[] {
  const today = wallDay(now, zone)
  const monday = today - weekdayOf(today)
  return dayOfWeek.map((index) => {
    const from = startOfDay(monday + index, zone)
    const to = startOfDay(monday + index + 1, zone)
    const marks = intervals.filter((one) => one.from < to && (one.to ?? to) > from).map((one) => markOn(one, from, to))
    return { from, to, hours: (to - from) / 3_600, isToday: monday + index === today, marks }
  })
}

function markOn(interval: DeployLockInterval, from: number, to: number): WeekMark {
  const { kind } = interval
  const end = interval.to ?? Number.POSITIVE_INFINITY
  return {
    kind,
    fromHour: (Math.max(interval.from, from) - from) / 3_600,
    toHour: (Math.min(end, to) - from) / 3_600,
    begins: interval.from > from ? interval.from : undefined,
    ends: end < to ? end : undefined,
  }
}
