import { type GoString, toBytes } from './bytes.ts'
import type { Complex } from './numbers.ts'

type IntKind = 'int' | 'int8' | 'int16' | 'int32' | 'int64'
type UintKind = 'uint' | 'uint8' | 'uint16' | 'uint32' | 'uint64'
type FloatKind = 'float32' | 'float64'
type ComplexKind = 'complex64' | 'complex128'

type BasicType = {
  readonly name: string
  readonly kind: 'bool' | 'string' | 'interface' | IntKind | UintKind | FloatKind | ComplexKind
}
export type SliceType = { readonly name: string; readonly kind: 'slice'; readonly element: GoType }
export type MapType = { readonly name: string; readonly kind: 'map'; readonly key: GoType; readonly element: GoType }
type PointerType = { readonly name: string; readonly kind: 'pointer'; readonly element: GoType }
export type StructType = {
  readonly name: string
  readonly kind: 'struct'
  readonly fields: readonly { readonly name: GoString; readonly type: GoType; readonly isExported: boolean }[]
}
/** Types are the same where their names are. */
export type GoType = BasicType | SliceType | MapType | PointerType | StructType

export type Bool = { readonly kind: 'bool'; readonly type: GoType; readonly value: boolean }
export type Integer = { readonly kind: IntKind | UintKind; readonly type: GoType; readonly value: bigint }
export type Float = { readonly kind: FloatKind; readonly type: GoType; readonly value: number }
export type ComplexNumber = { readonly kind: ComplexKind; readonly type: GoType; readonly value: Complex }
export type Text = { readonly kind: 'string'; readonly type: GoType; readonly value: GoString }
/** `items` is null in the nil slice; `rest` is what its array holds after them, up to its capacity. */
export type Slice = {
  readonly kind: 'slice'
  readonly type: SliceType
  readonly items: readonly Value[] | null
  readonly rest: readonly Value[]
}
export type MapValue = { readonly kind: 'map'; readonly type: MapType; readonly entries: readonly MapEntry[] | null }
export type MapEntry = readonly [key: Value, value: Value]
type Struct = { readonly kind: 'struct'; readonly type: StructType; readonly fields: readonly Value[] }
type Pointer = { readonly kind: 'pointer'; readonly type: PointerType; readonly to: Value | null }
/** A value as an element of a list, map or struct of interface {}. */
export type Interface = { readonly kind: 'interface'; readonly type: GoType; readonly of: Value | null }

/** A value of Go, with its type. Where a value may be missing (the zero reflect.Value) it is undefined. */
export type Value = Bool | Integer | Float | ComplexNumber | Text | Slice | MapValue | Struct | Pointer | Interface

const basicType = <Kind extends BasicType['kind']>(kind: Kind) => ({ kind, name: kind })
export const boolType: GoType = basicType('bool')
const intType: GoType = basicType('int')
export const byteType: GoType = basicType('uint8')
const float64Type: GoType = basicType('float64')
export const complexType: GoType = basicType('complex128')
export const stringType: GoType = basicType('string')
export const anyType: GoType = { kind: 'interface', name: 'interface {}' }

export const sliceType = (element: GoType): SliceType => ({ kind: 'slice', name: `[]${element.name}`, element })
export const mapType = (key: GoType, element: GoType): MapType => ({
  kind: 'map',
  name: `map[${key.name}]${element.name}`,
  key,
  element,
})

export const bool = (value: boolean): Bool => ({ kind: 'bool', type: boolType, value })
export const int = (value: bigint | number): Integer => ({ kind: 'int', type: intType, value: BigInt(value) })
export const float = (value: number): Float => ({ kind: 'float64', type: float64Type, value })
export const bytes = (value: GoString): Text => ({ kind: 'string', type: stringType, value })
export const text = (value: string): Text => bytes(toBytes(value))
export const any = (of: Value | null): Interface => ({ kind: 'interface', type: anyType, of })

export const slice = (element: GoType, items: readonly Value[] | null): Slice => ({
  kind: 'slice',
  type: sliceType(element),
  items,
  rest: [],
})

export function structType(name: string, fields: Readonly<Record<string, GoType>>): StructType {
  const described = Object.entries(fields).map(([field, type]) => ({
    name: toBytes(field),
    type,
    isExported: /^\p{Lu}/u.test(field),
  }))
  return { kind: 'struct', name, fields: described }
}

/** The value as one of a place of that type: there only interface {} holds values of several types. */
export const inPlace = (type: GoType, value: Value | null): Value =>
  type.kind === 'interface' && value?.kind !== 'interface' ? any(value) : (value ?? zeroOf(type))

export function zeroOf(type: GoType): Value {
  switch (type.kind) {
    case 'bool':
      return { kind: type.kind, type, value: false }
    case 'string':
      return { kind: type.kind, type, value: '' }
    case 'interface':
      return { kind: type.kind, type, of: null }
    case 'slice':
      return { kind: type.kind, type, items: null, rest: [] }
    case 'map':
      return { kind: type.kind, type, entries: null }
    case 'pointer':
      return { kind: type.kind, type, to: null }
    case 'struct':
      return { kind: type.kind, type, fields: type.fields.map((field) => zeroOf(field.type)) }
    case 'float32':
    case 'float64':
      return { kind: type.kind, type, value: 0 }
    case 'complex64':
    case 'complex128':
      return { kind: type.kind, type, value: { re: 0, im: 0 } }
    default:
      return { kind: type.kind, type, value: 0n }
  }
}

const intKinds: ReadonlySet<string> = new Set(['int', 'int8', 'int16', 'int32', 'int64'])
const uintKinds: ReadonlySet<string> = new Set(['uint', 'uint8', 'uint16', 'uint32', 'uint64'])
export const isInt = (value: Value | undefined): value is Integer => value !== undefined && intKinds.has(value.kind)
export const isUint = (value: Value | undefined): value is Integer => value !== undefined && uintKinds.has(value.kind)
export const isInteger = (value: Value | undefined): value is Integer => isInt(value) || isUint(value)
export const isFloat = (value: Value | undefined): value is Float =>
  value?.kind === 'float32' || value?.kind === 'float64'
export const isComplex = (value: Value | undefined): value is ComplexNumber =>
  value?.kind === 'complex64' || value?.kind === 'complex128'

/** A value itself where it lies in an interface {}. */
export const unwrap = (value: Value | undefined): Value | undefined =>
  value?.kind === 'interface' ? (value.of ?? undefined) : value

/** What pointers and interfaces lead to; a nil one of them is where that ends. */
export function indirect(value: Value | undefined): { value: Value | undefined; isNil: boolean } {
  let reached = value
  while (reached?.kind === 'pointer' || reached?.kind === 'interface') {
    const next = reached.kind === 'pointer' ? reached.to : reached.of
    if (next === null) return { value: reached, isNil: true }
    reached = next
  }
  return { value: reached, isNil: false }
}

export function isNil(value: Value | undefined): boolean {
  switch (value?.kind) {
    case undefined:
      return true
    case 'slice':
      return value.items === null
    case 'map':
      return value.entries === null
    case 'pointer':
      return value.to === null
    case 'interface':
      return value.of === null
    default:
      return false
  }
}

/** Whether `if`, `and` and their like take a value for true: one that is not empty. */
export function isTrue(wrapped: Value | undefined): boolean {
  const value = unwrap(wrapped)
  if (value === undefined) return false
  switch (value.kind) {
    case 'bool':
      return value.value
    case 'string':
      return value.value !== ''
    case 'slice':
      return (value.items ?? []).length > 0
    case 'map':
      return (value.entries ?? []).length > 0
    case 'struct':
      return true
    case 'pointer':
    case 'interface':
      return !isNil(value)
    case 'complex64':
    case 'complex128':
      return value.value.re !== 0 || value.value.im !== 0
    case 'float32':
    case 'float64':
      return value.value !== 0
    default:
      return value.value !== 0n
  }
}

/** A map's entries in the order of their keys. */
export function sortedEntries({ entries }: MapValue): readonly MapEntry[] {
  return [...(entries ?? [])].sort(([a], [b]) => compareKeys(a, b))
}

function compareKeys(a: Value, b: Value): number {
  if (a.kind === 'interface' && b.kind === 'interface') {
    if (a.of === null || b.of === null) return Number(b.of === null) - Number(a.of === null)
    return compareKeys(a.of, b.of)
  }
  if (a.type.name !== b.type.name) return order(a.type.name, b.type.name)
  if (a.kind === 'string' && b.kind === 'string') return order(a.value, b.value)
  if (isInteger(a) && isInteger(b)) return order(a.value, b.value)
  if (a.kind === 'bool' && b.kind === 'bool') return order(Number(a.value), Number(b.value))
  if (isFloat(a) && isFloat(b)) return Number.isNaN(a.value) ? -1 : order(a.value, b.value)
  if (isComplex(a) && isComplex(b)) return order(a.value.re, b.value.re) || order(a.value.im, b.value.im)
  if (a.kind === 'struct' && b.kind === 'struct') {
    for (const [index, field] of a.fields.entries()) {
      const compared = compareKeys(field, b.fields[index] ?? field)
      if (compared !== 0) return compared
    }
  }
  return 0
}

const order = <T extends string | number | bigint>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0)
