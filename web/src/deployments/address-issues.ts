import { isCause } from '../../../contract/causes.ts'
import { lastSecond, momentPattern, unixSeconds } from '../../../contract/fields.ts'
import { taskStatuses } from '../../../contract/task-status.ts'
import { type AddressIssue, findAddressIssues, oneOf, textRule } from '../ui/address-issues.ts'

const isMoment = (text: string) => momentPattern.test(text) && Number(text) <= lastSecond
const momentRule = (text: string) => (isMoment(text) ? undefined : unixSeconds)

const rules = {
  status: (text: string) =>
    text
      .split(',')
      .map(oneOf(taskStatuses))
      .find((rule) => rule !== undefined),
  search: textRule,
  app: textRule,
  project: textRule,
  environment: textRule,
  author: textRule,
  cause: (text: string) => (isCause(text) ? undefined : 'must be a failure code'),
  from_timestamp: momentRule,
  to_timestamp: momentRule,
  ended_from: momentRule,
  ended_to: momentRule,
  cursor: (text: string) =>
    /^[0-9a-z]{1,9}-[0-9a-f]{32}$/.test(text) ? undefined : 'must be one that this list has made',
  offset: () => 'is only for the API: pages have a cursor',
}

/** What an address of the list asks for in vain. */
export const addressIssues = (query: URLSearchParams): readonly AddressIssue[] => [
  ...findAddressIssues(query, rules),
  ...reversed(query, 'from_timestamp', 'to_timestamp'),
  ...reversed(query, 'ended_from', 'ended_to'),
]

function reversed(query: URLSearchParams, from: string, to: string): readonly AddressIssue[] {
  const [begin, end] = [query.get(from) || undefined, query.get(to) || undefined]
  if (begin === undefined || end === undefined || !isMoment(begin) || !isMoment(end)) return []
  return Number(begin) <= Number(end) ? [] : [{ name: from, value: begin, rule: `must not be later than ${to}` }]
}
