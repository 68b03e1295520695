import { expect, test } from 'vitest'
import type { HistoryPeriod } from '../../../contract/history.ts'
import { aPeriod } from './a-period.ts'
import { fourFigures } from './four-figures.ts'

const lines = (total: Partial<HistoryPeriod>, before: Partial<HistoryPeriod>) =>
  fourFigures({ total: aPeriod(total), before: aPeriod(before) }).map(({ name, value, against }) =>
    [name, value, against ?? '-'].join(': ').replaceAll('\u00a0', ' '),
  )

test('the four figures stand beside those of the period before', () => {
  const total = {
    deploy_frequency: 3.2,
    lead_time: { median_seconds: 2_340, p75_seconds: 0, known: 7 },
    change_failure_rate: 0.04,
    time_to_restore: { median_seconds: 600, known: 2 },
  }
  const before = {
    deploy_frequency: 80 / 30,
    change_failure_rate: 0.2,
    time_to_restore: { median_seconds: 1_200, known: 1 },
  }
  expect(lines(total, before)).toEqual([
    'Deploy frequency: 3.2 a day: + 20 %',
    'Lead time: 39 min: -',
    'Change failure rate: 4.0 %: − 16 points',
    'Time to restore: 10 min: − 50 %',
  ])
})

test('what is not known says so, and one failure in many is not 0 %', () => {
  expect(lines({ deploy_frequency: 3_333.3, change_failure_rate: 1 / 100_000 }, {})).toEqual([
    'Deploy frequency: 3,333 a day: -',
    'Lead time: not known: -',
    'Change failure rate: 0.1 %: -',
    'Time to restore: not known: -',
  ])
  expect(lines({}, {})[2]).toBe('Change failure rate: not known: -')
})

test.for([
  [0, '0 a day'],
  [1, '1 a day'],
  [1 / 30, '0.2 a week'],
  [0.5, '3.5 a week'],
] as const)('%d deployments a day are %s', ([frequency, words]) =>
  expect(fourFigures({ total: aPeriod({ deploy_frequency: frequency }), before: aPeriod() })[0]?.value).toBe(words),
)
