import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { startService, withoutLimits } from '../../test/support/service.ts'
import { describeMachine } from '../support/describe-machine.ts'
import { followVerdicts } from '../support/follow-verdicts.ts'
import { loadHistory } from '../support/load-history.ts'
import { quantilesOf } from '../support/quantiles.ts'
import { renderTable } from '../support/render-table.ts'
import { startBenchPostgres } from '../support/start-bench-postgres.ts'
import { startInstallation } from '../support/start-installation.ts'
import { submitSteadily } from './submit-steadily.ts'

/**
 * `npm run bench:retention [-- --tasks 1000000 --seconds 60]`: expired tasks are deleted while others are submitted. Bars: p99
 * of submissions and of verdicts at most 1.5 times that without, and no row without its task.
 */
const { values } = parseArgs({
  options: { tasks: { type: 'string', default: '1000000' }, seconds: { type: 'string', default: '60' } },
})
const tasks = Number(values.tasks)
const measuredMs = Number(values.seconds) * 1_000
const perSecond = 50
const maxRatio = 1.5
const warmUpMs = 15_000
const applications = Array.from({ length: 500 }, (_, at) => `live-${at}`)

await using postgres = await startBenchPostgres()
await using installation = await startInstallation()
const { argoUrl, argoToken } = await installation.remote.connection()
const settings = { ...withoutLimits, ARGO_URL: argoUrl, ARGO_TOKEN: argoToken }
await installation.remote.createApplications(applications, 'live')
const admin = new Client({ connectionString: postgres.url })
console.log(describeMachine())

const without = await measure({}, () => delay(measuredMs), prepare)
const sizeBefore = await diskUsed()
const began = performance.now()
const beside = await measure({ TASK_RETENTION_ENABLED: 'true' }, async (isLogged) => {
  if (isLogged('expired data deleted'))
    throw new Error('all were deleted before anything was measured: use more --tasks')
  while (!isLogged('expired data deleted')) await delay(200)
})
const deletedMs = performance.now() - began - warmUpMs
const sizeAfter = await diskUsed()
const orphans = await countOrphans()
await admin.query('VACUUM FULL')
const sizeShrunk = await diskUsed()
await admin.end()

const rows = (['submissions', 'verdicts'] as const).map((what) => {
  const [before, after] = [quantilesOf(without[what]), quantilesOf(beside[what])]
  const ratio = after.p99 / before.p99
  const figures = [before.p50, after.p50, before.p99, after.p99].map((ms) => ms.toFixed(1))
  return [`${what}, ${after.count}`, ...figures, ratio.toFixed(2), ratio <= maxRatio ? 'yes' : 'NO']
})
const heading = ['of 50 tasks/s', 'p50 ms', 'beside', 'p99 ms', 'beside', 'ratio', `<= ${maxRatio}`]
console.log(renderTable(heading, rows))
console.log(
  `${tasks} expired tasks deleted in ${Math.round(deletedMs / 1000)} s; rows without their task: ${orphans}; ` +
    `disk: ${sizeBefore} before, ${sizeAfter} after, ${sizeShrunk} after VACUUM FULL`,
)
console.log(describeMachine())

/** The figures of what is submitted while `work` goes on. */
async function measure(
  extra: Readonly<Record<string, string>>,
  work: (isLogged: (message: string) => boolean) => Promise<void>,
  whenReady: () => Promise<void> = async () => {},
) {
  await using service = await startService({ databaseUrl: postgres.url, settings: { ...settings, ...extra } })
  await whenReady()
  await using verdicts = await followVerdicts(service.url)
  const load = submitSteadily(service.url, applications, perSecond)
  await delay(warmUpMs)
  const fromMs = Date.now()
  await work((message) => service.logs().includes(message))
  const toMs = Date.now()
  await delay(warmUpMs) // for the last verdicts
  const submitted = (await load.stop()).filter(({ atMs }) => atMs >= fromMs && atMs <= toMs)
  const verdictsMs = submitted.map(({ id, atMs }) => verdicts.arrivedAtMs(id) - atMs)
  const missing = verdictsMs.filter(Number.isNaN).length
  if (missing > 0) throw new Error(`${missing} of ${verdictsMs.length} verdicts did not come: ${verdicts.failure()}`)
  return { submissions: submitted.map(({ ms }) => ms), verdicts: verdictsMs }
}

/** Tasks that ended more than a year ago, with what real ones leave. */
async function prepare(): Promise<void> {
  await loadHistory(postgres.url, tasks, 366)
  await admin.connect()
  await admin.query("SET search_path TO watcher; SET maintenance_work_mem = '256MB'; SET synchronous_commit = off")
  await admin.query(`
    INSERT INTO task_events (task_id, at, kind, detail, position)
    SELECT id, created, 'note', 'sync status Synced, health status Progressing', row_number() OVER (ORDER BY created, n)
    FROM tasks, generate_series(1, 6) AS n`)
  await admin.query('UPDATE event_counter SET last = (SELECT max(position) FROM task_events)')
  await admin.query(
    `INSERT INTO task_pod_logs SELECT id, 'pod', '{a line of the log}' FROM tasks WHERE status = 'failed'`,
  )
  await admin.query(`
    INSERT INTO pending_writes (task_id, repository, branch, address, plan, state, created, updated)
    SELECT id, repository, 'main', repository, jsonb_build_object('message', repeat('x', 200)), 'landed', created, created
    FROM tasks WHERE status = 'deployed'`)
  await admin.query('VACUUM ANALYZE task_events, task_pod_logs, pending_writes')
  await admin.query('CHECKPOINT')
}

async function diskUsed(): Promise<string> {
  const { rows } = await admin.query<{ size: string }>(
    'SELECT pg_size_pretty(pg_database_size(current_database())) AS size',
  )
  return rows[0]?.size ?? ''
}

async function countOrphans(): Promise<number> {
  const counts = ['task_events', 'task_pod_logs', 'pending_writes'].map(
    (table) => `(SELECT count(*) FROM ${table} WHERE NOT EXISTS (SELECT FROM tasks WHERE tasks.id = task_id))`,
  )
  const { rows } = await admin.query<{ orphans: string }>(`SELECT ${counts.join(' + ')} AS orphans`)
  return Number(rows[0]?.orphans)
}
