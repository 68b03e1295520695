import { expect, test } from 'vitest'
import type { HistoryDay } from '../../../contract/history.ts'
import {
  countTicks,
  durationTicks,
  labelledDays,
  lockedFields,
  lonelyPoints,
  partAt,
  placeOf,
  shareTicks,
  stackTops,
} from './plot-data.ts'

const hour = 3_600
const aDay = (from: number, to: number, counts: HistoryDay['counts'] = {}): HistoryDay => ({
  day: '',
  from,
  to,
  counts,
  locked_seconds: 0,
})
// The second day has 25 hours.
const days = [
  aDay(0, 24 * hour),
  aDay(24 * hour, 49 * hour, { deployed: 5, failed: 2, cancelled: 9 }),
  aDay(49 * hour, 73 * hour),
]

test('bars are stacked from deployed to aborted, and a click finds its part', () => {
  expect(stackTops(days)).toEqual([
    [0, 5, 0],
    [0, 7, 0],
    [0, 7, 0],
  ])
  const bar = days[1] ?? aDay(0, 0)
  expect([-1, 0, 4.9, 5, 6.9, 7].map((height) => partAt(bar, height))).toEqual([
    undefined,
    'deployed',
    'deployed',
    'failed',
    'failed',
    undefined,
  ])
})

test.for([
  [-1, -0.5],
  [12 * hour, 0],
  [24 * hour, 0.5],
  [36.5 * hour, 1],
  [80 * hour, 2.5],
] as const)('%d s after the beginning are at %d', ([at, place]) => expect(placeOf(days, at)).toBe(place))

test('a lock is a field from its beginning to its end', () => {
  expect(lockedFields(days, [{ from: 12 * hour, to: 36.5 * hour }])).toEqual([[0, 1]])
})

test('labels are spread over the days', () => {
  expect(labelledDays(30, 5)).toEqual([0, 7, 15, 22, 29])
  expect(labelledDays(3, 5)).toEqual([0, 1, 2])
})

test('axes have steps that one can read', () => {
  expect(durationTicks(800)).toEqual([0, 300, 600, 900])
  expect(durationTicks(0)).toEqual([0, 1])
  expect(durationTicks(900_000)).toEqual([0, 259_200, 518_400, 777_600, 1_036_800])
  expect(countTicks(70)).toEqual([0, 20, 40, 60, 80])
  expect(countTicks(0)).toEqual([0, 1])
  expect(shareTicks(0.93)).toEqual([0.9, 0.95, 1])
  expect(shareTicks(0)).toEqual([0, 0.25, 0.5, 0.75, 1])
})

test('a value between gaps is a point', () => expect(lonelyPoints([null, 1, null, 2, 3, null, 4])).toEqual([1, 6]))
