import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startEmbeddedPostgres } from '../../../launcher/embedded-postgres.mjs'
import { type Answer, aTask, type Service, withoutLimits } from '../../../test/support/service.ts'
import { prepareDatabase } from '../../../test/support/template-database.ts'
import { startWorld, type WorldOptions, withToken } from '../../../test/support/world.ts'

/** For the first ten seconds after a start of PostgreSQL nobody takes a dead replica's tasks (decision 0013). */
const databaseSettlesMs = 10_500
const retryMs = 100

export type FaultWorld = Awaited<ReturnType<typeof startFaultWorld>>

/** A durable PostgreSQL that can be killed, and replicas behind fault proxies. */
export async function startFaultWorld(options: Omit<WorldOptions, 'databaseUrl'> = {}) {
  await using started = new AsyncDisposableStack()
  const directory = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-faults-'))
  started.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  let postgres = await startEmbeddedPostgres({ directory, durable: true })
  started.defer(() => postgres.stop())
  await prepareDatabase(postgres.url)
  const settings = { ...withoutLimits, ...options.settings }
  const replicas = started.use(
    await startWorld({ parts: ['argo cd', 'lines'], replicas: 3, ...options, settings, databaseUrl: postgres.url }),
  )
  const stack = started.move()

  const start = async () => {
    postgres = await startEmbeddedPostgres({ directory, durable: true })
    replicas.databaseLine.port = Number(new URL(postgres.url).port)
  }
  return {
    ...replicas,
    databaseUrl: () => postgres.url,
    replica(index: number) {
      const replica = replicas.running[index % replicas.running.length]
      if (replica === undefined) throw new Error('there are no replicas')
      return replica
    },
    /** As by a crash of its machine: nobody is told, nothing is finished. */
    async killDatabase(): Promise<void> {
      const [pid] = (await readFile(path.join(postgres.directory, 'cluster', 'postmaster.pid'), 'utf8')).split('\n')
      process.kill(Number(pid), 'SIGQUIT')
      await postgres.ended
    },
    startDatabase: start,
    untilDatabaseHasSettled: () => delay(databaseSettlesMs),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** A task of a managed application, as a pipeline submits it. */
export const deployment = (app: string, tag: string, timeout = 600) =>
  aTask({ app, images: [{ image: `registry.example/${app}`, tag }], timeout })

/** One try; undefined where no answer came. */
export const trySubmit = (to: Service, task: unknown, key: string): Promise<Answer | undefined> =>
  to.submitTask(task, { ...withToken, 'Idempotency-Key': key }).catch(() => undefined)

/** Sends the same again, to one replica after the other, until it is accepted. @returns the id */
export async function submitUntilAccepted(
  world: Pick<FaultWorld, 'replica'>,
  task: unknown,
  key: string,
  first = 0,
): Promise<string> {
  for (let attempt = 0; attempt < 600; attempt += 1, await delay(retryMs)) {
    const answer = await trySubmit(world.replica(first + attempt), task, key)
    if (answer?.status === 202) return (answer.body as { id: string }).id
  }
  throw new Error('a task was not accepted within a minute')
}

/** Waits until every task has ended. @returns how many have not, after the limit */
export async function untilAllEnded({ rows }: Pick<FaultWorld, 'rows'>, limitMs: number): Promise<number> {
  let left = Number.NaN
  for (const end = performance.now() + limitMs; performance.now() < end && left !== 0; await delay(200)) {
    const found = await rows<{ left: number }>(
      'SELECT count(*)::integer AS left FROM watcher.tasks WHERE ended IS NULL',
    ).catch(() => [])
    left = found[0]?.left ?? left
  }
  return left
}

/** Tasks that are missing of those accepted, and ends that were written more or less than once. */
export async function countViolations({ rows }: Pick<FaultWorld, 'rows'>, accepted: readonly string[]) {
  const [found] = await rows<{ lost: number; ends: number }>(
    `WITH verdicts AS MATERIALIZED (SELECT task_id, count(*) FROM watcher.task_events WHERE kind = 'verdict' GROUP BY task_id)
     SELECT (SELECT count(*)::integer FROM unnest($1::uuid[]) AS id LEFT JOIN watcher.tasks ON tasks.id = id.id WHERE tasks.id IS NULL) AS lost,
       (SELECT count(*)::integer FROM watcher.tasks LEFT JOIN verdicts ON task_id = tasks.id
         WHERE ended IS NOT NULL AND coalesce(count, 0) <> 1) AS ends`,
    [accepted],
  )
  return { lost: found?.lost ?? Number.NaN, ends: found?.ends ?? Number.NaN }
}
