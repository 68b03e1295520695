import { parse, type Scalar } from 'yaml'

/** Whether readers of YAML 1.1 and 1.2 alike see this very string; a plain `yes` or `1.20` they do not. */
export const isReadAs = (written: string, wanted: string): boolean =>
  parse(written, { version: '1.1' }) === wanted && parse(written, { version: '1.2' }) === wanted

/** In double quotes. JSON's escapes are YAML's; what YAML does not count as printable, JSON leaves as it is. */
export function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** A value as it is written in the place of a scalar: with that one's quotes, and without only where all read a string. */
export function inStyleOf(type: Scalar['type'], value: string): string {
  if (type === 'QUOTE_SINGLE' && /^[ -~]*$/.test(value)) return `'${value.replaceAll("'", "''")}'`
  return type === 'PLAIN' && isPlainString(value) ? value : quoted(value)
}

const word = /^[a-z][\w.+/:@-]*(?<!:)$/i
/** Numbers and times have at most one dot. */
const version = /^\d[\w+-]*(?:\.[\w+-]+){2,}$/
/** Some reader takes each for a boolean, a number or nothing. */
const otherMeaning = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf|infinity)$/i

function isPlainString(value: string): boolean {
  return (word.test(value) || version.test(value)) && !otherMeaning.test(value) && isReadAs(value, value)
}
