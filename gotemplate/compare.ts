import { describe, type Meter } from './printer.ts'
import { type GoType, isComplex, isFloat, isInt, isNil, isUint, unwrap, type Value } from './values.ts'

/** What a function of the template fails with, in Go's words. */
export class FunctionError extends Error {
  override readonly name = 'FunctionError'
}

type BasicKind = 'bool' | 'int' | 'uint' | 'float' | 'complex' | 'string'

function basicKind(value: Value | undefined): BasicKind | undefined {
  if (value?.kind === 'bool' || value?.kind === 'string') return value.kind
  if (isInt(value)) return 'int'
  if (isUint(value)) return 'uint'
  if (isFloat(value)) return 'float'
  return isComplex(value) ? 'complex' : undefined
}

/** Whether the first equals any of the others. */
export function equalsAny(wrapped: Value | undefined, others: readonly (Value | undefined)[], meter: Meter): boolean {
  const first = unwrap(wrapped)
  if (others.length === 0) throw new FunctionError('missing argument for comparison')
  return others.some((other) => equals(first, unwrap(other), meter))
}

function equals(a: Value | undefined, b: Value | undefined, meter: Meter): boolean {
  const [kindA, kindB] = [basicKind(a), basicKind(b)]
  if (isInteger(kindA) && isInteger(kindB)) return numberOf(a) === numberOf(b)
  if (kindA !== kindB) {
    if (a === undefined || b === undefined) return false
    throw incompatible(a, b)
  }
  if (kindA !== undefined) return isSameBasic(a, b)
  if (a !== undefined && b !== undefined && a.kind !== b.kind) {
    const [left, right] = [describe(a, 's', meter), describe(b, 'v', meter)]
    throw new FunctionError(`non-comparable types ${left}: ${a.type.name}, ${b.type.name}: ${right}`)
  }
  if (isNil(a) || isNil(b)) return isNil(a) === isNil(b)
  if (a === undefined || b === undefined) return false
  if (!isComparable(b.type)) throw new FunctionError(`non-comparable type ${describe(b, 's', meter)}: ${b.type.name}`)
  return isSame(a, b)
}

const isInteger = (kind: BasicKind | undefined) => kind === 'int' || kind === 'uint'
const numberOf = (value: Value | undefined) => (value !== undefined && 'value' in value ? value.value : undefined)

function incompatible(a: Value, b: Value): FunctionError {
  return new FunctionError(`incompatible types for comparison: ${a.type.name} and ${b.type.name}`)
}

function isSameBasic(a: Value | undefined, b: Value | undefined): boolean {
  if (isComplex(a) && isComplex(b)) return a.value.re === b.value.re && a.value.im === b.value.im
  return numberOf(a) === numberOf(b)
}

function isComparable(type: GoType): boolean {
  if (type.kind === 'slice' || type.kind === 'map') return false
  return type.kind !== 'struct' || type.fields.every((field) => isComparable(field.type))
}

/** Go's == of two interfaces. */
function isSame(a: Value, b: Value): boolean {
  if (a.type.name !== b.type.name) return false
  if (a.kind === 'pointer' && b.kind === 'pointer') return a.to === b.to
  if (a.kind === 'interface' && b.kind === 'interface')
    return a.of === null || b.of === null ? a.of === b.of : isSame(a.of, b.of)
  if (a.kind === 'struct' && b.kind === 'struct')
    return a.fields.every((field, index) => isSame(field, b.fields[index] ?? field))
  if (!isComparable(a.type)) throw new FunctionError(`runtime error: comparing uncomparable type ${a.type.name}`)
  return isSameBasic(a, b)
}

export function isLess(wrappedA: Value | undefined, wrappedB: Value | undefined): boolean {
  const [a, b] = [unwrap(wrappedA), unwrap(wrappedB)]
  const [kindA, kindB] = [basicKind(a), basicKind(b)]
  if (a === undefined || b === undefined || kindA === undefined || kindB === undefined) throw badComparison()
  if (kindA !== kindB && !(isInteger(kindA) && isInteger(kindB))) throw incompatible(a, b)
  if (kindA === 'bool' || kindA === 'complex') throw badComparison()
  const [left, right] = [numberOf(a), numberOf(b)]
  return left != null && right != null && left < right
}

const badComparison = () => new FunctionError('invalid type for comparison')
