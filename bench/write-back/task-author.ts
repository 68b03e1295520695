import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql, type Transaction } from 'kysely'
import { createReplica } from '../../server/ownership/replica.ts'
import { wakeUpChannel } from '../../server/ownership/wake-ups.ts'
import { type DatabaseSettings, openDatabase } from '../../server/storage/database.ts'
import type { Schema } from '../../server/storage/schema.ts'
import { taskTrailer } from '../../server/write-back/plan/commit-message.ts'
import type { WriteBackPlan } from '../../server/write-back/plan/plan-write-back.ts'
import { createPendingWriteStore } from '../../server/write-back/queue/pending-write-store.ts'
import { insertOwnedTask, shopImage } from '../../test/support/insert-owned-task.ts'
import { overridePath } from './generated-repository.ts'

const schema = 'watcher'
const openStates = ['queued', 'pushing'] as const
/** Seldom, so that asking delays nothing: when a write landed is read from its events. */
const pollMs = 50

export type NewWrite = {
  readonly app: string
  readonly tag: string
  /** The address of its repository. */
  readonly repository: string
  readonly file?: string
  readonly seconds?: number
}

export type QueuedWrite = NewWrite & { readonly taskId: string; readonly queuedAtMs: number }

/** `tries`: of pushes until it landed. */
export type EndedWrite = QueuedWrite & {
  readonly state: string
  readonly reason: string | null
  readonly latencyMs: number
  readonly tries: number
}

/**
 * Queues the write-backs of tasks without HTTP and without Argo CD, hundreds in one moment: another replica's process
 * finds them in the database and does them. The tasks belong to a replica that does nothing else.
 */
export async function startTaskAuthor(databaseUrl: string) {
  const settings: DatabaseSettings = {
    connection: { connectionString: databaseUrl },
    schema,
    maxConnections: 4,
    connectTimeoutMs: 10_000,
  }
  await using started = new AsyncDisposableStack()
  const database = started.use(openDatabase(settings, () => {}, 60_000))
  const { query } = database
  const replica = started.use(createReplica(settings, wakeUpChannel(schema)))
  replica.start({
    onRegistered: async () => {},
    onLost: () => {},
    onNotification: () => {},
    onError: (message, error) => process.stderr.write(`${message}: ${error}\n`),
  })
  while (replica.id() === undefined) await delay(pollMs)
  const stack = started.move()

  /** All of them become visible at once. `beforeCommit` runs right before that. */
  async function queue(writes: readonly NewWrite[], beforeCommit?: () => Promise<unknown>): Promise<QueuedWrite[]> {
    const ids = await query.transaction().execute(async (transaction) => {
      const owner = replica.id() ?? ''
      const store = createPendingWriteStore({ ...database, query: within(transaction) })
      const made: string[] = []
      for (const write of writes) {
        const claim = await insertOwnedTask(transaction, owner, { ...write, seconds: write.seconds ?? 600 })
        if (!(await store.queue(claim, planOf(write, claim.taskId)))) throw new Error('not queued')
        made.push(claim.taskId)
      }
      await sql`SELECT pg_notify(${wakeUpChannel(schema)}, 'bench write *')`.execute(transaction)
      await beforeCommit?.()
      return made
    })
    const queuedAtMs = Date.now()
    return writes.map((write, at) => ({ ...write, taskId: ids[at] ?? '', queuedAtMs }))
  }

  async function openCount(
    ids: readonly string[],
    states: readonly (typeof openStates)[number][] = openStates,
  ): Promise<number> {
    const { open } = await query
      .selectFrom('pending_writes')
      .select(({ fn }) => fn.countAll<string>().as('open'))
      .where('task_id', 'in', [...ids])
      .where('state', 'in', [...states])
      .executeTakeFirstOrThrow()
    return Number(open)
  }

  /** Waits until all have an outcome, and ends their tasks. @throws after the limit */
  async function untilEnded(writes: readonly QueuedWrite[], limitMs = 120_000): Promise<EndedWrite[]> {
    const ids = writes.map(({ taskId }) => taskId)
    const limit = performance.now() + limitMs
    for (let open = ids.length; open > 0; open = await openCount(ids)) {
      if (performance.now() > limit) throw new Error(`${open} of ${ids.length} writes have no outcome`)
      await delay(pollMs)
    }
    await query.updateTable('tasks').set({ status: 'deployed' }).where('id', 'in', ids).execute()
    return readEnded(writes)
  }

  async function readEnded(writes: readonly QueuedWrite[]): Promise<EndedWrite[]> {
    const ids = writes.map(({ taskId }) => taskId)
    const rows = await query
      .selectFrom('pending_writes')
      .leftJoin('task_events', (join) =>
        join.onRef('task_events.task_id', '=', 'pending_writes.task_id').on('kind', '=', 'commit_pushed'),
      )
      .select(['pending_writes.task_id', 'state', 'reason', 'detail', 'at'])
      .where('pending_writes.task_id', 'in', ids)
      .execute()
    const found = new Map(rows.map((row) => [row.task_id, row]))
    return writes.map((write) => {
      const row = found.get(write.taskId)
      const tries = Number(/ at try (\d+)/.exec(row?.detail ?? '')?.[1] ?? 1)
      const atMs = row?.at === null || row?.at === undefined ? Number.POSITIVE_INFINITY : new Date(row.at).getTime()
      return {
        ...write,
        state: row?.state ?? 'gone',
        reason: row?.reason ?? null,
        latencyMs: atMs - write.queuedAtMs,
        tries,
      }
    })
  }

  return {
    database,
    queue,
    openCount,
    untilEnded,
    deploy: async (writes: readonly NewWrite[], limitMs?: number) => untilEnded(await queue(writes), limitMs),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

function planOf({ app, tag, repository, file = overridePath(app) }: NewWrite, id: string): WriteBackPlan {
  return {
    app,
    repository,
    address: repository,
    branch: 'main',
    file,
    tool: 'helm',
    entries: [{ name: 'image.tag', value: tag, image: shopImage }],
    sourceEntries: [],
    message: `watcher(${app}): update image tag\n\n${taskTrailer}: ${id}\n`,
  }
}

/** Lets a store that opens transactions of its own work inside one that is open. */
function within(transaction: Transaction<Schema>): Kysely<Schema> {
  const inner = { execute: <T>(work: (transaction: Transaction<Schema>) => Promise<T>) => work(transaction) }
  return new Proxy<Kysely<Schema>>(transaction, {
    get(target, name) {
      if (name === 'transaction') return () => inner
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** What verifyRepository has to find: the file of each task that was told of a commit. */
export function landedFiles(writes: readonly EndedWrite[]): ReadonlyMap<string, string> {
  return new Map(
    writes
      .filter(({ state }) => state === 'landed')
      .map(({ taskId, app, file = overridePath(app) }) => [taskId, file] as const),
  )
}
