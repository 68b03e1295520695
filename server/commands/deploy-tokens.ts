import { parseArgs } from 'node:util'
import { z } from 'zod'
import { type DeployToken, DeployTokenRequest } from '../../contract/auth.ts'
import { exitCodes } from '../../contract/exit-codes.ts'
import type { Actor } from '../audit/record-action.ts'
import { createDeployTokenStore, type DeployTokenStore } from '../auth/tokens/deploy-token-store.ts'
import { readSettings } from '../compose/settings.ts'
import { openDatabase } from '../storage/database.ts'
import { runCommand } from './run-command.ts'

const usage = `usage: npm run deploy-tokens -- list
       npm run deploy-tokens -- issue --apps <globs, separated by commas | all> --days <1 to 365> --description <text>
       npm run deploy-tokens -- revoke <id>`
const operator: Actor = { kind: 'command', id: null, name: 'command line' }
const daySeconds = 24 * 60 * 60

/** `npm run deploy-tokens`: scoped deploy tokens in the service's database, with its own settings. */
async function run([command = '', ...args]: readonly string[]): Promise<number> {
  if (command === 'list' && args.length === 0) return inStore(list)
  if (command === 'revoke' && args.length === 1) return inStore((tokens) => revoke(tokens, args[0] ?? ''))
  if (command === 'issue') {
    const request = requestOf(args)
    return 'issue' in request ? fail(request.issue, exitCodes.usage) : inStore((tokens) => issue(tokens, request))
  }
  return fail(usage, exitCodes.usage)
}

async function inStore(act: (tokens: DeployTokenStore) => Promise<number>): Promise<number> {
  const { settings } = readSettings(process.env)
  await using database = openDatabase({ ...settings.database, maxConnections: 1 }, () => undefined)
  return await act(createDeployTokenStore(database, settings.auth.controlPlaneNamespace))
}

async function list(tokens: DeployTokenStore): Promise<number> {
  console.log(columns.join('\t'))
  for (const token of await tokens.list()) console.log(lineOf(token, Date.now() / 1000))
  return 0
}

async function revoke(tokens: DeployTokenStore, id: string): Promise<number> {
  const revoked = z.guid().safeParse(id).success ? await tokens.revoke(id, operator) : undefined
  if (!revoked) return fail('deploy token not found', 1)
  console.log(`revoked ${revoked.id}: ${revoked.description}`)
  return 0
}

/** The token is all of the standard output, so that a pipe can store it. It is not shown again. */
async function issue(tokens: DeployTokenStore, request: DeployTokenRequest): Promise<number> {
  const issued = await tokens.issue(request, operator)
  if (typeof issued === 'string') return fail('--days: must be 1 to 365', exitCodes.usage)
  console.log(issued.token)
  console.error(
    `issued ${issued.id} for ${issued.apps?.join(', ') ?? 'all applications'}, until ${timeOf(issued.expires)}`,
  )
  return 0
}

/** What `issue` is asked for, by the rules of the API. */
function requestOf(args: readonly string[]): DeployTokenRequest | { readonly issue: string } {
  const options = { apps: { type: 'string' }, days: { type: 'string' }, description: { type: 'string' } } as const
  try {
    const { apps, days = '', description } = parseArgs({ args: [...args], options }).values
    if (apps === undefined) return { issue: `--apps: is required, such as 'shop,shop-*', or all\n${usage}` }
    if (!/^\d{1,3}$/.test(days) || Number(days) < 1 || Number(days) > 365) return { issue: '--days: must be 1 to 365' }
    const names = apps === 'all' ? {} : { apps: apps.split(',').map((name) => name.trim()) }
    const expires = Date.now() / 1000 + Number(days) * daySeconds
    const parsed = DeployTokenRequest.safeParse({ ...names, description: description ?? '', expires })
    if (parsed.success) return parsed.data
    return { issue: parsed.error.issues.map(({ path, message }) => `--${String(path[0])}: ${message}`).join('\n') }
  } catch (error) {
    return { issue: `${(error as Error).message}\n${usage}` }
  }
}

const columns = ['id', 'state', 'expires', 'last used', 'applications', 'description', 'created by']

function lineOf({ id, apps, description, created_by, expires, last_used, revoked }: DeployToken, nowSeconds: number) {
  const state = revoked !== null ? 'revoked' : expires > nowSeconds ? 'valid' : 'expired'
  const names = apps?.join(', ') ?? 'all'
  return [id, state, timeOf(expires), timeOf(last_used), names, description, created_by].join('\t')
}

const timeOf = (seconds: number | null) => (seconds === null ? 'never' : new Date(seconds * 1000).toISOString())

function fail(message: string, exitCode: number): number {
  console.error(message)
  return exitCode
}

await runCommand(() => run(process.argv.slice(2)))
