import { isTimeZone } from '../../../contract/fields.ts'

/** A part of the address that asks for nothing the page has; the rule follows `name=value`. */
export type AddressIssue = { readonly name: string; readonly value: string; readonly rule: string }

/** What a value breaks; undefined for one that the page can use. */
type AddressRule = (value: string) => string | undefined

/** A name, or a part of a text. */
export function textRule(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain a NUL character'
  return text.length > 255 ? 'must be at most 255 characters long' : undefined
}

export const zoneRule: AddressRule = (zone) =>
  isTimeZone(zone) ? undefined : 'must be the name of a time zone, such as Europe/Stockholm'

export const oneOf =
  (values: readonly string[]): AddressRule =>
  (value) =>
    values.includes(value) ? undefined : `must be one of ${values.join(', ')}`

/** What an address asks for in vain; empty values ask for nothing. */
export const findAddressIssues = (
  query: URLSearchParams,
  rules: Readonly<Record<string, AddressRule>>,
): readonly AddressIssue[] =>
  Object.entries(rules).flatMap(([name, ruleOf]) => {
    const value = query.get(name) ?? ''
    const rule = value === '' ? undefined : ruleOf(value)
    return rule === undefined ? [] : [{ name, value, rule }]
  })

/** The query string without what is in vain: what the page shows. */
export function withoutIssues(query: URLSearchParams, issues: readonly AddressIssue[]): URLSearchParams {
  const names = new Set(issues.map(({ name }) => name))
  return new URLSearchParams([...query].filter(([name]) => !names.has(name)))
}
