import { readFileSync } from 'node:fs'
import { exitCodes } from '../../contract/exit-codes.ts'
import { parseConfig } from '../config/parse-config.ts'

const usage = 'usage: npm run config -- <file>'

/** `npm run config -- <file>`: whether the service would take a configuration file; 78 where it would not. */
function run(args: readonly string[]): number {
  const [file, ...more] = args
  if (file === undefined || more.length > 0) return complain(usage, exitCodes.usage)
  try {
    // An audience of its own is asked for where PUBLIC_URL, a setting of the service, is not known here.
    const parsed = parseConfig(readFileSync(file, 'utf8'), process.env.PUBLIC_URL || 'PUBLIC_URL')
    if ('issues' in parsed) return complain(parsed.issues.join('\n'), 78)
    const { ciRules, environments } = parsed.config
    const [rules, globs] = [counted(ciRules, 'rule'), counted(environments, 'environment')]
    console.log(`${file} is valid: ${rules} of ci_identities, ${globs}`)
    return 0
  } catch (error) {
    return complain(error instanceof Error ? error.message : String(error), exitCodes.usage)
  }
}

const counted = ({ length }: readonly unknown[], name: string) => `${length} ${name}${length === 1 ? '' : 's'}`

function complain(text: string, exitCode: number): number {
  console.error(text)
  return exitCode
}

process.exitCode = run(process.argv.slice(2))
