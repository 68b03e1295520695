import { expect, test } from 'vitest'
import { aPeriod } from '../history/a-period.ts'
import { clockMarks, describeDay, placeOn } from './lay-out-day.ts'

const from = Date.parse('2026-11-19T00:00Z') / 1000
const hour = 3_600
const day = { from, to: from + 24 * hour }

test.for([
  [from - 1, 0],
  [from + 6 * hour, 25],
  [from + 30 * hour, 100],
] as const)('%i is at %d %% of the day', ([at, place]) => expect(placeOn(day, at)).toBe(place))

test.for([
  ['noon', 12, ['00:00', '06:00', '18:00', '24:00'], []],
  ['14:00', 14, ['00:00', '06:00', '12:00', '18:00', '24:00'], ['12:00']],
  ['07:00', 7, ['00:00', '12:00', '18:00', '24:00'], []],
  ['08:00', 8, ['00:00', '06:00', '12:00', '18:00', '24:00'], ['06:00']],
] as const)('at %s the times below the line leave room for now, on a phone more', ([, at, words, tight]) => {
  const marks = clockMarks(day, from + at * hour, 'UTC', 'UTC')
  expect(marks.map((mark) => mark.words)).toEqual(words)
  expect(marks.filter(({ isTight }) => isTight).map((mark) => mark.words)).toEqual(tight)
})

test('the times below the line name their zone where it is not that of the device', () => {
  const words = clockMarks(day, from + 12 * hour, 'UTC', 'Asia/Tokyo').map((mark) => mark.words)
  expect(words).toEqual(['00:00\u00a0UTC', '06:00\u00a0UTC', '18:00\u00a0UTC', '24:00\u00a0UTC'])
})

test('the day in a sentence', () => {
  const total = aPeriod({ from, to: day.to, counts: { deployed: 3, failed: 1 } })
  const marks = [
    { id: '1', app: 'shop', status: 'deployed' as const, ended: from },
    { id: '2', app: 'shop', status: 'failed' as const, ended: from + hour },
  ]
  expect(describeDay(total, marks, 2, 0, 'UTC')).toBe(
    'Deployments today by time of day, UTC: 3 deployed, 1 failed, 0 aborted, 2 in progress. Last: shop failed at 01:00.',
  )
  expect(describeDay(total, [], 0, 90, 'UTC')).toMatch(/Deployments are locked for 1\smin 30\ss of the day\.$/)
})
