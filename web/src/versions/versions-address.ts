import { type AddressIssue, findAddressIssues, oneOf, textRule, withoutIssues } from '../ui/address-issues.ts'

/** What `/versions` is asked for. */
export type VersionsFilters = { readonly search: string; readonly isOnlyDrift: boolean }

/** Reads an address: what it asks for, and what it asks for in vain. */
export function readVersionsAddress(asked: URLSearchParams): {
  filters: VersionsFilters
  issues: readonly AddressIssue[]
} {
  const issues = findAddressIssues(asked, { search: textRule, drift: oneOf(['true', 'false']) })
  const query = withoutIssues(asked, issues)
  return { filters: { search: query.get('search') ?? '', isOnlyDrift: query.get('drift') === 'true' }, issues }
}

/** The query string, in the page's address and in the API's alike. */
export const versionsQuery = ({ search, isOnlyDrift }: VersionsFilters): string =>
  new URLSearchParams({ ...(search === '' ? {} : { search }), ...(isOnlyDrift ? { drift: 'true' } : {}) }).toString()

/** The address of the page. */
export function versionsAddress(filters: VersionsFilters): string {
  const query = versionsQuery(filters)
  return query === '' ? '/versions' : `/versions?${query}`
}
