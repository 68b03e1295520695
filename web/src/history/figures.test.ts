import { describe, expect, test } from 'vitest'
import type { HistoryDay, HistoryPeriod } from '../../../contract/history.ts'
import { aPeriod } from './a-period.ts'
import {
  growth,
  historySentence,
  oddDay,
  percent,
  perDay,
  pointsBetween,
  rollingRates,
  shortDay,
  successRate,
} from './figures.ts'

const aDay = (day: string, counts: HistoryDay['counts']): HistoryDay => ({
  day,
  from: 0,
  to: 1,
  counts,
  locked_seconds: 0,
})
const period = (counts: HistoryPeriod['counts']) => aPeriod({ counts })
const plain = (text: string | undefined) => text?.replaceAll('\u00a0', ' ')

test.for([
  [{ deployed: 96, failed: 3, aborted: 1 }, 0.96],
  [{ deployed: 1, cancelled: 5, 'app not found': 2 }, 1],
  [{ cancelled: 5 }, undefined],
] as const)('of %j the success rate is %s', ([counts, rate]) => expect(successRate(counts)).toBe(rate))

test('one failure in many is not 100 %', () => expect(plain(percent(0.99999))).toBe('99.9 %'))

test.for([
  [0, 30, '0'],
  [11, 30, '0.4'],
  [314, 30, '10'],
  [37_000, 30, '1,233'],
] as const)('%i deployments in %i days are %s a day', ([count, days, words]) => expect(perDay(count, days)).toBe(words))

test('the rate of a day is that of the seven days up to it, and a gap where nothing ended', () => {
  const days = [
    aDay('2026-11-01', {}),
    aDay('2026-11-02', { failed: 1 }),
    ...['03', '04', '05', '06', '07', '08'].map((date) => aDay(`2026-11-${date}`, {})),
    aDay('2026-11-09', { deployed: 1 }),
  ]
  expect(rollingRates(days)).toEqual([null, 0, 0, 0, 0, 0, 0, 0, 1])
})

describe('the day that stands out', () => {
  const calm = ['01', '02', '03'].map((date) => aDay(`2026-11-${date}`, { deployed: 50, failed: 2 }))
  test('is far above the rest', () => {
    const odd = aDay('2026-11-04', { deployed: 58, failed: 10, aborted: 4 })
    expect(oddDay([...calm, odd])).toBe(odd)
  })
  test('is none where all are alike, or few failed', () => {
    expect(oddDay(calm)).toBeUndefined()
    expect(oddDay([aDay('2026-11-01', { failed: 2 })])).toBeUndefined()
  })
})

test('the sentence says how much, how well, how fast and what stands out', () => {
  const by_day = [aDay('2026-10-29', { deployed: 58, failed: 10, aborted: 4 })]
  const total = {
    ...period({ deployed: 1_158, failed: 38, aborted: 10 }),
    durations: { median_seconds: 109, p95_seconds: 0, p99_seconds: 0 },
  }
  expect(plain(historySentence({ total, days: 30, by_day }))).toBe(
    '1,206 deployments in 30 days. 96.0 % succeeded, half of them within 1 min 49 s. 29 October stands out: 14 of 72 did not work.',
  )
  expect(historySentence({ total: period({ cancelled: 1 }), days: 7, by_day: [] })).toBe(
    'No deployment ended in these 7 days.',
  )
})

test('a change against the period before has a sign', () => {
  expect([growth(109, 100), growth(50, 100), growth(100, 100), growth(1, 0)].map(plain)).toEqual([
    '+ 9 %',
    '− 50 %',
    'as before',
    undefined,
  ])
  expect(plain(pointsBetween(0.96, 0.952))).toBe('+ 0.8 points')
})

test('a day is short below a chart', () => expect(plain(shortDay('2026-10-21'))).toBe('21 Oct'))
