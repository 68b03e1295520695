import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { renderTotals, tryFile } from './try-file.ts'

/**
 * Sets a tag in every scalar of real files and compares: which bytes outside of it differ, and what readers of YAML 1.1 and
 * 1.2 then read.
 *
 *   npm run proof -- values <folder>     every .yaml below it, at most 200 scalars of each
 *
 * Ends with 1 if an edit did anything else.
 */
const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('which folder? npm run proof -- values <folder>')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.ya?ml$/.test(name))
const results = files.map((name) => {
  const result = tryFile(readFileSync(path.join(folder, name), 'utf8'))
  for (const fault of result.faults) console.error(`${name}: ${fault}`)
  if (result.unreadable !== undefined) console.log(`${name} is not edited: it ${result.unreadable}`)
  return result
})
console.log(renderTotals(results).join('\n'))
process.exitCode = results.every(({ faults }) => faults.length === 0) && results.length > 0 ? 0 : 1
