import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { inTurns } from '../support/in-turns.ts'
import { startBenchWorld } from '../support/start-bench-world.ts'

/** PostgreSQL counts what a connection did at the latest after it was idle for so long. */
const untilCountedMs = 11_000
const idleMs = 20_000
const warmUpTasks = 100

/** What one task costs, from its submission to its end. */
export type Cost = {
  readonly inserted: number
  readonly updated: number
  /** Among `updated`: events that got their number, and the counter that gives it. */
  readonly numbering: number
  readonly transactions: number
  readonly walBytes: number
  readonly cpuMs: number
  readonly events: number
  /** Each table with its rows inserted and updated. */
  readonly tables: string
}

type TableCounts = { readonly name: string; readonly inserted: number; readonly updated: number }
type Counts = {
  readonly atMs: number
  readonly tables: readonly TableCounts[]
  readonly transactions: number
  readonly walBytes: number
  readonly cpuMs: number
}

/**
 * Submits tasks whose images run already, each for an application of its own without write-back, and measures until all have
 * ended. What the service does in as long a time without tasks is taken off: heartbeats and the like.
 */
export async function measureCost(tasks: number, connections: number, checkout?: string): Promise<Cost> {
  const warmUp = namesOf('warm', warmUpTasks)
  const apps = namesOf('app', tasks)
  await using world = await startBenchWorld(undefined, checkout)
  await world.installation.createApplications([...warmUp, ...apps], 'plain', { isManaged: false })
  const client = new Client({ connectionString: world.databaseUrl })
  await client.connect()
  try {
    const count = async () => {
      await delay(untilCountedMs)
      return readCounts(client, await world.metric('process_cpu_seconds_total'))
    }
    const announce = async (some: readonly string[]) => {
      await inTurns(some, connections, (app) => world.submit(app, `registry.example/${app}`, 'v0', {}))
      while (await hasUnfinished(client)) await delay(200)
    }
    await announce(warmUp)
    const idleFrom = await count()
    await delay(idleMs)
    const idleTo = await count()
    await announce(apps)
    const done = await count()
    const { rows } = await client.query<{ events: number }>(
      'SELECT count(*)::integer AS events FROM watcher.task_events JOIN watcher.tasks ON tasks.id = task_id WHERE app LIKE $1',
      ['app-%'],
    )
    return costOf(tasks, { idleFrom, idleTo, done }, rows[0]?.events ?? Number.NaN)
  } finally {
    await client.end()
  }
}

const namesOf = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}-${at}`)

async function hasUnfinished(client: Client): Promise<boolean> {
  const { rows } = await client.query('SELECT FROM watcher.tasks WHERE ended IS NULL LIMIT 1')
  return rows.length > 0
}

async function readCounts(client: Client, cpuSeconds: number): Promise<Counts> {
  const { rows: tables } = await client.query<TableCounts>(
    `SELECT relname AS name, n_tup_ins::integer AS inserted, n_tup_upd::integer AS updated
     FROM pg_stat_user_tables WHERE schemaname = 'watcher' ORDER BY relname`,
  )
  const { rows } = await client.query<{ transactions: number; wal: string }>(
    `SELECT (xact_commit + xact_rollback)::integer AS transactions, pg_current_wal_lsn() - '0/0' AS wal
     FROM pg_stat_database WHERE datname = current_database()`,
  )
  const { transactions = Number.NaN, wal = 'NaN' } = rows[0] ?? {}
  return { atMs: performance.now(), tables, transactions, walBytes: Number(wal), cpuMs: cpuSeconds * 1_000 }
}

type Marks = { readonly idleFrom: Counts; readonly idleTo: Counts; readonly done: Counts }

function costOf(tasks: number, { idleFrom, idleTo, done }: Marks, events: number): Cost {
  const idleShare = (done.atMs - idleTo.atMs) / (idleTo.atMs - idleFrom.atMs)
  const ofOne = (read: (counts: Counts) => number) =>
    (read(done) - read(idleTo) - idleShare * (read(idleTo) - read(idleFrom))) / tasks
  const ofTable = (name: string, kind: 'inserted' | 'updated') =>
    ofOne(({ tables }) => tables.find((table) => table.name === name)?.[kind] ?? 0)
  const sumOf = (kind: 'inserted' | 'updated') =>
    ofOne(({ tables }) => tables.reduce((sum, table) => sum + table[kind], 0))
  const tables = done.tables
    .map(({ name }) => `${name} ${figure(ofTable(name, 'inserted'))}+${figure(ofTable(name, 'updated'))}`)
    .filter((text) => !text.endsWith(' 0+0'))
  return {
    inserted: sumOf('inserted'),
    updated: sumOf('updated'),
    numbering: ofTable('task_events', 'updated') + ofTable('event_counter', 'updated'),
    transactions: ofOne((counts) => counts.transactions),
    walBytes: ofOne((counts) => counts.walBytes),
    cpuMs: ofOne((counts) => counts.cpuMs),
    events: events / tasks,
    tables: tables.join(', '),
  }
}

/** With one decimal at most. */
export const figure = (value: number) => String(Math.round(value * 10) / 10 || 0)
