import { z } from 'zod'
import type { DeployToken } from '../../contract/auth.ts'
import { exitCodes } from '../../contract/exit-codes.ts'
import type { Actor } from '../audit/record-action.ts'
import { createDeployTokenStore } from '../auth/tokens/deploy-token-store.ts'
import { readSettings } from '../compose/settings.ts'
import { openDatabase } from '../storage/database.ts'
import { runCommand } from './run-command.ts'

const usage = 'usage: npm run deploy-tokens -- list | revoke <id>'
const operator: Actor = { kind: 'command', id: null, name: null }

/** `npm run deploy-tokens`: lists and revokes scoped deploy tokens in the service's database, with its own settings. */
async function run(args: readonly string[]): Promise<number> {
  const [command, id, ...more] = args
  const isList = command === 'list' && id === undefined
  if (more.length > 0 || !(isList || (command === 'revoke' && id !== undefined))) return fail(usage, exitCodes.usage)
  const { settings } = readSettings(process.env)
  await using database = openDatabase({ ...settings.database, maxConnections: 1 }, () => undefined)
  const deployTokens = createDeployTokenStore(database, settings.auth.controlPlaneNamespace)
  if (id === undefined) {
    console.log(columns.join('\t'))
    for (const token of await deployTokens.list()) console.log(lineOf(token, Date.now() / 1000))
    return 0
  }
  const revoked = z.guid().safeParse(id).success ? await deployTokens.revoke(id, operator) : undefined
  if (!revoked) return fail('deploy token not found', 1)
  console.log(`revoked ${revoked.id}: ${revoked.description}`)
  return 0
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
