import { taskStatuses } from '../../../contract/task-status.ts'

/** A part of the address that asks for nothing the list has. */
export type AddressIssue = { readonly name: string; readonly value: string; readonly rule: string }

const unixSeconds = 'must be a number of Unix seconds'
const maxOffset = 100_000
const isSeconds = (text: string) => /^\d{1,12}(\.\d{1,20})?$/.test(text)
const isShort = (text: string) => text.length <= 255

const rules: Readonly<Record<string, readonly [isValid: (text: string) => boolean, rule: string]>> = {
  status: [(text) => taskStatuses.some((status) => status === text), `must be one of ${taskStatuses.join(', ')}`],
  search: [isShort, 'must be at most 255 characters long'],
  app: [isShort, 'must be at most 255 characters long'],
  project: [isShort, 'must be at most 255 characters long'],
  author: [isShort, 'must be at most 255 characters long'],
  from_timestamp: [isSeconds, unixSeconds],
  to_timestamp: [isSeconds, unixSeconds],
  offset: [(text) => /^\d{1,6}$/.test(text) && Number(text) <= maxOffset, `must be a whole number up to ${maxOffset}`],
  cursor: [() => false, 'is only for the API: pages have an offset'],
}

/** What an address of the list asks for in vain; empty values ask for nothing. */
export function addressIssues(query: URLSearchParams): readonly AddressIssue[] {
  const issues = Object.entries(rules).flatMap(([name, [isValid, rule]]) => {
    const value = query.get(name) ?? ''
    return value === '' || isValid(value) ? [] : [{ name, value, rule }]
  })
  const [from, to] = [query.get('from_timestamp') ?? '', query.get('to_timestamp') ?? '']
  const isReversed = isSeconds(from) && isSeconds(to) && Number(from) > Number(to)
  return isReversed
    ? [...issues, { name: 'from_timestamp', value: from, rule: 'must not be later than to_timestamp' }]
    : issues
}

/** The query string without what is in vain: the list that the page shows. */
export function withoutIssues(query: URLSearchParams, issues: readonly AddressIssue[]): URLSearchParams {
  const names = new Set(issues.map(({ name }) => name))
  return new URLSearchParams([...query].filter(([name]) => !names.has(name)))
}
