import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { exitCodes } from '../../contract/exit-codes.ts'
import { explainToken } from '../auth/ci/explain-token.ts'
import { parseConfig } from '../config/parse-config.ts'

const usage =
  'usage: npm run ci-identity -- <token file> [--config <configuration file>]   (default: CONFIG_FILE or CONFIG)'

/** `npm run ci-identity`: what a rule of ci_identities would say of an ID token, without the service and its issuer. */
function run(args: readonly string[]): number {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { config: { type: 'string' } },
      allowPositionals: true,
    })
    const [file, ...more] = positionals
    if (file === undefined || more.length > 0) return complain(usage, exitCodes.usage)
    const { CONFIG, CONFIG_FILE, PUBLIC_URL } = process.env
    const config = values.config ?? CONFIG_FILE
    const text = config ? readFileSync(config, 'utf8') : (CONFIG ?? '{}')
    const parsed = parseConfig(text, PUBLIC_URL || undefined)
    if ('issues' in parsed) return complain(parsed.issues.join('\n'), 78)
    const { lines, isAccepted } = explainToken(
      readFileSync(file, 'utf8').trim(),
      parsed.config.ciRules,
      Date.now() / 1000,
    )
    console.log(lines.join('\n'))
    return isAccepted ? 0 : exitCodes.not_authorized
  } catch (error) {
    return complain(`${error instanceof Error ? error.message : String(error)}\n${usage}`, exitCodes.usage)
  }
}

function complain(text: string, exitCode: number): number {
  console.error(text)
  return exitCode
}

process.exitCode = run(process.argv.slice(2))
