import { type GoString, toText } from './bytes.ts'

/** A template that does not parse, or fails when it is rendered, in Go's words. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
  /** What was written before. */
  readonly partial: GoString
  constructor(message: GoString, partial: GoString = '') {
    super(toText(message))
    this.partial = partial
  }
}
