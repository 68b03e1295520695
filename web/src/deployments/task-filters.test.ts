import { describe, expect, test } from 'vitest'
import { describeFilters, describePage, filtersIn, listAddress, offsetIn } from './task-filters.ts'

const read = (query: string) => filtersIn(new URLSearchParams(query))

describe('filters in the address', () => {
  test.for([
    ['', {}],
    ['status=in%20progress&app=platform%2Fedge', { status: 'in progress', app: 'platform/edge' }],
    ['status=success&author=&cursor=x', {}],
    ['search=%26%3D%3F&from_timestamp=1700000000', { search: '&=?', from_timestamp: '1700000000' }],
  ] as const)('%s are %j', ([query, filters]) => expect(read(query)).toEqual(filters))

  test('survive a round trip', () => {
    const filters = { status: 'app not found', app: 'a/b?c', search: 'x&y=z', author: 'renovate[bot]' }
    const address = listAddress(filters, 50)
    const query = new URLSearchParams(address.split('?')[1])
    expect(filtersIn(query)).toEqual(filters)
    expect(offsetIn(query)).toBe(50)
  })

  test('none leave the bare page', () => expect(listAddress({})).toBe('/tasks'))

  test.for([
    ['offset=100', 100],
    ['offset=-1', 0],
    ['offset=x', 0],
    ['offset=1.5', 0],
  ] as const)('%s skips %d rows', ([query, offset]) => expect(offsetIn(new URLSearchParams(query))).toBe(offset))
})

test.for([
  [{}, 'task'],
  [{ status: 'failed', app: 'checkout-api' }, 'failed task of checkout-api'],
  [{ project: 'shop', author: 'ada', search: 'v1' }, 'task in project shop by ada with “v1”'],
  [{ status: 'app not found', to_timestamp: '1' }, '“app not found” task in the chosen time'],
] as const)('the filters %j read "%s"', ([filters, words]) => expect(describeFilters(filters)).toBe(words))

test.for([
  [50, 0, 50, false, '1–50 of 50'],
  [20, 50, 1_234, false, '51–70 of 1,234'],
  [50, 0, 10_000, true, '1–50 of more than 10,000'],
  [7, 0, undefined, false, '1–7'],
] as const)('%d rows after %d of %s', ([shown, offset, total, capped, words]) => {
  expect(describePage(shown, offset, total, capped)).toBe(words)
})
