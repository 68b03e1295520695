/** Control characters, line and paragraph separators and direction marks could fake a second line. */
const breaking = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu

/** A text from outside on one line. */
export const oneLine = (text: string): string => text.replace(breaking, ' ').trim()

/** The beginning of a text, which ends in `…` where some was cut off. */
export const shorten = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength - 1).toWellFormed()}…` : text

/** At most 64 characters of a text from outside, in quotes and on one line. */
export const quote = (text: string): string => JSON.stringify(shorten(text, 64))
