/** Ids that are numbers have at most so many digits. */
export const largestId = 999_999_999_999_999

/** A UUID, as the service gives to each task. */
export const taskIdPattern = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/

/** Year 9999; PostgreSQL and JavaScript both know the time. */
export const lastSecond = 253_402_300_799
/** What a value that is no such number breaks. */
export const unixSeconds = 'must be a number of Unix seconds'
/** How filters write a moment, from 0 to `lastSecond`; empty for none. */
export const momentPattern = /^(\d{1,20}(\.\d{1,20})?([eE][+-]?\d{1,2})?)?$/

/** Also for names that the runtime accepts but that are no IANA names: `+02:00`, or a date with a zone. */
export function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z][\w+/-]*$/.test(name) && Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch {
    return false
  }
}

/** Control characters, line and paragraph separators and direction marks could fake a second line. */
const breaking = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu

/** A text from outside on one line. */
export const oneLine = (text: string): string => text.replace(breaking, ' ').trim()

/** The beginning of a text, which ends in `…` where some was cut off. */
export const shorten = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength - 1).toWellFormed()}…` : text

/** At most 64 characters of a text from outside, in quotes and on one line. */
export const quote = (text: string): string => JSON.stringify(shorten(text, 64))
