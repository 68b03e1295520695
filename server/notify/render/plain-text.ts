import { oneLine } from '../../../contract/fields.ts'

/** Well-formed, on one line, without control characters and marks of direction. */
export const plain = (text: string): string => oneLine(text.toWellFormed())

/** The beginning of a text, which ends in `…` where some was cut off; never half a character. */
export function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  return `${text.slice(0, Math.max(0, maxLength - 1)).replace(/[\ud800-\udbff]$/, '')}…`
}

/** The text escaped to at most `maxLength` characters. It is cut before it is escaped, so no escape is split. */
export function escapeWithin(text: string, maxLength: number, escaper: (text: string) => string): string {
  let kept = plain(text)
  for (let room = maxLength; ; room = Math.floor(kept.length * 0.9)) {
    kept = cut(kept, room)
    const escaped = escaper(kept)
    if (escaped.length <= maxLength) return escaped
  }
}

/** The newest lines of a log that fit, oldest first, without empty ones. */
export function lastLines(lines: readonly string[], maxLength: number): readonly string[] {
  const kept: string[] = []
  let length = 0
  for (const line of lines.toReversed()) {
    const shown = cut(plain(line), maxLogLineLength)
    if (shown === '') continue
    length += shown.length + 1
    if (length > maxLength) break
    kept.unshift(shown)
  }
  return kept
}

const maxLogLineLength = 300

/** Longer addresses are left out: half of one is useless. */
const maxUrlLength = 500

/**
 * An address that a message may link to. Characters that would end the link in one of the formats are percent-encoded.
 * Undefined for schemes other than http and https, and for an address with a user name, which may look like a host.
 */
export function webAddress(address: string): string | undefined {
  const url = URL.parse(address)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined
  const href = url.href.replace(/[^\w\-./:?#&=%+,~$!]/g, (one) => percentEncoded(one))
  return href.length > maxUrlLength ? undefined : href
}

/** `encodeURIComponent` leaves brackets and the asterisk. */
const percentEncoded = (character: string) =>
  /[!'()*]/.test(character) ? `%${character.charCodeAt(0).toString(16).toUpperCase()}` : encodeURIComponent(character)
