import { expect, test } from 'vitest'
import { createClientQuota } from './client-quota.ts'

const client = (address: string, weight = 1) => ({ address, weight })

test('a client gets as much as it may have, and more when it gives some back', () => {
  const quota = createClientQuota(2, 100)
  const first = quota.acquire(client('ada'))
  expect(quota.acquire(client('ada'))).toBeDefined()
  expect(quota.acquire(client('ada'))).toBeUndefined()
  expect(quota.acquire(client('bob'))).toBeDefined()
  first?.()
  expect(quota.acquire(client('ada'))).toBeDefined()
  expect(quota.acquire(client('ada'))).toBeUndefined()
})

test('clients that are not known share several times as much of one address', () => {
  const quota = createClientQuota(1, 100)
  const taken = Array.from({ length: 11 }, () => quota.acquire(client('proxy', 10)))
  expect(taken.map((one) => one !== undefined)).toEqual([...Array(10).fill(true), false])
  expect(quota.acquire(client('proxy'))).toBeUndefined()
})

test('all together get no more than there is', () => {
  const quota = createClientQuota(1, 2)
  const [first] = [quota.acquire(client('ada')), quota.acquire(client('bob'))]
  expect(quota.acquire(client('eve'))).toBeUndefined()
  first?.()
  expect(quota.acquire(client('eve'))).toBeDefined()
})
