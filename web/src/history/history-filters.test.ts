import { expect, test } from 'vitest'
import { historyAddress, historyQueryString, readHistoryAddress } from './history-filters.ts'

const read = (query: string) => readHistoryAddress(new URLSearchParams(query))

test.for([
  ['', { days: 30 }],
  ['days=7&app=a%2Fb&project=&tz=Europe%2FStockholm', { days: 7, app: 'a/b', tz: 'Europe/Stockholm' }],
  ['days=90&unknown=1', { days: 90 }],
] as const)('"%s" asks for %j', ([query, address]) => expect(read(query)).toEqual({ address, issues: [] }))

test.for([
  ['days=31', ['days']],
  ['days=seven&tz=Mars/Olympus', ['days', 'tz']],
  ['tz=%2B02:00&project=%00', ['project', 'tz']],
  [`app=${'x'.repeat(256)}&days=1`, ['days', 'app']],
] as const)('"%s" asks in vain', ([query, names]) => {
  const { address, issues } = read(query)
  expect(issues.map(({ name }) => name)).toEqual(names)
  expect(address).toEqual({ days: 30 })
})

test('an address survives a round trip', () => {
  const address = { days: 7, app: 'a/b?c', project: 'x&y', environment: 'a=b', tz: 'Asia/Kolkata' }
  expect(read(historyAddress(address).split('?')[1] ?? '').address).toEqual(address)
  expect(historyAddress({ days: 30 })).toBe('/history')
})

test('the service is asked for the days in the zone', () => {
  expect(historyQueryString({ days: 7, app: 'shop', environment: 'production' }, 'UTC')).toBe(
    'days=7&app=shop&environment=production&tz=UTC',
  )
})
