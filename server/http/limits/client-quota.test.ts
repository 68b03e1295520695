import { expect, test } from 'vitest'
import { createClientQuota } from './client-quota.ts'

const client = (address: string, share = 1) => ({ address, share })

test('a client gets as much as it may have, and more when it gives some back', () => {
  const quota = createClientQuota(2, 100)
  const first = quota.take(client('ada'))
  expect(quota.take(client('ada'))).toBeDefined()
  expect(quota.take(client('ada'))).toBeUndefined()
  expect(quota.take(client('bob'))).toBeDefined()
  first?.()
  expect(quota.take(client('ada'))).toBeDefined()
  expect(quota.take(client('ada'))).toBeUndefined()
})

test('clients that are not known share several times as much of one address', () => {
  const quota = createClientQuota(1, 100)
  const taken = Array.from({ length: 11 }, () => quota.take(client('proxy', 10)))
  expect(taken.map((one) => one !== undefined)).toEqual([...Array(10).fill(true), false])
  expect(quota.take(client('proxy'))).toBeUndefined()
})

test('all together get no more than there is', () => {
  const quota = createClientQuota(1, 2)
  const [first] = [quota.take(client('ada')), quota.take(client('bob'))]
  expect(quota.take(client('eve'))).toBeUndefined()
  first?.()
  expect(quota.take(client('eve'))).toBeDefined()
})
