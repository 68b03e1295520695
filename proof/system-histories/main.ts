import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { startEmbeddedPostgres } from '../../launcher/embedded-postgres.mjs'
import { createTemplate } from '../../test/support/template-database.ts'
import { checkHistory } from './check-history.ts'
import type { Evidence } from './evidence.ts'
import { faults, runFaults } from './faults/rows.ts'
import { type HistoryPlan, planHistory } from './plan-history.ts'
import { runHistory } from './run-history.ts'

const historiesAtOnce = 3

/**
 * Seeded histories of whole processes, then each fault of the table, with a line for each promise and its bar.
 *
 *   --seeds N    how many histories (20)        --seed S           one of them
 *   --only F1    these faults and no history    --times, --seconds, --tasks   less of each fault, for a short run
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20' },
    seed: { type: 'string' },
    only: { type: 'string' },
    times: { type: 'string' },
    seconds: { type: 'string' },
    tasks: { type: 'string' },
    /** Keeps the histories of the seeds that broke something. */
    out: { type: 'string', default: 'data/simulate' },
  },
})
const seeds =
  values.seed === undefined
    ? Array.from({ length: Number(values.seeds) }, (_, index) => index + 1)
    : [Number(values.seed)]
const plans = seeds.map(planOf)

function planOf(seed: number): HistoryPlan {
  return planHistory(seed, seed % 2 === 1 ? 'safety' : 'liveness')
}

const numberOf = (text: string | undefined) => (text === undefined ? undefined : Number(text))
const size = { times: numberOf(values.times), seconds: numberOf(values.seconds), tasks: numberOf(values.tasks) }
const rows = values.only?.split(',') ?? (values.seed === undefined ? Object.keys(faults) : [])
const areWell = values.only !== undefined || (await playHistories())
process.exit((await runFaults(rows, size)) && areWell ? 0 : 1)

async function playHistories(): Promise<boolean> {
  console.log(
    `${plans.length} histories at commit ${commitNow()}; repeat one with: npm run proof -- system-histories --seed N`,
  )
  const folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-simulate-'))
  const postgres = await startEmbeddedPostgres({ directory: folder, durable: false })
  await createTemplate(postgres.url)
  let broken = 0
  let accepted = 0
  try {
    const waiting = [...plans]
    const work = async () => {
      for (let plan = waiting.shift(); plan !== undefined; plan = waiting.shift()) {
        const { seed } = plan
        const played = await play(plan, postgres.url).catch((error: unknown) =>
          console.log(`seed ${seed} could not be run:`, error),
        )
        accepted += played?.tasks ?? 0
        if (!played?.isGood) broken += 1
      }
    }
    await Promise.all(Array.from({ length: historiesAtOnce }, work))
  } finally {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
  console.log(`${plans.length - broken} of ${plans.length} histories broke no invariant, with ${accepted} tasks`)
  if (accepted === 0) console.log('no task was accepted, so nothing was shown')
  return broken === 0 && accepted > 0
}

function commitNow(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    return 'unknown' // an unpacked archive
  }
}

async function play(plan: HistoryPlan, postgresUrl: string): Promise<{ tasks: number; isGood: boolean }> {
  const began = performance.now()
  const name = `history_${plan.seed}_${plan.mode}`
  const admin = new Client({ connectionString: postgresUrl })
  await admin.connect()
  await admin.query(`CREATE DATABASE ${name} TEMPLATE watcher_template`).finally(() => admin.end())
  const databaseUrl = Object.assign(new URL(postgresUrl), { pathname: `/${name}` }).href
  const evidence = await runHistory(plan, databaseUrl)
  const violations = checkHistory(evidence)
  const seconds = Math.round((performance.now() - began) / 1_000)
  console.log(
    `seed ${plan.seed} ${plan.mode}: ${summary(evidence)}, ${seconds} s${violations.length === 0 ? '' : ' BROKEN'}`,
  )
  for (const violation of violations) console.log(`  ${violation}`)
  if (violations.length > 0) console.log(`  kept in ${await keep(name, evidence)}`)
  return { tasks: evidence.tasks.length, isGood: violations.length === 0 }
}

function summary({ operations, tasks, commits, deaths, plan }: Evidence): string {
  const count = (outcome: string) => operations.filter((operation) => operation.outcome === outcome).length
  const deployed = tasks.filter(({ status }) => status === 'deployed').length
  const own = commits.filter(({ taskId }) => taskId !== undefined).length
  return (
    `${plan.steps.length} steps, ${count('ok')} ok ${count('fail')} fail ${count('info')} info, ` +
    `${tasks.length} tasks, ${deployed} deployed, ${own} commits, ${deaths} deaths`
  )
}

async function keep(name: string, { logs, secrets: _, truth, overrides, ...rest }: Evidence): Promise<string> {
  const directory = path.join(values.out, name)
  await mkdir(directory, { recursive: true })
  const text = JSON.stringify({ ...rest, truth: [...truth], overrides: [...overrides] }, undefined, 1)
  await writeFile(path.join(directory, 'history.json'), text)
  await writeFile(path.join(directory, 'replicas.log'), logs)
  return directory
}
