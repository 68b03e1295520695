import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { configJsonSchema } from '../../server/config/config-document.ts'
import { definitions, type Name } from '../../server/settings/definitions.ts'
import { settingsIn } from '../setting-places.ts'
import { readValues, type Schema, type ValueRow } from './values-schema.ts'

const root = new URL('../../', import.meta.url)
const read = (file: string) => readFileSync(new URL(file, root), 'utf8')

/** What is between the marks in chart/README.md. */
const table = /(?<=<!-- table of values -->\n)[\s\S]*(?=<!-- end of the table -->)/

/** Path and text of each file that is made from values.yaml and, where a value is text of the service, from its schemas. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const { $schema: _, ...config } = configJsonSchema()
  const ofSettings = settingsIn('settings').map((name) => [name, settingSchema(name)] as const)
  const ofService = new Map<string, Schema>([
    ['config', config],
    ...ofSettings.map(([name, schema]) => [`settings.${name}`, schema] as const),
  ])
  const { schema, rows } = readValues(read('chart/values.yaml'), ofService)
  const { settings } = Object(schema.properties)
  settings.properties = { ...Object.fromEntries(ofSettings), ...settings.properties }
  const head = '\n| value | default | meaning |\n| --- | --- | --- |\n'
  return new Map([
    ['docs/config.schema.json', json(configJsonSchema())],
    ['chart/values.schema.json', json(schema)],
    ['chart/README.md', read('chart/README.md').replace(table, () => `${head}${rows.map(renderRow).join('')}\n`)],
  ])
}

/** So that a wrong value is rejected before anything is changed. Unknown names the templates reject. */
const settingSchema = (name: string): Schema => {
  const { $schema: _, ...schema } = z.toJSONSchema(definitions.shape[name as Name], {
    io: 'input',
    unrepresentable: 'any',
  })
  return schema
}

function renderRow({ path, chosen, meaning }: ValueRow): string {
  const isEmpty = chosen === undefined || chosen === null || chosen === ''
  return `| \`${path}\` |${isEmpty ? '' : ` \`${JSON.stringify(chosen)}\``} | ${meaning} |\n`
}

const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`
