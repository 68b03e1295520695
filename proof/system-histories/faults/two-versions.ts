import { randomUUID } from 'node:crypto'
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { migrate } from '../../../server/storage/migrate.ts'
import { startService } from '../../../test/support/service.ts'
import { grantRights } from '../../../test/support/template-database.ts'
import { withToken } from '../../../test/support/world.ts'
import type { Fault } from './fault.ts'
import { countViolations, deployment, startFaultWorld, untilAllEnded } from './fault-world.ts'

const root = path.join(import.meta.dirname, '..', '..', '..')
const perSecond = 10
const applications = Array.from({ length: 30 }, (_, at) => `app-${at}`)
const nextMigration = 'ALTER TABLE tasks ADD COLUMN added_later text; CREATE TABLE added_later (id integer);'

/** This version and one with one migration more work side by side; one of each is killed and started again. */
export const twoVersions: Fault = async ({ seconds = 300 }) => {
  await using started = new AsyncDisposableStack()
  const next = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-next-'))
  started.defer(() => rm(next, { recursive: true, force: true }))
  for (const part of ['server', 'contract', 'gotemplate', 'package.json'])
    await cp(path.join(root, part), path.join(next, part), { recursive: true })
  await symlink(path.join(root, 'node_modules'), path.join(next, 'node_modules'))
  await writeFile(path.join(next, 'server', 'storage', 'migrations', '9999-next.sql'), nextMigration)

  const world = started.use(await startFaultWorld({ applications, replicas: 1 }))
  await world.untilDatabaseHasSettled()
  const owner = {
    connection: { connectionString: world.databaseUrl() },
    schema: 'watcher',
    maxConnections: 2,
    connectTimeoutMs: 10_000,
  }
  await migrate(owner, { folder: new URL(`file://${next}/server/storage/migrations/`) })
  await grantRights(world.databaseUrl())
  const newer = started.use(
    await startService({ databaseUrl: world.databaseUrl(), settings: world.settings, checkout: next }),
  )
  const both = [world.replica(0), newer]
  const accepted: string[] = []
  const failed: string[] = []
  let isOver = false
  const load = async () => {
    for (let turn = 0; !isOver; turn += 1, await delay(1_000 / perSecond)) {
      const task = deployment(applications[turn % applications.length] ?? '', `v${turn}`)
      const key = { 'Idempotency-Key': randomUUID(), ...withToken }
      for (let attempt = 0; attempt < 200; attempt += 1, await delay(50)) {
        const answer = await both[(turn + attempt) % both.length]?.submitTask(task, key).catch(() => undefined)
        if (answer?.status === 202) {
          accepted.push((answer.body as { id: string }).id)
          break
        }
        if (answer !== undefined && answer.status !== 503) failed.push(String(answer.status))
      }
    }
  }
  const loading = load()
  for (const replica of both) {
    await delay((seconds * 1_000) / 3)
    await replica.kill('SIGKILL')
    await replica.restart()
  }
  await delay((seconds * 1_000) / 3)
  isOver = true
  await loading
  const left = await untilAllEnded(world, 60_000)
  const { lost, ends } = await countViolations(world, accepted)
  const trailers = (await world.commits()).map(({ message }) => /Watcher-Task: (\S+)/.exec(message)?.[1])
  const doubled = trailers.length - new Set(trailers).size
  const wrong = await world.rows(`SELECT FROM watcher.tasks WHERE status NOT IN ('deployed', 'cancelled')`)
  return {
    figure: `${seconds} s, ${accepted.length} accepted, ${failed.length} rejected, ${lost} lost, ${ends} with other than one end, ${wrong.length} ended wrongly, ${doubled} commits doubled, ${left} unfinished`,
    bar: '0 violations',
    isMet: failed.length + lost + ends + wrong.length + doubled + left === 0,
  }
}
