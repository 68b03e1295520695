import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'

/**
 * Plants one bug after the other in a copy of the checkout and runs the command that must notice it.
 *
 *   npm run proof -- mutants [name …]   all patches, or those whose name holds one of the words
 *
 * A patch begins with `# catch: <command>` and `# what: <sentence>`. The command must succeed without the bug and fail with it;
 * it runs in a shell in the copy, with node_modules/.bin on its PATH. Ends with 1 if a bug goes unnoticed.
 */
type Mutant = { readonly name: string; readonly file: string; readonly command: string; readonly what: string }
type Outcome = 'caught' | 'MISSED' | 'does not apply' | 'its command fails anyhow'

const root = path.resolve(import.meta.dirname, '../..')
const commandLimitMs = 15 * 60_000

function readMutant(name: string): Mutant {
  const file = path.join(import.meta.dirname, name)
  const text = readFileSync(file, 'utf8')
  const header = (key: string) => new RegExp(`^# ${key}: (.+)$`, 'm').exec(text)?.[1]
  const command = header('catch')
  if (command === undefined) throw new Error(`${name} has no line "# catch: <command>"`)
  return { name: path.basename(name, '.patch'), file, command, what: header('what') ?? '' }
}

/** What Git knows of, as it is in the working tree. */
function copyCheckout(to: string): void {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0')
  for (const file of files.filter((one) => one !== '')) {
    mkdirSync(path.dirname(path.join(to, file)), { recursive: true })
    cpSync(path.join(root, file), path.join(to, file), { force: true })
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(to, 'node_modules'))
}

function runIn(copy: string, command: string): boolean {
  const bin = path.join(copy, 'node_modules/.bin')
  const env = { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH ?? ''}` }
  const { status } = spawnSync(command, { cwd: copy, env, shell: true, stdio: 'ignore', timeout: commandLimitMs })
  return status === 0
}

function apply(copy: string, { file }: Mutant, ...options: readonly string[]): boolean {
  return spawnSync('git', ['apply', '-C1', '--recount', ...options, file], { cwd: copy, stdio: 'inherit' }).status === 0
}

function judge(copy: string, mutant: Mutant, succeedsWithout: (command: string) => boolean): Outcome {
  if (!succeedsWithout(mutant.command)) return 'its command fails anyhow'
  if (!apply(copy, mutant)) return 'does not apply'
  const outcome = runIn(copy, mutant.command) ? 'MISSED' : 'caught'
  apply(copy, mutant, '--reverse')
  return outcome
}

const { positionals } = parseArgs({ allowPositionals: true })
const mutants = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.patch'))
  .filter((name) => positionals.length === 0 || positionals.some((word) => name.includes(word)))
  .map(readMutant)
const copy = mkdtempSync(path.join(tmpdir(), 'mutants-'))
const clean = new Map<string, boolean>()
let caught = 0
try {
  copyCheckout(copy)
  for (const mutant of mutants) {
    const outcome = judge(copy, mutant, (command) => {
      const succeeds = clean.get(command) ?? runIn(copy, command)
      clean.set(command, succeeds)
      return succeeds
    })
    caught += outcome === 'caught' ? 1 : 0
    console.log(`${outcome.padEnd(26)}${mutant.name}: ${mutant.what}`)
  }
} finally {
  rmSync(copy, { recursive: true, force: true })
}
console.log(`caught ${caught} of ${mutants.length}`)
process.exitCode = caught === mutants.length ? 0 : 1
