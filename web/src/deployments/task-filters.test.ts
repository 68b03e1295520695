import { describe, expect, test } from 'vitest'
import { cursorIn, describeFilters, describePage, filtersIn, listAddress } from './task-filters.ts'

const cursor = 'm1abcdef-019aa0c57d4c7c3e9d0a6c1f0b3f8a11'
const read = (query: string) => filtersIn(new URLSearchParams(query))

describe('filters in the address', () => {
  test.for([
    ['', {}],
    ['status=in%20progress&app=platform%2Fedge', { status: 'in progress', app: 'platform/edge' }],
    ['status=success&author=&cursor=x', {}],
    ['status=failed,success,in%20progress', { status: 'in progress,failed' }],
    ['search=%26%3D%3F&from_timestamp=1700000000', { search: '&=?', from_timestamp: '1700000000' }],
  ] as const)('%s are %j', ([query, filters]) => expect(read(query)).toEqual(filters))

  test('survive a round trip', () => {
    const filters = { status: 'app not found', app: 'a/b?c', search: 'x&y=z', author: 'renovate[bot]' }
    const address = listAddress(filters, cursor)
    const query = new URLSearchParams(address.split('?')[1])
    expect(filtersIn(query)).toEqual(filters)
    expect(cursorIn(query)).toBe(cursor)
  })

  test('none leave the bare page', () => expect(listAddress({})).toBe('/tasks'))
})

test.for([
  [{}, 'deployment'],
  [{ status: 'failed,aborted', app: 'checkout-api' }, 'failed or aborted deployment of checkout-api'],
  [{ project: 'shop', author: 'ada', search: 'v1' }, 'deployment in project shop by ada with “v1”'],
  [{ status: 'app not found', to_timestamp: '1' }, '“app not found” deployment created in the chosen time'],
  [{ cause: 'crash_loop', ended_from: '1' }, 'deployment with the cause crash_loop that ended in the chosen time'],
] as const)('the filters %j read "%s"', ([filters, words]) => expect(describeFilters(filters)).toBe(words))

test.for([
  [0, 20, { count: 1_234, isCapped: false }, '1–20 of 1,234'],
  [50, 50, { count: 10_000, isCapped: true }, '51–100 of more than 10,000'],
  [undefined, 50, { count: 1_519, isCapped: false }, '50 of 1,519'],
  [0, 7, undefined, '1–7'],
] as const)('%o rows before %d of %j read "%s"', ([before, shown, total, words]) =>
  expect(describePage(before, shown, total)).toBe(words),
)
