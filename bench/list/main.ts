import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'undici'
import { type TaskList, TaskList as taskListSchema } from '../../contract/task.ts'
import { startService } from '../../test/support/service.ts'
import { describeMachine } from '../support/describe-machine.ts'
import { appName, imageName, loadHistory, randomRank } from '../support/load-history.ts'
import { quantilesOf } from '../support/quantiles.ts'
import { renderTable } from '../support/render-table.ts'
import { startBenchPostgres } from '../support/start-bench-postgres.ts'

const historyTasks = 1_000_000
const samples = 100
const summaryLooks = 20
const summaryMs = 15_000
const barMs = 50
const page = 'limit=100'

const app = () => `app=${appName(randomRank())}`
const author = () => `author=author-${Math.floor(Math.random() * 60)}`
const project = () => `project=project-${Math.floor(Math.random() * 40)}`
const badStatuses = ['failed', 'aborted', 'cancelled', 'app%20not%20found']
const bad = () => `status=${badStatuses[Math.floor(Math.random() * badStatuses.length)]}`
const daysAgo = (days: number) => Math.floor(Date.now() / 1000 - days * 86_400)
const aWeek = () => {
  const from = Math.floor(Math.random() * 350) + 8
  return `from_timestamp=${daysAgo(from)}&to_timestamp=${daysAgo(from - 7)}`
}

/** Each with other values at each request. */
const filters: Readonly<Record<string, () => string>> = {
  none: () => '',
  app,
  author,
  project,
  'status deployed': () => 'status=deployed',
  'status in progress': () => 'status=in%20progress',
  'status bad': bad,
  'app, status bad': () => `${app()}&${bad()}`,
  'app, status deployed': () => `${app()}&status=deployed`,
  'author, status bad': () => `${author()}&${bad()}`,
  'project, status bad': () => `${project()}&${bad()}`,
  'app, author': () => `${app()}&${author()}`,
  'project, author': () => `${project()}&${author()}`,
  'a week': aWeek,
  'app, a week': () => `${app()}&${aWeek()}`,
  'status bad, a week': () => `${bad()}&${aWeek()}`,
  'search tag': () => `search=v1.${Math.floor(Math.random() * historyTasks)}`,
  'search application': () => `search=${appName(randomRank())}`,
  'search image': () => `search=${imageName(randomRank())}:v1`,
  'search author': () => `search=author-${Math.floor(Math.random() * 60)}`,
  'search nothing': () => `search=${crypto.randomUUID()}`,
  'app, search tag': () => `${app()}&search=v1.${Math.floor(Math.random() * 1000)}`,
}

await using postgres = await startBenchPostgres()
{
  await using migrated = await startService({ databaseUrl: postgres.url })
  await migrated.request('/readyz')
}
await loadHistory(postgres.url, historyTasks)
await using service = await startService({ databaseUrl: postgres.url })
const client = new Client(service.url)
console.log(describeMachine())

const rows: string[][] = []
const add = (name: string, latencies: readonly number[]) => {
  rows.push(rowOf(name, latencies))
  console.error(rows.at(-1)?.join('  '))
}
for (const [name, filter] of Object.entries(filters)) {
  add(`${name}: first page`, await measure(samples, () => `tasks?${page}&${filter()}`))
  add(`${name}: next pages`, await measureNextPages(filter))
}
add('summary of 30 days, asked all the time', await measureSummary())
add('summary, each look at the history', await measureSummaryLooks())
console.log(renderTable(['a page of 100 of 1,000,000 tasks', 'p50 ms', 'p99 ms', `<= ${barMs}`], rows))
await client.close()

function rowOf(name: string, latencies: readonly number[]): string[] {
  const { p50, p99 } = quantilesOf(latencies)
  return [name, p50.toFixed(1), p99.toFixed(1), p99 <= barMs ? 'yes' : 'NO']
}

async function ask(path: string): Promise<{ ms: number; text: string }> {
  const began = performance.now()
  const answer = await client.request({ method: 'GET', path: `/api/v1/${path}` })
  const text = await answer.body.text()
  if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${text}`)
  return { ms: performance.now() - began, text }
}

async function measure(count: number, path: () => string): Promise<number[]> {
  const latencies: number[] = []
  for (let sample = 0; sample < count; sample += 1) latencies.push((await ask(path())).ms)
  return latencies
}

/** On from the first page by cursor, ten pages deep, then with other values. */
async function measureNextPages(filter: () => string): Promise<number[]> {
  const latencies: number[] = []
  for (let start = 0; latencies.length < samples && start < samples; start += 1) {
    const query = filter()
    let next = (await pageOf(query)).page.next_cursor
    for (let depth = 0; next !== undefined && depth < 10; depth += 1) {
      const { ms, page: following } = await pageOf(`${query}&cursor=${next}`)
      latencies.push(ms)
      next = following.next_cursor
    }
  }
  return latencies
}

async function pageOf(query: string): Promise<{ ms: number; page: TaskList }> {
  const { ms, text } = await ask(`tasks?${page}&${query}`)
  return { ms, page: taskListSchema.parse(JSON.parse(text)) }
}

async function measureSummary(): Promise<number[]> {
  const latencies: number[] = []
  await ask('apps/summary?days=30')
  for (const began = performance.now(); performance.now() < began + summaryMs; await delay(20)) {
    latencies.push((await ask('apps/summary?days=30')).ms)
  }
  return latencies
}

/** A window that was not asked for lately is not in memory. */
async function measureSummaryLooks(): Promise<number[]> {
  const latencies: number[] = []
  for (let look = 0; look < summaryLooks; look += 1) latencies.push((await ask(`apps/summary?days=${look + 20}`)).ms)
  return latencies
}
