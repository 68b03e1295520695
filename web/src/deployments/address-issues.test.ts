import { expect, test } from 'vitest'
import { withoutIssues } from '../ui/address-issues.ts'
import { addressIssues } from './address-issues.ts'

test.for<[string, readonly string[]]>([
  ['', []],
  ['status=&cursor=', []],
  ['status=in+progress&app=shop&from_timestamp=1795420800.25&cause=timeout&unknown=1', []],
  ['status=broken', ['status']],
  ['status=failed,aborted', []],
  ['status=failed,broken', ['status']],
  ['from_timestamp=yesterday&to_timestamp=-1', ['from_timestamp', 'to_timestamp']],
  ['from_timestamp=1e9&to_timestamp=253402300799', []],
  ['from_timestamp=999999999999&to_timestamp=1e99', ['from_timestamp', 'to_timestamp']],
  ['app=%00', ['app']],
  ['from_timestamp=200&to_timestamp=100', ['from_timestamp']],
  ['ended_from=200&ended_to=100', ['ended_from']],
  ['cause=bad_luck', ['cause']],
  ['cursor=m1abcdef-019aa0c57d4c7c3e9d0a6c1f0b3f8a11', []],
  ['cursor=abc', ['cursor']],
  ['offset=50', ['offset']],
  [`search=${'x'.repeat(256)}`, ['search']],
])('%s', ([query, names]) => {
  const issues = addressIssues(new URLSearchParams(query))
  expect(issues.map(({ name }) => name)).toEqual(names)
})

test('the list that is shown is asked for with the rest', () => {
  const query = new URLSearchParams('status=broken&app=shop&cursor=x')
  expect(withoutIssues(query, addressIssues(query)).toString()).toBe('app=shop')
})
