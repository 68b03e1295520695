import {
  any,
  anyType,
  bool,
  boolType,
  bytes,
  type GoType,
  inPlace,
  mapType,
  type StructType,
  slice,
  sliceType,
  stringType,
  structType,
  text,
  type Value,
  zeroOf,
} from '../values.ts'
import type { VectorFile } from './vector-file.ts'

type Encoded = Readonly<Record<string, unknown>>

const isObject = (data: unknown): data is Encoded => typeof data === 'object' && data !== null && !Array.isArray(data)

/** Reads data in the encoding of a vector file: JSON, with `$` keys for the types of Go that JSON lacks. */
export function decodeData({ about, datasets }: VectorFile, data: unknown): Value | undefined {
  if (isObject(data) && typeof data.$ref === 'string') return decode(datasets[data.$ref])
  return decode(data)

  function decode(encoded: unknown): Value | undefined {
    if (encoded === null || encoded === undefined) return undefined
    if (typeof encoded === 'boolean') return bool(encoded)
    if (typeof encoded === 'string') return text(encoded)
    if (Array.isArray(encoded)) return slice(anyType, encoded.map(inAny))
    if (!isObject(encoded)) throw new TypeError(`not data of a vector: ${encoded}`)
    const [key = '', content] = Object.entries(encoded)[0] ?? []
    return key.startsWith('$') ? decodeTyped(key.slice(1), content) : decodeObject(encoded)
  }

  function inAny(encoded: unknown): Value {
    return any(decode(encoded) ?? null)
  }

  function decodeObject(encoded: Encoded): Value {
    const entries = Object.entries(encoded).map(([key, value]) => [text(key), inAny(value)] as const)
    return { kind: 'map', type: mapType(stringType, anyType), entries }
  }

  function decodeTyped(kind: string, content: unknown): Value {
    switch (kind) {
      case 'stringBase64':
        return bytes(Buffer.from(String(content), 'base64').toString('latin1'))
      case 'complex': {
        const [re, im] = content as [unknown, unknown]
        return { kind: 'complex128', type: named('complex128'), value: { re: Number(re), im: Number(im) } }
      }
      case 'float':
        return { kind: 'float64', type: named('float64'), value: toNumber(content) }
      case 'float32':
        return { kind: 'float32', type: named('float32'), value: Math.fround(toNumber(content)) }
      case 'map':
      case 'ptr':
      case 'slice':
      case 'struct':
        return decodeComposite(content as Encoded)
    }
    const type = named(kind)
    const zero = zeroOf(type)
    return { ...zero, value: BigInt(content as string | number) } as Value
  }

  function decodeComposite(content: Encoded): Value {
    const type = named(String(content.type))
    const place = (elementType: GoType) => (encoded: unknown) => inPlace(elementType, decode(encoded) ?? null)
    switch (type.kind) {
      case 'map': {
        const entries = content.entries as readonly (readonly [unknown, unknown])[] | null
        const [key, element] = [place(type.key), place(type.element)]
        return { kind: 'map', type, entries: entries?.map(([k, v]) => [key(k), element(v)] as const) ?? null }
      }
      case 'slice': {
        const items = content.items as readonly unknown[] | null
        return { kind: 'slice', type, items: items?.map(place(type.element)) ?? null, rest: [] }
      }
      case 'pointer':
        return { kind: 'pointer', type, to: decode(content.to) ?? null }
      case 'struct': {
        const fields = content.fields as Encoded
        return {
          kind: 'struct',
          type,
          fields: type.fields.map((field) => place(field.type)(fields[Buffer.from(field.name, 'latin1').toString()])),
        }
      }
    }
    throw new TypeError(`not a composite type: ${type.name}`)
  }

  function named(name: string): GoType {
    if (name.startsWith('[]')) return sliceType(named(name.slice(2)))
    if (name.startsWith('*')) return { kind: 'pointer', name, element: lazily(name.slice(1)) }
    if (name.startsWith('map[')) {
      const close = name.indexOf(']')
      return mapType(named(name.slice(4, close)), named(name.slice(close + 1)))
    }
    if (name === 'interface {}' || name === 'any') return anyType
    if (name === 'bool') return boolType
    const fields = about.types[name]
    if (fields) return structOf(name, fields)
    return { kind: name, name } as GoType
  }

  function structOf(name: string, fields: readonly (readonly [string, string])[]): StructType {
    return structType(name, Object.fromEntries(fields.map(([field, type]) => [field, named(type)])))
  }

  /** A struct may hold pointers to its own type. */
  function lazily(name: string): GoType {
    const fields = about.types[name]
    if (!fields) return named(name)
    return {
      kind: 'struct',
      name,
      get fields() {
        return structOf(name, fields).fields
      },
    }
  }
}

const toNumber = (content: unknown) => Number(String(content).replace('Inf', 'Infinity'))
