import { stringify } from 'yaml'
import { z } from 'zod'
import { chartValues } from './chart-values.ts'

/** What is read here of a JSON schema. */
type Schema = { description?: string; default?: unknown; properties?: Record<string, Schema> }

/** The meaning of each setting, of the tables in docs/settings.md. */
const meaningsIn = (settingsPage: string) =>
  [...settingsPage.matchAll(/^\| `([A-Z_]+)` \|(?:[^|\n]*\|){2} (.+) \|$/gm)].map(
    ([, name = '', meaning = '']) => [name, meaning.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')] as const,
  )

/** @param settingsPage text of docs/settings.md */
export function valuesSchema(settingsPage: string): Schema {
  const schema = z.toJSONSchema(chartValues, { io: 'input', unrepresentable: 'any' }) as Schema
  for (const [name, meaning] of meaningsIn(settingsPage))
    for (const group of ['settings', 'files']) {
      const setting = schema.properties?.[group]?.properties?.[name]
      if (setting) setting.description = meaning
    }
  return schema
}

const propertiesOf = ({ properties = {} }: Schema) => Object.entries(properties)

/** values.yaml: every default, each below its meaning. */
export function renderValuesFile(schema: Schema): string {
  return `# Made by npm run chart:generate: edit chart/generator/chart-values.ts.\n${renderValues(schema)}`
}

function renderValues(schema: Schema): string {
  return propertiesOf(schema)
    .map(([name, value]) => {
      if (value.default !== undefined)
        return `# ${value.description}\n${stringify({ [name]: value.default }, { version: '1.1' })}`
      return value.properties ? `\n${name}:\n${renderValues(value).replace(/^(?=.)/gm, '  ')}` : ''
    })
    .join('')
}

/** The table of docs/chart.md. */
export function renderTable(schema: Schema, prefix = ''): string {
  return propertiesOf(schema)
    .map(([name, value]) => {
      if (value.default === undefined && value.properties) return renderTable(value, `${prefix}${name}.`)
      const chosen = value.default === undefined || value.default === '' ? '' : ` \`${JSON.stringify(value.default)}\``
      return `| \`${prefix}${name}\` |${chosen} | ${value.description} |\n`
    })
    .join('')
}
