import { readFileSync } from 'node:fs'
import { parse, stringify } from 'yaml'
import { convertValues, silentDifferences } from './convert-values.ts'

const knownHosts = new URL('../files/known_hosts', import.meta.url)

/** `npm run convert-values -- <values.yaml>`: values of argo-watcher's chart as ours, with what to look at on stderr. */
function run([file, ...more]: readonly string[]): number {
  if (file === undefined || more.length > 0) {
    console.error('usage: npm run convert-values -- <values.yaml of the chart of argo-watcher>')
    return 2
  }
  try {
    const given: unknown = parse(readFileSync(file, 'utf8')) ?? {}
    if (typeof given !== 'object' || Array.isArray(given)) throw new Error(`${file}: must be a map of values`)
    const { values, notes } = convertValues({ ...given }, readFileSync(knownHosts, 'utf8'))
    process.stdout.write(stringify(values, { version: '1.1' }))
    const lines = (heading: string, entries: readonly string[]) => [heading, ...entries.map((entry) => `- ${entry}`)]
    console.error(
      [...lines('To look at:', notes), ...lines('Different without a word in the values:', silentDifferences)].join(
        '\n',
      ),
    )
    return 0
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    return 2
  }
}

process.exitCode = run(process.argv.slice(2))
