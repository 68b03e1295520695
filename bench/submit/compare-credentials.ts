import { createDeployTokenStore } from '../../server/auth/tokens/deploy-token-store.ts'
import { openDatabase } from '../../server/storage/database.ts'
import { openConfigFile } from '../../test/support/config-file.ts'
import { startService, withoutLimits } from '../../test/support/service.ts'
import { startTokenIssuer, type TokenIssuer } from '../../test/support/token-issuer.ts'
import { renderTable } from '../support/render-table.ts'
import { startBenchPostgres } from '../support/start-bench-postgres.ts'
import { submitFor } from './submit-tasks.ts'

const warmUpMs = 2_000
const rounds = 3
/** A task needs at most two of the time of one with a scoped token. */
const bar = 0.5
/** Signed beforehand; each is verified at each submission. */
const jobs = 200

/** Tasks accepted per second with ID tokens of a CI beside those with a scoped deploy token, in turns. */
export async function compareCredentials(ms: number): Promise<void> {
  await using postgres = await startBenchPostgres()
  await using issuer = await startTokenIssuer()
  const rule = { name: 'bench', issuer: issuer.url, audience: 'us', match: { repository_id: '1' }, apps: 'all' }
  using config = openConfigFile({ ci_identities: [rule] })
  const settings = { ...withoutLimits, REQUIRE_CREDENTIAL: 'true', CONFIG_FILE: config.file }
  await using service = await startService({ databaseUrl: postgres.url, settings })
  const kinds = {
    'scoped deploy token': [`Bearer ${await issueScopedToken(postgres.url)}`],
    'ID token (RS256)': await idTokens(issuer),
  }
  const rows: string[][] = []
  for (const connections of [1, 64]) {
    const rates: number[] = []
    for (const [name, credentials] of Object.entries(kinds)) {
      await submitFor(service.url, connections, warmUpMs, credentials)
      let best = 0
      for (let round = 0; round < rounds; round++)
        best = Math.max(best, (await submitFor(service.url, connections, ms / rounds, credentials)).rate)
      rates.push(best)
      const ratio = best / (rates[0] ?? best)
      rows.push([
        `${name}, ${connections}`,
        best.toFixed(0),
        ratio.toFixed(2),
        `>= ${bar}`,
        ratio >= bar ? 'yes' : 'NO',
      ])
    }
  }
  console.log(renderTable(['credential, connections', 'tasks/s', 'ratio', 'bar', 'met'], rows))
}

async function issueScopedToken(databaseUrl: string): Promise<string> {
  const settings = { connection: { connectionString: databaseUrl }, schema: 'watcher', maxConnections: 1 }
  await using database = openDatabase({ ...settings, connectTimeoutMs: 5_000 }, () => undefined)
  const request = { description: 'bench', expires: Date.now() / 1000 + 3_600 }
  const issued = await createDeployTokenStore(database, 'argocd').issue(request, {
    kind: 'command',
    id: null,
    name: 'bench',
  })
  if (typeof issued === 'string') throw new Error(`no token was issued: ${issued}`)
  return issued.token
}

function idTokens(issuer: TokenIssuer): Promise<string[]> {
  const iat = Math.floor(Date.now() / 1000)
  const claims = {
    iss: issuer.url,
    aud: 'us',
    iat,
    exp: iat + 3_600,
    repository_id: '1',
    sha: 'abc',
    repository: 'a/b',
  }
  return Promise.all(
    Array.from({ length: jobs }, async (_, at) => `Bearer ${await issuer.sign({ ...claims, sub: `job ${at}` })}`),
  )
}
