import { toBytes, toText } from './bytes.ts'
import { execute, type Limits } from './execute.ts'
import { builtins } from './functions.ts'
import { parseBodies } from './parser.ts'
import { TemplateError } from './template-error.ts'
import type { Value } from './values.ts'

export { TemplateError }

export type Template = {
  /** @throws {TemplateError} in Go's words */
  readonly render: (data: Value | undefined, limits?: Limits) => string
  /** As bytes, which need not be valid UTF-8. */
  readonly renderBytes: (data: Value | undefined, limits?: Limits) => Buffer
}

const defaultLimits: Limits = { maxSteps: 10_000_000, maxOutputBytes: 64 * 1024 * 1024 }

/**
 * A template of Go's text/template as of Go 1.26, with its built-in functions.
 * @throws {TemplateError} in Go's words where the text does not parse
 */
export function parseTemplate(name: string, text: string): Template {
  const source = { name: toBytes(name), text: toBytes(text) }
  const bodies = withinStack(name, () => parseBodies(source.name, source.text, new Set(builtins.keys())))
  const run = (data: Value | undefined, limits: Limits) =>
    withinStack(name, () => execute({ ...source, bodies }, data, limits))
  return {
    render: (data, limits = defaultLimits) => toText(run(data, limits)),
    renderBytes: (data, limits = defaultLimits) => Buffer.from(run(data, limits), 'latin1'),
  }
}

/** Go's stack grows to a gigabyte; ours ends a template of some thousand blocks in each other. */
function withinStack<T>(name: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof RangeError) throw new TemplateError(`template: ${toBytes(name)}: nested too deeply`)
    throw error
  }
}
