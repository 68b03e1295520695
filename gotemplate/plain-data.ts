import { any, anyType, bool, float, int, mapType, slice, stringType, text, type Value } from './values.ts'

/** Plain data of JSON, with whole numbers as int. Objects are maps, so a key that is missing is no error. */
export type PlainData =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly PlainData[]
  | { readonly [key: string]: PlainData }

export function fromData(data: PlainData): Value | undefined {
  if (data === null) return undefined
  if (typeof data === 'boolean') return bool(data)
  if (typeof data === 'string') return text(data)
  if (typeof data === 'bigint') return int(data)
  if (typeof data === 'number') return Number.isSafeInteger(data) ? int(data) : float(data)
  if (isList(data)) return slice(anyType, data.map(element))
  const entries = Object.entries(data).map(([key, value]) => [text(key), element(value)] as const)
  return { kind: 'map', type: mapType(stringType, anyType), entries }
}

const element = (data: PlainData): Value => any(fromData(data) ?? null)
const isList = (data: PlainData): data is readonly PlainData[] => Array.isArray(data)
