import { describe, expect, test } from 'vitest'
import { isWorthRetrying, parseRetryAfter, retryDelayMs } from './retry-delay.ts'

describe('a call that Argo CD did not answer well is tried again', () => {
  test.for([
    { name: 'without an answer', tried: {}, isWorth: true },
    { name: 'after 429', tried: { status: 429 }, isWorth: true },
    { name: 'after 502', tried: { status: 502 }, isWorth: true },
    { name: 'but not after 403', tried: { status: 403 }, isWorth: false },
    { name: 'but not after 404', tried: { status: 404 }, isWorth: false },
    { name: 'but not after 200', tried: { status: 200 }, isWorth: false },
  ])('$name', ({ tried, isWorth }) => expect(isWorthRetrying(tried)).toBe(isWorth))

  test.for([
    { attempt: 0, soonest: 125, latest: 375 },
    { attempt: 1, soonest: 250, latest: 750 },
    { attempt: 2, soonest: 500, latest: 1_500 },
  ])('later each time, and not all at once: try $attempt after $soonest to $latest ms', (row) => {
    expect(retryDelayMs({}, row.attempt, 0)).toBe(row.soonest)
    expect(retryDelayMs({}, row.attempt, 1)).toBe(row.latest)
  })

  test.for<[string | null, number | undefined]>([
    ['3', 3_000],
    ['0', 0],
    ['3600', 10_000],
    ['-1', undefined],
    ['Sun, 06 Nov 1994 08:49:37 GMT', undefined],
    [null, undefined],
  ])('not before Retry-After: "%s" is %s ms', ([header, ms]) => {
    expect(parseRetryAfter(header)).toBe(ms)
    expect(retryDelayMs({ status: 429, retryAfterMs: parseRetryAfter(header) }, 0, 0)).toBe(Math.max(125, ms ?? 0))
  })
})
