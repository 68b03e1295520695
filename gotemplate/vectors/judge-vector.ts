import { toBytes } from '../bytes.ts'
import { parseTemplate, type Template, TemplateError } from '../template.ts'
import { decodeData } from './decode-data.ts'
import type { Vector, VectorFile } from './vector-file.ts'

/** What a template came to: in the form of a vector, with bytes as base64. */
type Outcome = { readonly kind: 'output' | 'parse_error' | 'exec_error'; readonly text: string; readonly bytes: string }

/** Judges one vector; undefined where it passes, otherwise what was expected and found. */
export function judgeVector(file: VectorFile, vector: Vector): { expected: Outcome; found: Outcome } | undefined {
  const [expected, found] = [expectedOf(vector), outcomeOf(file, vector)]
  const comparable = vector.limit ? withoutLimit : (text: string) => text
  const isSame =
    expected.kind === found.kind &&
    comparable(expected.text) === comparable(found.text) &&
    (vector.limit === true || expected.bytes === found.bytes)
  return isSame ? undefined : { expected, found }
}

const withoutLimit = (text: string) => text.replace(/\(\d+\)/, '(limit)')

function expectedOf(vector: Vector): Outcome {
  if (vector.parse_error !== undefined) return { kind: 'parse_error', text: vector.parse_error, bytes: '' }
  const { exec_error, partial, partial_base64, output, output_base64 } = vector
  if (exec_error !== undefined) return { kind: 'exec_error', text: exec_error, bytes: base64(partial, partial_base64) }
  return { kind: 'output', text: '', bytes: base64(output, output_base64) }
}

const base64 = (text = '', encoded?: string) => encoded ?? Buffer.from(text).toString('base64')

function outcomeOf(file: VectorFile, { name = 'COMMIT_MESSAGE_FORMAT', template, data }: Vector): Outcome {
  let parsed: Template
  try {
    parsed = parseTemplate(name, template)
  } catch (error) {
    return { kind: 'parse_error', text: messageOf(error), bytes: '' }
  }
  try {
    const output = parsed.renderBytes(decodeData(file, data))
    return { kind: 'output', text: '', bytes: output.toString('base64') }
  } catch (error) {
    const partial = error instanceof TemplateError ? error.partial : toBytes('')
    return { kind: 'exec_error', text: messageOf(error), bytes: Buffer.from(partial, 'latin1').toString('base64') }
  }
}

const messageOf = (error: unknown) => (error instanceof TemplateError ? error.message : String(error))
