import type { AddressIssue } from '../ui/address-issue-notice.tsx'
import { isTimeZone, zoneRule } from '../ui/zoned-time.ts'

export const historyRanges = ['7', '30', '90'] as const
type HistoryRange = (typeof historyRanges)[number]
const usualRange: HistoryRange = '30'

export type HistoryFilters = { readonly days: number; readonly app?: string; readonly project?: string }

/** What `/history` is asked for. */
export type HistoryAddress = HistoryFilters & {
  /** Time zone of the days; undefined: the one that this device shows times in. */
  readonly tz?: string
}

/** Reads an address: what it asks for, and what it asks for in vain. Empty values ask for nothing. */
export function readHistoryAddress(query: URLSearchParams): {
  address: HistoryAddress
  issues: readonly AddressIssue[]
} {
  const issues: AddressIssue[] = []
  const read = (name: string, isValid: (text: string) => boolean, rule: string) => {
    const value = query.get(name) ?? ''
    if (value === '' || isValid(value)) return value
    issues.push({ name, value, rule })
    return ''
  }
  const isShort = (text: string) => text.length <= 255
  const days = read(
    'days',
    (text) => historyRanges.some((range) => range === text),
    `must be one of ${historyRanges.join(', ')}`,
  )
  const app = read('app', isShort, 'must be at most 255 characters long')
  const project = read('project', isShort, 'must be at most 255 characters long')
  const tz = read('tz', isTimeZone, zoneRule)
  return {
    address: {
      days: Number(days || usualRange),
      ...(app !== '' && { app }),
      ...(project !== '' && { project }),
      ...(tz !== '' && { tz }),
    },
    issues,
  }
}

/** The address of the page. */
export function historyAddress({ days, app = '', project = '', tz = '' }: HistoryAddress): string {
  const query = withValues({ days: String(days) === usualRange ? '' : String(days), app, project, tz })
  return query === '' ? '/history' : `/history?${query}`
}

/** The query string of the API. */
export const historyQueryString = ({ days, app = '', project = '' }: HistoryFilters, zone: string): string =>
  withValues({ days: String(days), app, project, tz: zone })

const withValues = (values: Readonly<Record<string, string>>): string =>
  new URLSearchParams(Object.entries(values).filter(([, value]) => value !== '')).toString()
