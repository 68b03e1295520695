import { expect, test } from 'vitest'
import type { HistoryPeriod } from '../../../contract/history.ts'
import { aPeriod } from '../history/a-period.ts'
import { headlineOf, titleOf, todaySentence } from './headline.ts'

test.for([
  [0, 0, 0, undefined, 'No deployment yet. Nothing is rolling out.', 'Overview'],
  [0, 0, 1, undefined, 'The application is well. Nothing is rolling out.', 'Overview'],
  [0, 1, 1_234, undefined, 'All 1,234 applications are well. One is rolling out.', '1 rolling out · Overview'],
  [1, 0, 9, 'One application needs attention.', 'Nothing is rolling out.', '✕ 1 · Overview'],
  [2, 4, 46, 'Two applications need attention.', 'Four are rolling out.', '✕ 2 · Overview'],
  [11, 12, 46, '11 applications need attention.', '12 are rolling out.', '✕ 11 · Overview'],
] as const)('%i in need, %i rolling out, %i in all', ([attention, rollingOut, count, bad, rest, title]) => {
  expect(headlineOf(attention, rollingOut, count)).toEqual({ bad, rest })
  expect(titleOf(attention, rollingOut)).toBe(title)
})

const period = (deployed: number, median?: number): HistoryPeriod =>
  aPeriod({
    counts: { deployed },
    ...(median !== undefined && { durations: { median_seconds: median, p95_seconds: 0, p99_seconds: 0 } }),
  })

test.for([
  [period(0), period(3, 60), '0 deployed today.'],
  [period(38, 102), period(0), '38 deployed today. Median 1 min 42 s.'],
  [period(38, 102), period(40, 113), '38 deployed today. Median 1 min 42 s, 11 s faster than yesterday.'],
  [period(1, 60), period(1, 59.6), '1 deployed today. Median 1 min, as yesterday.'],
  [period(1, 61), period(1, 60), '1 deployed today. Median 1 min 1 s, 1 s slower than yesterday.'],
] as const)('the day in a sentence: %#', ([total, before, words]) => {
  expect(todaySentence({ total, before }).replaceAll('\u00a0', ' ')).toBe(words)
})
