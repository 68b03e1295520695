import { z } from 'zod'
import { lastSecond } from './fields.ts'

const controls = '\\x00-\\x1f\\x7f-\\x9f'
const patternWithout = (characters: string) => `^[^${characters}]*[^\\s${characters}][^${characters}]*$`

/**
 * 1 to `longest` characters, none of them a control character or one of `forbidden`; blanks alone are nothing. The pattern
 * stands in the API document and says the same, so that a generated client can tell before it asks.
 */
export const line = (longest: number, forbidden = '') =>
  z
    .string()
    .max(longest, `must be at most ${longest} characters long`)
    .refine((text) => text.trim().length > 0, 'must not be empty')
    .refine((text) => !/\p{Cc}/u.test(text), 'must not contain control characters')
    .refine((text) => text.isWellFormed(), 'must be well-formed Unicode')
    .refine((text) => ![...forbidden].some((one) => text.includes(one)), `must not contain '${forbidden}'`)
    .meta({ minLength: 1, pattern: patternWithout(controls + forbidden) })

/** A filter: exactly this, or a part of a text. */
export const textFilter = z
  .string()
  .max(255, 'must be at most 255 characters long')
  .refine((text) => !text.includes('\0'), 'must not contain a NUL character')
  .meta({ pattern: '^[^\\x00]*$' })
  .optional()

// By `format` generated clients choose their types: without it some take 32 bits for a time, and miss it by a minute.

export const wholeNumber = z.number().meta({ type: 'integer', format: 'int64' })
export const decimalNumber = z.number().meta({ format: 'double' })
export const epochSeconds = decimalNumber.describe('Unix seconds with a fraction')

export const futureSeconds = decimalNumber
  .min(0, 'must be epoch seconds')
  .max(lastSecond, 'must be epoch seconds')
  .describe('Unix seconds, in the future')

/**
 * One of some words to which later versions add; no client may fail at one that it does not know. Neither does this version
 * where a newer replica stored it: the type has the words that this version writes, answers pass on all.
 */
export const extensibleEnum = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.string().meta({ 'x-extensible-enum': [...words] }) as z.ZodType<Words[number], Words[number]>
