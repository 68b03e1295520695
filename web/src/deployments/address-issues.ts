import { isCause } from '../../../contract/causes.ts'
import { taskStatuses } from '../../../contract/task-status.ts'
import type { AddressIssue } from '../ui/address-issue-notice.tsx'

const unixSeconds = 'must be a number of Unix seconds'
const isSeconds = (text: string) => /^\d{1,12}(\.\d{1,20})?$/.test(text)
const isShort = (text: string) => text.length <= 255

const rules: Readonly<Record<string, readonly [isValid: (text: string) => boolean, rule: string]>> = {
  status: [(text) => taskStatuses.some((status) => status === text), `must be one of ${taskStatuses.join(', ')}`],
  search: [isShort, 'must be at most 255 characters long'],
  app: [isShort, 'must be at most 255 characters long'],
  project: [isShort, 'must be at most 255 characters long'],
  author: [isShort, 'must be at most 255 characters long'],
  cause: [isCause, 'must be a failure code'],
  from_timestamp: [isSeconds, unixSeconds],
  to_timestamp: [isSeconds, unixSeconds],
  ended_from: [isSeconds, unixSeconds],
  ended_to: [isSeconds, unixSeconds],
  cursor: [(text) => /^[0-9a-z]{1,9}-[0-9a-f]{32}$/.test(text), 'must be one that this list has made'],
  offset: [() => false, 'is only for the API: pages have a cursor'],
}

/** What an address of the list asks for in vain; empty values ask for nothing. */
export function addressIssues(query: URLSearchParams): readonly AddressIssue[] {
  const issues = Object.entries(rules).flatMap(([name, [isValid, rule]]) => {
    const value = query.get(name) ?? ''
    return value === '' || isValid(value) ? [] : [{ name, value, rule }]
  })
  return [...issues, ...reversed(query, 'from_timestamp', 'to_timestamp'), ...reversed(query, 'ended_from', 'ended_to')]
}

function reversed(query: URLSearchParams, from: string, to: string): readonly AddressIssue[] {
  const [begin, end] = [query.get(from) ?? '', query.get(to) ?? '']
  if (!isSeconds(begin) || !isSeconds(end) || Number(begin) <= Number(end)) return []
  return [{ name: from, value: begin, rule: `must not be later than ${to}` }]
}

/** The query string without what is in vain: the list that the page shows. */
export function withoutIssues(query: URLSearchParams, issues: readonly AddressIssue[]): URLSearchParams {
  const names = new Set(issues.map(({ name }) => name))
  return new URLSearchParams([...query].filter(([name]) => !names.has(name)))
}
