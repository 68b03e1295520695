import { oneLine } from '../../contract/fields.ts'

/** Begin or end something in Markdown, also inside a line. */
const marks = /[\\`*_[\]<>#|~&$]/g
/** GitHub makes links of bare addresses: `https://…` and `www.…`. */
const addresses = /:(?=\/\/)|(?<=\bwww)\./gi

/**
 * A text of others inside a line of Markdown. It must not begin the line, since `1.`, `-` and `=` mean something there.
 * Source: https://github.github.com/gfm/#backslash-escapes
 */
export const escapeMarkdown = (text: string): string => oneLine(text).replace(marks, '\\$&').replace(addresses, '\\$&')

/** A link with words of ours; '' where a browser should not open the address. */
export function linkTo(words: string, address: string): string {
  if (!URL.canParse(address)) return ''
  const { protocol, href } = new URL(address)
  return /^https?:$/.test(protocol) ? `[${words}](<${href.replace(/[<>\\]/g, encodeURIComponent)}>)` : ''
}
