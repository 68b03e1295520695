import { parse } from 'yaml'
import { refuseCostly } from './yaml-limits.ts'

const maxIndicators = 20_000
const maxDepth = 20

/** The paths of the values that a source or an override file gives to Helm inline: they win over those of files. */
export function inlineValueNames(valuesObject: unknown, values: unknown): readonly string[] {
  return [...leavesOf(valuesObject), ...leavesOf(typeof values === 'string' ? parsed(values) : undefined)]
}

/** What cannot be read sets nothing that is known. */
function parsed(values: string): unknown {
  try {
    refuseCostly(values, maxIndicators)
    return parse(values, { uniqueKeys: false, maxAliasCount: 100 })
  } catch {
    return undefined
  }
}

function leavesOf(data: unknown, path = '', depth = 0): readonly string[] {
  if (depth > maxDepth) return []
  if (Array.isArray(data)) return data.flatMap((item, at) => leavesOf(item, `${path}[${at}]`, depth + 1))
  const entries = data instanceof Map ? [...data] : isObject(data) ? Object.entries(data) : undefined
  if (entries === undefined) return path === '' ? [] : [path]
  return entries.flatMap(([key, value]) => {
    const name = String(key).replaceAll('.', '\\.')
    return leavesOf(value, path === '' ? name : `${path}.${name}`, depth + 1)
  })
}

const isObject = (data: unknown): data is object => typeof data === 'object' && data !== null
