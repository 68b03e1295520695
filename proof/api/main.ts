import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startBenchPostgres } from '../../bench/support/start-bench-postgres.ts'
import { createHttpBrowser } from '../../test/support/http-browser.ts'
import { reserveIdentityProvider } from '../../test/support/identity-provider.ts'
import { withoutLimits } from '../../test/support/service.ts'
import { startWorld, withToken } from '../../test/support/world.ts'

/**
 * Requests that Schemathesis makes from the API document of the running service, by a user who has signed in.
 *
 *   --examples N   at most so many for each operation and phase (50)      --seed S   repeats the requests of a run
 *
 * Ends with 1 if an answer is a 5xx, is not described, or differs from its schema, or if the log has an error.
 */
const version = '4.32.5'
/** Where it keeps the requests that failed, for `st replay`. */
const folder = fileURLToPath(new URL('../../data/api', import.meta.url))
const { values } = parseArgs({
  options: {
    examples: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  },
})

await using postgres = await startBenchPostgres()
await using provider = await reserveIdentityProvider()
provider.users.set('ada', { preferred_username: 'ada' })
const settings = { ...withoutLimits, ...provider.settings, LOG_LEVEL: 'warn' }
await using world = await startWorld({ databaseUrl: postgres.url, settings })
const { service } = world
await provider.start(service.url)
const browser = createHttpBrowser()
await browser.signIn(service.url, 'ada')
const cookie = [...browser.cookies(service.url)].map((pair) => pair.join('=')).join('; ')

const headers = { ...withToken, Cookie: cookie, 'X-Watcher-Csrf': '1' }
const status = await run(await schemathesis(), [
  'run',
  `${service.url}/swagger/index.html/json`,
  `--url=${service.url}`,
  '--phases=examples,coverage,fuzzing,stateful',
  `--max-examples=${values.examples}`,
  `--seed=${values.seed}`,
  '--exclude-path=/auth/logout', // the requests after it would be 401
  // What a value out of range is answered with, docs/spec/cases.md says (B17, B22); a lock rejects good tasks; and the
  // session goes along where another credential is left out.
  '--exclude-checks=positive_data_acceptance,negative_data_rejection,ignored_auth',
  '--request-timeout=15',
  '--max-response-time=10',
  '--generation-database=none',
  '--continue-on-failure',
  ...Object.entries(headers).map(([name, value]) => `--header=${name}: ${value}`),
])
const complaints = service.logs().match(/^.*(?:"level":[56]0|unhandled).*$/gim) ?? []
for (const line of complaints.slice(0, 10)) console.log(line)
console.log(`repeat with --seed ${values.seed}; ${complaints.length} errors in the log`)
process.exitCode = status === 0 && complaints.length === 0 ? 0 : 1

/** The program of PyPI, installed into the cache of this checkout. */
async function schemathesis(): Promise<string> {
  const cache = fileURLToPath(new URL(`../../node_modules/.cache/schemathesis-${version}`, import.meta.url))
  const program = `${cache}/bin/schemathesis`
  if (existsSync(program)) return program
  for (const [command, ...args] of [
    ['python3', '-m', 'venv', cache],
    [`${cache}/bin/pip`, 'install', '--quiet', `schemathesis==${version}`],
  ] as const)
    if ((await run(command, args)) !== 0)
      throw new Error(`${command} ${args.join(' ')} failed: install Python 3 with venv`)
  return program
}

/** Beside it this process goes on: the simulator and the identity provider are parts of it. */
async function run(program: string, args: readonly string[]): Promise<number | null> {
  mkdirSync(folder, { recursive: true })
  const [code] = await once(spawn(program, args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] }), 'exit')
  return code
}
