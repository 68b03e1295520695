import { expect, test } from 'vitest'
import { addressIssues, withoutIssues } from './address-issues.ts'

test.for<[string, readonly string[]]>([
  ['', []],
  ['status=&offset=', []],
  ['status=in+progress&app=shop&from_timestamp=1795420800.25&offset=50&unknown=1', []],
  ['status=broken', ['status']],
  ['from_timestamp=yesterday&to_timestamp=1e9', ['from_timestamp', 'to_timestamp']],
  ['from_timestamp=200&to_timestamp=100', ['from_timestamp']],
  ['offset=-1', ['offset']],
  ['offset=100001', ['offset']],
  ['cursor=abc', ['cursor']],
  [`search=${'x'.repeat(256)}`, ['search']],
])('%s', ([query, names]) => {
  const issues = addressIssues(new URLSearchParams(query))
  expect(issues.map(({ name }) => name)).toEqual(names)
})

test('the list that is shown is asked for with the rest', () => {
  const query = new URLSearchParams('status=broken&app=shop&cursor=x')
  expect(withoutIssues(query, addressIssues(query)).toString()).toBe('app=shop')
})
