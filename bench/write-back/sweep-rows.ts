import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { startService } from '../../test/support/service.ts'
import { loadHistory } from '../support/load-history.ts'
import { startBenchPostgres } from '../support/start-bench-postgres.ts'
import { atMost, type BenchRow, exactly, told } from './bench-row.ts'
import { startSshHost } from './start-ssh-host.ts'
import { startTaskAuthor } from './task-author.ts'

const openWrites = 100
const watchedMs = 20_000
const maxStatementMs = 5

type Plan = { readonly 'Node Type': string; readonly 'Relation Name'?: string; readonly Plans?: readonly Plan[] }
type Explained = { readonly 'Query Text': string; readonly Plan: Plan }
type Statement = { readonly text: string; readonly ms: number; readonly scanned: readonly string[] }

/** How long the statements over `pending_writes` take that a replica sends by itself, beside so many ended rows. */
export async function sweepRows(ended: number): Promise<BenchRow[]> {
  await using postgres = await startBenchPostgres()
  await loadHistory(postgres.url, ended)
  await query(postgres.url, fillPendingWrites)
  await query(postgres.url, 'VACUUM ANALYZE watcher.pending_writes, watcher.tasks, watcher.repositories')
  await query(postgres.url, explainEverything)
  await using host = await startSshHost(postgres.directory)
  await using _service = await startService({
    databaseUrl: postgres.url,
    settings: { SSH_KEY_PATH: host.keyPath, SSH_KNOWN_HOSTS: host.knownHostsPath, LOG_LEVEL: 'fatal' },
  })
  await queueOpenWrites(postgres.url)
  const before = (await readLog(postgres.directory)).length
  await delay(watchedMs)
  const statements = statementsIn((await readLog(postgres.directory)).slice(before))
  const byText = [...Map.groupBy(statements, ({ text }) => text)]
  const slowest = byText
    .map(([text, found]) => ({ text, ms: medianOf(found.map(({ ms }) => ms)), count: found.length }))
    .toSorted((a, b) => b.ms - a.ms)
  const scans = new Set(statements.flatMap(({ text, scanned }) => scanned.map((table) => `${table}: ${text}`)))
  return [
    told('ended rows, statements over pending_writes seen', `${ended}, ${statements.length} of ${byText.length} kinds`),
    ...slowest.map(({ text, ms, count }) =>
      atMost(`median of ${count}: ${text.slice(0, 70)}`, ms, maxStatementMs, ' ms'),
    ),
    exactly('kinds with a sequential scan of a large table', scans.size, 0, [...scans].join('; ').slice(0, 200)),
  ]
}

/** Nothing answers at their address, so they stay open and are looked at again and again. Their author goes away. */
async function queueOpenWrites(databaseUrl: string): Promise<void> {
  await using author = await startTaskAuthor(databaseUrl)
  const repository = 'ssh://git@127.0.0.1:1/gitops.git'
  await author.queue(Array.from({ length: openWrites }, (_, at) => ({ app: `open-${at}`, tag: 'v1', repository })))
}

const medianOf = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const fillPendingWrites = `
  INSERT INTO watcher.pending_writes (task_id, repository, address, branch, plan, state, commit, created, updated)
  SELECT id, 'git.example/team-' || (hashtext(app) % 20), 'ssh://git@git.example/team-' || (hashtext(app) % 20), 'main',
    jsonb_build_object('app', app, 'file', 'apps/' || app || '/.watcher-source-' || app || '.yaml'), 'landed',
    md5(id::text), created, updated
  FROM watcher.tasks ON CONFLICT DO NOTHING`

/** For the sessions that begin from now on. */
const explainEverything = `
  DO $$ BEGIN
    EXECUTE format('ALTER DATABASE %I SET session_preload_libraries = auto_explain', current_database());
    EXECUTE format('ALTER DATABASE %I SET auto_explain.log_min_duration = 0', current_database());
    EXECUTE format('ALTER DATABASE %I SET auto_explain.log_format = json', current_database());
  END $$`

async function query(url: string, text: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

const readLog = (directory: string) => readFile(path.join(directory, 'postgresql.log'), 'utf8')

/** Those that auto_explain has written down and that ask for pending writes. */
function statementsIn(log: string): Statement[] {
  return log.split(/^\S+ \S+ \S+ \[\d+\] /m).flatMap((entry) => {
    const [, ms = '', json = ''] = /duration: ([\d.]+) ms {2}plan:\s*(\{[\s\S]*\})/.exec(entry) ?? []
    if (json === '') return []
    const { 'Query Text': text, Plan: plan } = JSON.parse(json) as Explained // as auto_explain writes it
    if (!/pending_writes/.test(text) || /^\s*insert into/i.test(text)) return []
    const scanned = nodesOf(plan).flatMap((node) =>
      node['Node Type'] === 'Seq Scan' && /^(pending_writes|tasks)$/.test(node['Relation Name'] ?? '')
        ? [node['Relation Name'] ?? '']
        : [],
    )
    return [{ text: text.replace(/\s+/g, ' ').trim(), ms: Number(ms), scanned }]
  })
}

const nodesOf = (plan: Plan): readonly Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
