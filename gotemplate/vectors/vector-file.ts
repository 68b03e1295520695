import { readFile } from 'node:fs/promises'

/** Results of Go's own text/template. `about` in the file explains the encoding. */
export type VectorFile = {
  readonly about: { readonly types: Readonly<Record<string, readonly (readonly [name: string, type: string])[]>> }
  readonly datasets: Readonly<Record<string, unknown>>
  readonly vectors: readonly Vector[]
}

export type Vector = {
  readonly id: string
  readonly name?: string
  readonly template: string
  readonly data: unknown
  /** The error depends on a limit of the engine, which may have another number. */
  readonly limit?: boolean
  readonly output?: string
  readonly output_base64?: string
  readonly parse_error?: string
  readonly exec_error?: string
  readonly partial?: string
  readonly partial_base64?: string
}

export async function readVectorFile(path: string | URL): Promise<VectorFile> {
  return JSON.parse(await readFile(path, 'utf8')) as VectorFile
}
