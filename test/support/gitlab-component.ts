import { readFileSync } from 'node:fs'
import { parse, parseAllDocuments } from 'yaml'

type Input = {
  readonly default?: string | boolean
  readonly regex?: string
  readonly options?: readonly string[]
  readonly type?: 'boolean' | 'string'
}
type Values = Readonly<Record<string, string | boolean>>
export type GitLabJob = {
  readonly script: readonly string[]
  readonly variables: Readonly<Record<string, string>>
  readonly [keyword: string]: unknown
}

/**
 * The jobs of a component, as GitLab makes them: it checks the inputs by the header, puts them into the text of the second
 * document, and reads that as YAML.
 * @throws {Error} naming the input that GitLab refuses
 */
export function jobsOfComponent(file: string, values: Values): Readonly<Record<string, GitLabJob>> {
  const text = readFileSync(file, 'utf8')
  const [header] = parseAllDocuments(text)
  const inputs: Record<string, Input> = header?.toJS().spec.inputs
  for (const name of Object.keys(values)) if (!(name in inputs)) throw new Error(`unknown input ${name}`)
  const body = text.slice(text.indexOf('\n---\n') + 5)
  return parse(
    body.replace(/\$\[\[ inputs\.([\w-]+) \]\]/g, (_, name: string) => {
      const input = inputs[name]
      const value = values[name] ?? input?.default
      if (input === undefined || value === undefined || !isAllowed(input, value)) throw new Error(`input ${name}`)
      return String(value)
    }),
  )
}

function isAllowed({ regex, options, type = 'string' }: Input, value: string | boolean): boolean {
  if (typeof value !== type) return false
  const isMatch = regex === undefined || new RegExp(regex).test(String(value))
  return isMatch && (options === undefined || options.includes(String(value)))
}
