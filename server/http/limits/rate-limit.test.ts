import { expect, test } from 'vitest'
import { createRateLimit } from './rate-limit.ts'

const client = (address: string, weight = 1) => ({ address, weight })

function aLimit(maxPerMinute: number) {
  let nowMs = 0
  const limit = createRateLimit(maxPerMinute, () => nowMs)
  return { ...limit, at: (ms: number) => (nowMs = ms) }
}

test('one too many within a minute is told how many seconds are left of it', () => {
  const limit = aLimit(2)
  expect([limit.acquire(client('ada')), limit.acquire(client('ada'))]).toEqual([undefined, undefined])
  limit.at(20_500)
  expect([limit.acquire(client('ada')), limit.acquire(client('bob'))]).toEqual([40, undefined])
  limit.at(60_000)
  expect(limit.acquire(client('ada'))).toBeUndefined()
})

test('what is given back does not count', () => {
  const limit = aLimit(1)
  limit.acquire(client('ada'))
  limit.release(client('ada'))
  expect([limit.acquire(client('ada')), limit.acquire(client('ada'))]).toEqual([undefined, 60])
})

test('clients that are not known share ten times as much', () => {
  const limit = aLimit(1)
  const taken = Array.from({ length: 11 }, () => limit.acquire(client('proxy', 10)))
  expect(taken).toEqual([...Array(10).fill(undefined), 60])
})
