import { expect, test } from 'vitest'
import type { HistoryPeriod } from '../../../contract/history.ts'
import { fourFigures } from './four-figures.ts'

const period = (fields: Partial<HistoryPeriod>): HistoryPeriod => ({
  from: 0,
  to: 1,
  counts: {},
  locked_seconds: 0,
  ...fields,
})
const lines = (total: Partial<HistoryPeriod>, before: Partial<HistoryPeriod>) =>
  fourFigures({ total: period(total), before: period(before), days: 30 }).map(({ name, value, against }) =>
    [name, value, against ?? '-'].join(': ').replaceAll('\u00a0', ' '),
  )

test('the four figures stand beside those of the period before', () => {
  const total = {
    counts: { deployed: 96, failed: 3, aborted: 1, cancelled: 9 },
    lead_time: { median_seconds: 2_340, p75_seconds: 0, known: 7 },
    restore: { median_seconds: 600, known: 2 },
  }
  const before = { counts: { deployed: 80, failed: 20 }, restore: { median_seconds: 1_200, known: 1 } }
  expect(lines(total, before)).toEqual([
    'Deploy frequency: 3.2 a day: + 20 %',
    'Lead time: 39 min: -',
    'Change failure rate: 4.0 %: − 16 points',
    'Time to restore: 10 min: − 50 %',
  ])
})

test('what is not known says so, and one failure in many is not 0 %', () => {
  expect(lines({ counts: { deployed: 99_999, failed: 1 } }, {})).toEqual([
    'Deploy frequency: 3,333 a day: -',
    'Lead time: not known: -',
    'Change failure rate: 0.1 %: -',
    'Time to restore: not known: -',
  ])
  expect(lines({}, {})[2]).toBe('Change failure rate: not known: -')
})
