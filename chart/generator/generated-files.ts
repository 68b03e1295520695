import { readFileSync } from 'node:fs'
import { configJsonSchema } from '../../server/config/config-document.ts'
import { renderTable, renderValuesFile, valuesSchema } from './render-values.ts'

const root = new URL('../../', import.meta.url)
const read = (file: string) => readFileSync(new URL(file, root), 'utf8')

/** What is between the marks in docs/chart.md. */
const table = /(?<=<!-- table of values -->\n)[\s\S]*(?=<!-- end of the table -->)/

/** Path and text of each file that is made from chart-values.ts, definitions.ts, config-document.ts and docs/settings.md. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const schema = valuesSchema(read('docs/settings.md'))
  const rows = `\n| value | default | meaning |\n| --- | --- | --- |\n${renderTable(schema)}\n`
  return new Map([
    ['docs/config.schema.json', `${JSON.stringify(configJsonSchema(), null, 2)}\n`],
    ['chart/values.schema.json', `${JSON.stringify(schema, null, 2)}\n`],
    ['chart/values.yaml', renderValuesFile(schema)],
    ['docs/chart.md', read('docs/chart.md').replace(table, () => rows)],
  ])
}
