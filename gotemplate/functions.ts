import type { GoString } from './bytes.ts'
import { equalsAny, FunctionError, isLess } from './compare.ts'
import { escapeHtml, escapeJs, escapeQuery } from './escape.ts'
import { type Meter, sprint, sprintf, sprintln } from './printer.ts'
import {
  bool,
  bytes,
  byteType,
  type GoType,
  indirect,
  inPlace,
  int,
  isInt,
  isInteger,
  isTrue,
  type MapValue,
  type Slice,
  unwrap,
  type Value,
  zeroOf,
} from './values.ts'

/** What a function takes: any value as it is, a value out of its interface, or a string. */
export type ParameterType = 'value' | 'any' | 'string'

export type BuiltinFunction = {
  readonly parameters: readonly ParameterType[]
  /** The type of any number of arguments more. */
  readonly variadic?: ParameterType
  readonly call: (values: readonly (Value | undefined)[], meter: Meter) => Value | undefined
}

/** `and`, `or` and `call` are evaluated by the engine: these are their parameters. */
const evaluatedElsewhere: BuiltinFunction = { parameters: ['value'], variadic: 'value', call: () => undefined }

const comparison = (
  compare: (a: Value | undefined, b: Value | undefined, meter: Meter) => boolean,
): BuiltinFunction => ({
  parameters: ['value', 'value'],
  call: ([a, b], meter) => bool(compare(a, b, meter)),
})

const escaper = (apply: (text: GoString) => GoString): BuiltinFunction => ({
  parameters: [],
  variadic: 'any',
  call: (values, meter) => {
    const escaped = apply(textOf(values, meter))
    meter(escaped.length)
    return bytes(escaped)
  },
})

export const builtins: ReadonlyMap<string, BuiltinFunction> = new Map<string, BuiltinFunction>([
  ['and', evaluatedElsewhere],
  ['or', evaluatedElsewhere],
  ['call', evaluatedElsewhere],
  ['not', { parameters: ['value'], call: ([value]) => bool(!isTrue(value)) }],
  ['len', { parameters: ['value'], call: ([value]) => int(lengthOf(value)) }],
  ['index', { parameters: ['value'], variadic: 'value', call: ([item, ...at]) => index(item, at) }],
  ['slice', { parameters: ['value'], variadic: 'value', call: ([item, ...at]) => sliceOf(item, at) }],
  ['print', { parameters: [], variadic: 'any', call: (values, meter) => bytes(sprint(values, meter)) }],
  ['println', { parameters: [], variadic: 'any', call: (values, meter) => bytes(sprintln(values, meter)) }],
  [
    'printf',
    {
      parameters: ['string'],
      variadic: 'any',
      call: ([format, ...values], meter) =>
        bytes(sprintf(format?.kind === 'string' ? format.value : '', values, meter)),
    },
  ],
  ['html', escaper(escapeHtml)],
  ['js', escaper(escapeJs)],
  ['urlquery', escaper(escapeQuery)],
  [
    'eq',
    {
      parameters: ['value'],
      variadic: 'value',
      call: ([first, ...others], meter) => bool(equalsAny(first, others, meter)),
    },
  ],
  ['ne', comparison((a, b, meter) => !equalsAny(a, [b], meter))],
  ['lt', comparison(isLess)],
  ['le', comparison(isLessOrEqual)],
  ['gt', comparison((a, b, meter) => !isLessOrEqual(a, b, meter))],
  ['ge', comparison((a, b) => !isLess(a, b))],
])

function isLessOrEqual(a: Value | undefined, b: Value | undefined, meter: Meter): boolean {
  return isLess(a, b) || equalsAny(a, [b], meter)
}

/** Go's evalArgs: what the escaping functions escape. */
function textOf(values: readonly (Value | undefined)[], meter: Meter): GoString {
  const [only] = values.map(unwrap)
  if (values.length === 1 && only?.kind === 'string') return only.value
  return sprint(
    values.map((value) => printable(unwrap(value))),
    meter,
  )
}

/** What an action prints of a value: what a pointer leads to, and `<no value>` where there is none. */
export function printable(value: Value | undefined): Value {
  const shown = value?.kind === 'pointer' ? indirect(value).value : value
  return shown ?? bytes('<no value>')
}

function lengthOf(wrapped: Value | undefined): number {
  const { value, isNil } = indirect(wrapped)
  if (isNil) throw new FunctionError('len of nil pointer')
  if (value === undefined) throw new FunctionError('reflect: call of reflect.Value.Type on zero Value')
  const length = countOf(value)
  if (length === undefined) throw new FunctionError(`len of type ${value.type.name}`)
  return length
}

function countOf(value: Value): number | undefined {
  if (value.kind === 'string') return value.value.length
  if (value.kind === 'slice') return value.items?.length ?? 0
  return value.kind === 'map' ? (value.entries?.length ?? 0) : undefined
}

function index(wrapped: Value | undefined, indexes: readonly (Value | undefined)[]): Value | undefined {
  let item = unwrap(wrapped)
  if (item === undefined) throw new FunctionError('index of untyped nil')
  for (const wrappedIndex of indexes) {
    const at = unwrap(wrappedIndex)
    const target = indirect(item)
    if (target.isNil) throw new FunctionError('index of nil pointer')
    item = elementOf(target.value, at)
  }
  return item
}

function elementOf(item: Value | undefined, at: Value | undefined): Value {
  if (item?.kind === 'map') return lookUp(item, at)
  if (item?.kind !== 'slice' && item?.kind !== 'string')
    throw new FunctionError(`can't index item of type ${item?.type.name}`)
  const position = indexArgument(at, countOf(item) ?? 0)
  const element = item.kind === 'slice' ? item.items?.[position] : byteAt(item.value, position)
  if (element === undefined) throw new FunctionError(`reflect: ${item.kind} index out of range`)
  return element
}

function byteAt(text: GoString, position: number): Value | undefined {
  if (position >= text.length) return undefined
  return { kind: 'uint8', type: byteType, value: BigInt(text.charCodeAt(position)) }
}

function lookUp(map: MapValue, at: Value | undefined): Value {
  const key = asKey(at, map.type.key)
  const entry = map.entries?.find(([candidate]) => equalsKey(candidate, key))
  return entry?.[1] ?? zeroOf(map.type.element)
}

function asKey(value: Value | undefined, type: GoType): Value {
  if (value === undefined && type.kind !== 'interface' && type.kind !== 'pointer')
    throw new FunctionError(`value is nil; should be of type ${type.name}`)
  const key = inPlace(type, value ?? null)
  if (key.type.name === type.name) return key
  if (isInteger(key) && isInteger(zeroOf(type))) return convertInteger(key.value, type)
  throw new FunctionError(`value has type ${key.type.name}; should be ${type.name}`)
}

function convertInteger(value: bigint, type: GoType): Value {
  const zero = zeroOf(type)
  if (!isInteger(zero)) return zero
  const bits = Number(/\d+$/.exec(type.kind)?.[0] ?? 64)
  return { ...zero, value: isInt(zero) ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value) }
}

function equalsKey(a: Value, b: Value): boolean {
  const [left, right] = [unwrap(a), unwrap(b)]
  if (left === undefined || right === undefined) return left === right
  return left.type.name === right.type.name && equalsAny(left, [right], () => {})
}

function indexArgument(at: Value | undefined, capacity: number): number {
  if (at === undefined) throw new FunctionError('cannot index slice/array with nil')
  if (!isInteger(at)) throw new FunctionError(`cannot index slice/array with type ${at.type.name}`)
  const position = BigInt.asIntN(64, at.value)
  if (position < 0n || position > BigInt(capacity)) throw new FunctionError(`index out of range: ${position}`)
  return Number(position)
}

function sliceOf(wrapped: Value | undefined, indexes: readonly (Value | undefined)[]): Value {
  const unwrapped = unwrap(wrapped)
  if (unwrapped === undefined) throw new FunctionError('slice of untyped nil')
  const { value: item, isNil } = indirect(unwrapped)
  if (isNil) throw new FunctionError('slice of nil pointer')
  if (indexes.length > 3) throw new FunctionError(`too many slice indexes: ${indexes.length}`)
  if (item?.kind === 'string' && indexes.length === 3) throw new FunctionError('cannot 3-index slice a string')
  if (item?.kind !== 'slice' && item?.kind !== 'string')
    throw new FunctionError(`can't slice item of type ${item?.type.name}`)
  const length = countOf(item) ?? 0
  const capacity = item.kind === 'slice' ? length + item.rest.length : length
  const given = indexes.map((at) => indexArgument(at, capacity))
  const [from = 0, to = length, max = capacity] = given
  if (from > to) throw new FunctionError(`invalid slice index: ${from} > ${to}`)
  if (to > max) throw new FunctionError(`invalid slice index: ${to} > ${max}`)
  return item.kind === 'string' ? { ...item, value: item.value.slice(from, to) } : shorten(item, from, to, max)
}

function shorten(item: Slice, from: number, to: number, max: number): Slice {
  const all = [...(item.items ?? []), ...item.rest]
  return { ...item, items: item.items === null ? null : all.slice(from, to), rest: all.slice(to, max) }
}
