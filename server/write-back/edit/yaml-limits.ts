import { type Document, isScalar, visit } from 'yaml'
import { FileEditError } from './file-edit.ts'

export const maxFileBytes = 256 * 1024
export const tooLarge = 'is larger than 256 KiB'
export const tooMany = (max: number) => `has more than ${max.toLocaleString('en')} lines and YAML indicators`
const maxDepth = 64

/**
 * Refuses a text that would hold up the process: the parser runs on the main thread, up to 50 µs and 1 KiB for each
 * indicator.
 * @throws {FileEditError}
 */
export function refuseCostly(text: string, maxIndicators: number): void {
  if (Buffer.byteLength(text) > maxFileBytes) throw new FileEditError(tooLarge)
  if (isTooDeep(text)) throw new FileEditError('is nested too deeply')
  if (countIndicators(text) > maxIndicators) throw new FileEditError(tooMany(maxIndicators))
}

/** Brackets and dashes in front of a line are all that nests; counting those in texts too only errs to the safe side. */
function isTooDeep(text: string): boolean {
  let open = 0
  for (const character of text) {
    if (character === '[' || character === '{') open += 1
    else if (character === ']' || character === '}') open = Math.max(0, open - 1)
    if (open > maxDepth) return true
  }
  return /^[ \t]*(?:[-?:][ \t]+){65}/m.test(text) || /^ {1000}/m.test(text)
}

/** All that makes the parser begin something; those in texts and comments count too. */
function countIndicators(text: string): number {
  return text.match(/[\n\r,[\]{}#&*!%@`?'"|>]|[-:]\s/g)?.length ?? 0
}

/** The library compares every key of a map with every other one; this look is linear. */
export function refuseDoubleKeys(document: Document): void {
  visit(document, {
    Map(_, map) {
      const seen = new Set<string>()
      for (const { key } of map.items) {
        const name = isScalar(key) ? `${typeof key.value} ${String(key.value)}` : undefined
        if (name !== undefined && seen.has(name)) throw new FileEditError(`has the key ${name.slice(0, 80)} twice`)
        if (name !== undefined) seen.add(name)
      }
    },
  })
}
