import { type AddressIssue, findAddressIssues, oneOf, textRule, withoutIssues, zoneRule } from '../ui/address-issues.ts'

export const historyRanges = ['7', '30', '90'] as const
type HistoryRange = (typeof historyRanges)[number]
const usualRange: HistoryRange = '30'

export type HistoryFilters = {
  readonly days: number
  readonly app?: string
  readonly project?: string
  readonly environment?: string
}

/** What `/history` is asked for. */
export type HistoryAddress = HistoryFilters & {
  /** The time zone that the address asks for. */
  readonly tz?: string
}

const rules = { days: oneOf(historyRanges), app: textRule, project: textRule, environment: textRule, tz: zoneRule }

/** Reads an address: what it asks for, and what it asks for in vain. Empty values ask for nothing. */
export function readHistoryAddress(asked: URLSearchParams): {
  address: HistoryAddress
  issues: readonly AddressIssue[]
} {
  const issues = findAddressIssues(asked, rules)
  const query = withoutIssues(asked, issues)
  const given = (['app', 'project', 'environment', 'tz'] as const).flatMap((name) => {
    const value = query.get(name)
    return value ? [[name, value] as const] : []
  })
  return { address: { days: Number(query.get('days') || usualRange), ...Object.fromEntries(given) }, issues }
}

/** The address of the page. */
export function historyAddress({ days, app = '', project = '', environment = '', tz = '' }: HistoryAddress): string {
  const query = withValues({ days: String(days) === usualRange ? '' : String(days), app, project, environment, tz })
  return query === '' ? '/history' : `/history?${query}`
}

/** The query string of the API. */
export const historyQueryString = (
  { days, app = '', project = '', environment = '' }: HistoryFilters,
  zone: string,
): string => withValues({ days: String(days), app, project, environment, tz: zone })

const withValues = (values: Readonly<Record<string, string>>): string =>
  new URLSearchParams(Object.entries(values).filter(([, value]) => value !== '')).toString()
