import { spawnSync } from 'node:child_process'
import path from 'node:path'

/** What each part runs; the arguments after its name go to it. */
const parts: Readonly<Record<string, readonly string[]>> = {
  histories: ['node', 'proof/histories/main.ts'],
  'system-histories': ['node', 'proof/system-histories/main.ts'],
  mutants: ['node', 'proof/mutants/main.ts'],
  scenarios: ['vitest', 'run', '--project', 'scenarios', '--maxWorkers=3'],
  browser: ['vitest', 'run', '--project', 'matrix', '--maxWorkers=4'],
  api: ['node', 'proof/api/main.ts'],
  image: ['vitest', 'run', '--project', 'image'],
  attack: ['node', 'proof/attack/main.ts'],
  values: ['node', 'proof/values/main.ts'],
}

/** `npm run proof [-- <part> [argument …]]`: all parts one after the other, or one; ends with 1 if one fails. */
const [chosen, ...rest] = process.argv.slice(2)
if (chosen !== undefined && parts[chosen] === undefined)
  throw new Error(`no part is named ${chosen}: ${Object.keys(parts).join(', ')}`)
const root = path.resolve(import.meta.dirname, '..')
const PATH = `${path.join(root, 'node_modules/.bin')}${path.delimiter}${process.env.PATH ?? ''}`
const failed: string[] = []
for (const [name, [program = '', ...args]] of Object.entries(parts)) {
  if (chosen !== undefined && name !== chosen) continue
  console.log(`\n== ${name}`)
  if (name === 'image' && spawnSync('docker', ['info']).status !== 0) {
    console.log('not run: no Docker answers')
    continue
  }
  if (name === 'values' && rest.length === 0) {
    console.log('not run: it needs a folder of YAML files')
    continue
  }
  const options = { cwd: root, env: { ...process.env, PATH }, stdio: 'inherit' } as const
  const { status } = spawnSync(program, [...args, ...rest], options)
  if (status !== 0) failed.push(name)
}
if (failed.length > 0) console.log(`\nfailed: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
