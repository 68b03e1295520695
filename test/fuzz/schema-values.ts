import * as fc from 'fast-check'
import type { Schema } from './api-document.ts'

const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_ é漢😀\u200f\u202e&<>"\'\\`$({;#']
/** Long enough that two of them are never the same, which a submission may forbid. */
const text = fc.array(fc.constantFrom(...letters), { minLength: 6, maxLength: 40 }).map((parts) => `x${parts.join('')}`)

/** Values that a schema allows. */
export function validValue(schema: Schema): fc.Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(validValue))
  switch ([schema.type].flat()[0]) {
    case 'object':
      return validObject(schema)
    case 'array':
      return fc.array(validValue(schema.items ?? {}), { minLength: schema.minItems ?? 0, maxLength: 4 })
    case 'string':
      return schema.pattern && schema.maxLength === undefined ? fc.stringMatching(new RegExp(schema.pattern)) : text
    case 'integer':
      return fc.integer({ min: Math.max(schema.minimum ?? -1e9, -1e9), max: Math.min(schema.maximum ?? 1e9, 1e9) })
    case 'number':
      return numberUpTo(schema)
    case 'boolean':
      return fc.boolean()
    default:
      return fc.constant(null)
  }
}

/** Times must be in the future, so numbers are taken from the end of what is allowed. */
function numberUpTo({ minimum = 0, maximum = 1e9 }: Schema): fc.Arbitrary<number> {
  return fc.integer({ min: Math.max(minimum, maximum - 1e9), max: maximum })
}

/** Of a deploy token, which no schema says. */
const withinAYear = fc.integer({ min: 60, max: 365 * 86_400 }).map((seconds) => Math.floor(Date.now() / 1000) + seconds)

function validObject({ properties = {}, required = [] }: Schema): fc.Arbitrary<unknown> {
  const parts = Object.entries(properties).map(
    ([name, schema]) => [name, name === 'expires' ? withinAYear : validValue(schema)] as const,
  )
  return fc.record(Object.fromEntries(parts), { requiredKeys: [...required] })
}

type Broken = { readonly what: string; readonly value: unknown }

/** Every way in which one place of a valid value can break its schema; a property that is left out is `undefined`. */
export function brokenValues(schema: Schema, value: unknown, at = 'body'): Broken[] {
  const wrongKinds = kindsOf(schema).map((wrong) => ({ what: `${at} is ${JSON.stringify(wrong)}`, value: wrong }))
  if (Array.isArray(value)) return [...wrongKinds, ...brokenArrays(schema, value, at)]
  if (typeof value === 'object' && value !== null) return [...wrongKinds, ...brokenObjects(schema, value, at)]
  if (typeof value === 'string' && schema.maxLength !== undefined)
    return [
      ...wrongKinds,
      { what: `${at} is too long`, value: 'a'.repeat(schema.maxLength + 1) },
      ...againstPattern(schema, at),
    ]
  if (typeof value === 'number' && schema.minimum !== undefined && schema.type === 'number')
    return [...wrongKinds, { what: `${at} is too small`, value: schema.minimum - 1 }]
  return wrongKinds
}

function againstPattern({ pattern }: Schema, at: string): Broken[] {
  const odd = ['', ' ', 'a\tb', '\u0085', 'a%b']
  return odd
    .filter((text) => pattern !== undefined && !new RegExp(pattern).test(text))
    .map((value) => ({ what: `${at} is ${JSON.stringify(value)}`, value }))
}

/** One value of every kind that the schema does not allow. */
function kindsOf({ type, anyOf }: Schema): unknown[] {
  const allowed = new Set([...[type ?? []].flat(), ...(anyOf ?? []).flatMap((one) => [one.type ?? []].flat())])
  if (allowed.has('number')) allowed.add('integer')
  const samples: [string, unknown][] = [
    ['null', null],
    ['boolean', true],
    ['integer', 7],
    ['number', 1.5],
    ['string', 'x'],
    ['array', []],
    ['object', {}],
  ]
  return samples.filter(([kind]) => !allowed.has(kind)).map(([, sample]) => sample)
}

function brokenArrays({ items = {}, minItems = 0, maxItems }: Schema, value: readonly unknown[], at: string): Broken[] {
  const [first] = value
  if (first === undefined) return []
  return [
    ...(minItems > 0 ? [{ what: `${at} is empty`, value: [] }] : []),
    ...(maxItems === undefined ? [] : [{ what: `${at} is too long`, value: Array(maxItems + 1).fill(first) }]),
    ...brokenValues(items, first, `${at}[0]`).map((broken) => ({ ...broken, value: value.with(0, broken.value) })),
  ]
}

function brokenObjects({ properties = {}, required = [] }: Schema, value: object, at: string): Broken[] {
  const missing = required.map((name) => ({ what: `${at}.${name} is missing`, value: { ...value, [name]: undefined } }))
  const wrong = Object.entries(value).flatMap(([name, part]) =>
    brokenValues(properties[name] ?? { type: [] }, part, `${at}.${name}`).map((broken) => ({
      what: broken.what,
      value: { ...value, [name]: broken.value },
    })),
  )
  return [...missing, ...wrong]
}

/** Texts that a parameter's schema forbids; none where every text will do. */
export function brokenTexts({ type, maxLength, pattern, enum: choices }: Schema): string[] {
  const odd = ['', ' ', 'abc', '-', '1.5.5', '0x10', '1e300', '9'.repeat(40), '١', "' OR 1=1--", '\0', '\ud83d\ude00']
  if (maxLength !== undefined) return ['a'.repeat(maxLength + 1), '\0']
  if (choices) return odd.filter((one) => one !== '' && !choices.includes(one)) // an empty one counts as absent
  if (type === 'number') return odd.filter((one) => one !== '') // an empty one may count as absent
  return pattern === undefined ? [] : odd.filter((one) => !new RegExp(pattern).test(one))
}
