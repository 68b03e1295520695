import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { startEmbeddedPostgres } from '../../server/storage/embedded-postgres.mjs'
import { createTemplate } from '../../test/support/template-database.ts'
import { checkHistory } from './check-history.ts'
import type { Evidence } from './evidence.ts'
import { type HistoryPlan, planHistory } from './plan-history.ts'
import { runHistory } from './run-history.ts'

const historiesAtOnce = 3

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20' },
    seed: { type: 'string' },
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

const commit = commitNow()
console.log(`${plans.length} histories at commit ${commit}; repeat one with: npm run simulate -- --seed N`)

const folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-simulate-'))
const postgres = await startEmbeddedPostgres({ directory: folder, durable: false })
await createTemplate(postgres.url)
let broken = 0
let accepted = 0
try {
  const waiting = [...plans]
  const work = async () => {
    for (let plan = waiting.shift(); plan !== undefined; plan = waiting.shift()) {
      const name = plan.seed
      const isWell = await isGood(plan).catch((error: unknown) => console.log(`seed ${name} could not be run:`, error))
      if (!isWell) broken += 1
    }
  }
  await Promise.all(Array.from({ length: historiesAtOnce }, work))
} finally {
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}
console.log(`${plans.length - broken} of ${plans.length} histories broke no invariant, with ${accepted} tasks`)
if (accepted === 0) console.log('no task was accepted, so nothing was shown')
process.exit(broken === 0 && accepted > 0 ? 0 : 1)

function commitNow(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    return 'unknown' // an unpacked archive
  }
}

async function isGood(plan: HistoryPlan): Promise<boolean> {
  const began = performance.now()
  const name = `history_${plan.seed}_${plan.mode}`
  const admin = new Client({ connectionString: postgres.url })
  await admin.connect()
  await admin.query(`CREATE DATABASE ${name} TEMPLATE watcher_template`).finally(() => admin.end())
  const databaseUrl = Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href
  const evidence = await runHistory(plan, databaseUrl)
  accepted += evidence.tasks.length
  const violations = checkHistory(evidence)
  const seconds = Math.round((performance.now() - began) / 1_000)
  console.log(
    `seed ${plan.seed} ${plan.mode}: ${summary(evidence)}, ${seconds} s${violations.length === 0 ? '' : ' BROKEN'}`,
  )
  for (const violation of violations) console.log(`  ${violation}`)
  if (violations.length > 0) console.log(`  kept in ${await keep(name, evidence)}`)
  return violations.length === 0
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
