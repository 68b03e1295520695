import { Client } from 'pg'
import { launchBrowser, openPage } from '../../test/support/browser.ts'
import { aTask, type Service, startService, withoutLimits } from '../../test/support/service.ts'
import { inTurns } from '../support/in-turns.ts'
import { quantilesOf } from '../support/quantiles.ts'
import { startBenchPostgres } from '../support/start-bench-postgres.ts'
import { changeRows } from './change-rows.ts'
import { openEventStreams } from './event-streams.ts'

const [applications, rollouts, tasksOfEach, clients, runs] = [500, 50, 20, 200, 3]
const [changeEveryMs, changeForMs] = [100, 10_000]

const longTasks = `
  window.longestTaskMs = 0
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longestTaskMs = Math.max(window.longestTaskMs, duration)
  }).observe({ type: 'longtask' })`

/** What an overview asks for when it is opened. */
const reads = [
  'apps/summary',
  'tasks?status=in%20progress&limit=200',
  'history?days=1',
  'status',
  'deploy-lock/details',
]

/**
 * The longest task of the open overview while its rollouts change ten times a second, and the memory of the one replica
 * that it has in common with other clients, each with a stream and all reads of an overview.
 */
export async function measureOverview() {
  await using started = new AsyncDisposableStack()
  const { url: databaseUrl } = started.use(await startBenchPostgres())
  const service = started.use(await startService({ databaseUrl, settings: withoutLimits }))
  const apps = Array.from({ length: applications }, (_, at) => `app-${at}`)
  await insertHistory(databaseUrl, apps)
  await inTurns(apps.slice(0, rollouts), 8, (app) => submit(service, app))
  started.use(await openEventStreams(service.url, clients - 1))
  await inTurns([...Array(clients - 1).keys()], 3, () => readOverview(service)) // an address has a limit for large answers

  const browser = started.use(await launchBrowser())
  const { page } = started.use(await openPage(browser, 'about:', 'blank'))
  await page.addInitScript(longTasks)
  await page.goto(`${service.url}/`)
  await page.getByText('Live', { exact: true }).waitFor()
  const rows = page.getByRole('region', { name: 'Rolling out now' }).getByRole('listitem')
  await page.getByRole('button', { name: `${rollouts - 6} more` }).click()
  await rows.nth(rollouts - 1).waitFor()
  const openingMs = await page.evaluate<number>('window.longestTaskMs')
  const longest: number[] = []
  for (let run = 0; run < runs; run += 1) {
    await page.evaluate('window.longestTaskMs = 0')
    await changeRows(databaseUrl, changeEveryMs, changeForMs)
    longest.push(await page.evaluate<number>('window.longestTaskMs'))
  }
  return {
    claim: `overview, ${applications} applications, ${rollouts} rollouts changed 10 times a second, ${clients} clients`,
    openingMs,
    longestMs: quantilesOf(longest).p50,
    residentMegabytes: await readMegabytes(service),
  }
}

/** Ended tasks of each application. @returns the id of one */
export async function insertHistory(databaseUrl: string, apps: readonly string[]): Promise<string> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ id: string }>(
      `INSERT INTO watcher.tasks (id, created, updated, deadline, app, author, project, images, timeout_seconds, refresh,
         may_write, status, cause)
       SELECT gen_random_uuid(), ended - interval '1 minute', ended, ended, app, 'ada', 'bench',
         '[{"image": "registry.example/bench", "tag": "v1"}]', 900, true, true,
         CASE WHEN nth % 25 = 0 THEN 'failed' ELSE 'deployed' END, CASE WHEN nth % 25 = 0 THEN 'crash_loop' END
       FROM unnest($1::text[]) WITH ORDINALITY AS apps (app, at), generate_series(1, $2) AS nth,
         LATERAL (SELECT now() - make_interval(mins => (at + nth * 30)::integer) AS ended) AS moments
       RETURNING id`,
      [apps, tasksOfEach],
    )
    await client.query('INSERT INTO watcher.confirmed_applications (app) SELECT unnest($1::text[])', [apps])
    return rows[0]?.id ?? ''
  } finally {
    await client.end()
  }
}

async function submit(service: Service, app: string): Promise<void> {
  const { status, body } = await service.submitTask(aTask({ app }))
  if (status !== 202) throw new Error(`not accepted: ${status} ${JSON.stringify(body)}`)
}

async function readOverview(service: Service): Promise<void> {
  const answers = await Promise.all(reads.map((path) => service.request(`/api/v1/${path}`)))
  const failed = answers.find(({ status }) => status !== 200)
  if (failed) throw new Error(`not read: ${failed.status} ${JSON.stringify(failed.body)}`)
}

async function readMegabytes(service: Service): Promise<number> {
  const { body } = await service.request('/metrics')
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(String(body))?.[1]) / 1e6
}
