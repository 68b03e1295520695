import { type Kysely, sql, type Transaction } from 'kysely'
import { recordFoundCommit } from '../../deployments/own/record-commits.ts'
import { heldBy, isUnfinished } from '../../deployments/read/task-predicates.ts'
import type { Claim } from '../../deployments/task.ts'
import type { Database } from '../../storage/database.ts'
import type { Schema } from '../../storage/schema.ts'
import { appendEvents } from '../../timeline/insert-events.ts'
import type { OpenWrite } from '../decide/branch-memory.ts'
import type { WriteResult } from '../decide/write-result.ts'
import { editors } from '../edit/editors.ts'
import type { WriteBackPlan } from '../plan/plan-write-back.ts'
import { repositoryName } from '../plan/repository-address.ts'
import type { WriteBackOutcome } from '../plan/write-back-outcome.ts'
import { recordResults } from './record-results.ts'

/** A replica's hold on a repository, by its name. */
export type RepositoryClaim = {
  readonly repository: string
  readonly owner: string
  readonly fence: string
}

/** What each entry of each task had before the commit, by name; null: nothing. */
export type ReplacedByTask = Readonly<Record<string, Readonly<Record<string, string | null>>>>

/** Writes to one branch of a claimed repository that get there by one address. */
export type WriteQueue = RepositoryClaim & { readonly branch: string; readonly address: string }

/** The SQL of `pending_writes` and `repositories`; how results are recorded stands in record-results.ts. */
export function createPendingWriteStore(database: Database) {
  const { query } = database
  const table = (name: keyof Schema) => sql.id(database.settings.schema, name)

  return {
    /** Queues a task's write for its owner; false: the task is not his any more. A second time changes nothing. */
    queue: (claim: Claim, plan: WriteBackPlan): Promise<boolean> =>
      query.transaction().execute(async (transaction) => {
        if (!(await holdsTask(transaction, claim))) return false
        const repository = repositoryName(plan.repository)
        await transaction
          .insertInto('repositories')
          .values({ name: repository })
          .onConflict((conflict) => conflict.doNothing())
          .execute()
        const inserted = await transaction
          .insertInto('pending_writes')
          .values({
            task_id: claim.taskId,
            repository,
            branch: plan.branch,
            address: plan.address,
            plan: withExpected(transaction, claim.taskId, plan),
          })
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirst()
        if (inserted.numInsertedOrUpdatedRows === 1n) {
          const events = [{ kind: 'write_back_queued' as const, detail: describePlan(plan) }]
          await appendEvents(transaction, [{ taskId: claim.taskId, events }])
        }
        return true
      }),

    async outcomeOf(taskId: string): Promise<WriteBackOutcome | undefined> {
      const row = await query
        .selectFrom('pending_writes')
        .innerJoin('tasks', 'tasks.id', 'pending_writes.task_id')
        .select([
          'state',
          'pending_writes.commit',
          'pending_writes.cause',
          'reason',
          'tasks.repository',
          'tasks.branch',
        ])
        .where('task_id', '=', taskId)
        .executeTakeFirst()
      return row && readOutcome(row)
    },

    /** Takes the repositories with open writes that no live replica owns; returns their queues and those that we have already. */
    async claimRepositories(owner: string): Promise<readonly WriteQueue[]> {
      const { rows } = await sql<Pick<WriteQueue, 'repository' | 'branch' | 'address' | 'fence'>>`
        WITH wanted AS (
          SELECT DISTINCT repository, branch, address FROM ${table('pending_writes')} WHERE state IN ('queued', 'pushing')
        ), free AS (
          SELECT r.name FROM ${table('repositories')} r
          WHERE r.name IN (SELECT repository FROM wanted)
            AND (r.owner IS NULL OR NOT EXISTS (SELECT FROM ${table('replicas')} p WHERE p.id = r.owner))
            AND EXISTS (SELECT FROM ${table('replicas')} p WHERE p.id = ${owner})
          ORDER BY r.name FOR UPDATE OF r SKIP LOCKED
        ), taken AS (
          UPDATE ${table('repositories')} r SET owner = ${owner}, fence = r.fence + 1
          FROM free WHERE r.name = free.name
          RETURNING r.name, r.fence
        ), held AS (
          SELECT name, fence FROM taken
          UNION ALL
          SELECT name, fence FROM ${table('repositories')} WHERE owner = ${owner}
        )
        SELECT w.repository, w.branch, w.address, held.fence FROM wanted w JOIN held ON held.name = w.repository
      `.execute(query)
      return rows.map((row) => ({ ...row, owner }))
    },

    /** How many writes of all replicas have no outcome yet, and for how long the oldest of them. */
    async openOfAll(): Promise<{ readonly count: number; readonly oldestSeconds: number }> {
      return await query
        .selectFrom('pending_writes')
        .select(sql<number>`count(*)::integer`.as('count'))
        .select(
          sql<number>`coalesce(extract(epoch FROM clock_timestamp() - min(created)), 0)::double precision`.as(
            'oldestSeconds',
          ),
        )
        .where('state', 'in', ['queued', 'pushing'])
        .executeTakeFirstOrThrow()
    },

    async release(owner: string): Promise<void> {
      await query.updateTable('repositories').set({ owner: null }).where('owner', '=', owner).execute()
    },

    /** Oldest first, so that the newest tag is the last commit. */
    async openWrites({ repository, branch, address }: WriteQueue, limit: number): Promise<readonly OpenWrite[]> {
      const rows = await query
        .selectFrom('pending_writes')
        .innerJoin('tasks', 'tasks.id', 'pending_writes.task_id')
        .select(['task_id', 'plan', 'state', 'base', 'reason', 'status'])
        .select(sql<number>`extract(epoch FROM deadline - now())::float8`.as('seconds_left'))
        .select(
          sql<number>`greatest(0, extract(epoch FROM now() - pending_writes.created))::float8`.as('waited_seconds'),
        )
        .where('pending_writes.repository', '=', repository)
        .where('pending_writes.branch', '=', branch)
        .where('address', '=', address)
        .where('state', 'in', ['queued', 'pushing'])
        .orderBy('tasks.created')
        .orderBy('task_id')
        .limit(limit)
        .execute()
      return rows.map((row) => ({
        taskId: row.task_id,
        plan: readPlan(row.plan),
        state: row.state === 'pushing' ? 'pushing' : 'queued',
        base: row.base ?? undefined,
        lastReason: row.reason ?? undefined,
        isWanted: row.status === 'in progress',
        secondsLeft: row.seconds_left,
        waitedSeconds: row.waited_seconds,
      }))
    },

    /**
     * The last look before a push: marks the tasks that are still in progress, while the repository is still ours, and
     * returns them. Stored before anything is sent, so that a successor knows where to look for the commits, and what they replace.
     */
    async beginPush(
      claim: RepositoryClaim,
      base: string,
      taskIds: readonly string[],
      replaced: ReplacedByTask = {},
    ): Promise<ReadonlySet<string>> {
      const values = JSON.stringify(replaced)
      const rows = await query
        .updateTable('pending_writes')
        .from('tasks')
        .set({
          state: 'pushing',
          base,
          replaced: sql`${values}::jsonb -> pending_writes.task_id::text`,
          updated: sql`now()`,
        })
        .whereRef('tasks.id', '=', 'pending_writes.task_id')
        .where(isUnfinished)
        .where('task_id', 'in', [...taskIds])
        .where('state', 'in', ['queued', 'pushing'])
        .where(({ exists }) => exists(ownRepository(query, claim)))
        .returning('task_id')
        .execute()
      return new Set(rows.map(({ task_id }) => task_id))
    },

    /** Nothing of these tasks is on the branch or on its way there: they wait again. */
    async queueAgain(claim: RepositoryClaim, taskIds: readonly string[]): Promise<void> {
      if (taskIds.length === 0) return
      await query
        .updateTable('pending_writes')
        .set({ state: 'queued', base: null, updated: sql`now()` })
        .where('task_id', 'in', [...taskIds])
        .where('state', '=', 'pushing')
        .where(({ exists }) => exists(ownRepository(query, claim)))
        .execute()
    },

    /** Writes go on in the queue of another branch, with what is known of them. */
    async moveToBranch(queue: WriteQueue, taskIds: readonly string[], branch: string): Promise<void> {
      if (taskIds.length === 0) return
      await query
        .updateTable('pending_writes')
        .set({ branch })
        .where('task_id', 'in', [...taskIds])
        .where('branch', '=', queue.branch)
        .where('state', 'in', ['queued', 'pushing'])
        .where(({ exists }) => exists(ownRepository(query, queue)))
        .execute()
    },

    /** Outcomes, the tasks' commits and their events in one transaction; false: the repository was taken from us. */
    record: (claim: RepositoryClaim, results: readonly WriteResult[]): Promise<boolean> =>
      query.transaction().execute(async (transaction) => {
        const own = await ownRepository(transaction, claim).forUpdate().executeTakeFirst()
        if (!own) return false
        await recordResults(transaction, results, ['queued', 'pushing'])
        return true
      }),

    /** What a push put on the branch is a fact, also when the repository was taken meanwhile and nothing was found of it. */
    recordLatePush: (results: readonly WriteResult[]): Promise<void> =>
      query.transaction().execute((transaction) => recordResults(transaction, results, ['pushing', 'dropped'])),

    /** Shows which commit set the tags that a task found on the branch, perhaps after its end; false: there is nothing to do. */
    showCommit: (taskId: string, commit: string): Promise<boolean> =>
      query.transaction().execute(async (transaction) => {
        if (!(await recordFoundCommit(transaction, taskId, commit))) return false
        const events = [{ kind: 'note' as const, detail: `the tags were set by commit ${commit}`, data: { commit } }]
        await appendEvents(transaction, [{ taskId, events }])
        return true
      }),

    /** Keeps what happened to open writes, and tells their tasks, each reason once in a row; returns who heard it. */
    async recordReason(claim: RepositoryClaim, taskIds: readonly string[], reason: string): Promise<readonly string[]> {
      if (taskIds.length === 0) return []
      const rows = await query
        .updateTable('pending_writes')
        .set({ reason })
        .where('task_id', 'in', [...taskIds])
        .where('state', 'in', ['queued', 'pushing'])
        .where('reason', 'is distinct from', reason)
        .where(({ exists }) => exists(ownRepository(query, claim)))
        .returning('task_id')
        .execute()
      const told = rows.map(({ task_id }) => task_id)
      const events = [{ kind: 'write_back_retry' as const, detail: reason }]
      await appendEvents(
        query,
        told.map((taskId) => ({ taskId, events })),
      )
      return told
    },

    /** Gives the repository to another living replica; false: there is none, or that was done within the last minute. */
    async giveAway({ repository, owner, fence }: RepositoryClaim): Promise<boolean> {
      const { rows } = await sql`
        UPDATE ${table('repositories')} r SET owner = other.id, fence = r.fence + 1, given = now()
        FROM (SELECT id FROM ${table('replicas')} WHERE id <> ${owner} ORDER BY random() LIMIT 1) other
        WHERE r.name = ${repository} AND r.owner = ${owner} AND r.fence = ${fence}
          AND (r.given IS NULL OR r.given < now() - interval '1 minute')
        RETURNING r.owner
      `.execute(query)
      return rows.length > 0
    },

    /** Whether the repository is still ours. */
    async owns(claim: RepositoryClaim): Promise<boolean> {
      return (await ownRepository(query, claim).executeTakeFirst()) !== undefined
    },

    /** Recent outcomes of unfinished tasks that a replica owns: what it would have heard of, had no message been lost. */
    async outcomesForOwner(
      owner: string,
      withinSeconds: number,
    ): Promise<readonly { taskId: string; outcome: WriteBackOutcome }[]> {
      const rows = await query
        .selectFrom('pending_writes')
        .innerJoin('tasks', 'tasks.id', 'pending_writes.task_id')
        .select(['task_id', 'state', 'pending_writes.commit', 'pending_writes.cause', 'reason'])
        .select(['tasks.repository', 'tasks.branch'])
        .where('owner', '=', owner)
        .where('status', '=', 'in progress')
        .where('state', 'not in', ['queued', 'pushing'])
        .where('pending_writes.updated', '>', sql<Date>`now() - make_interval(secs => ${withinSeconds})`)
        .execute()
      return rows.flatMap((row) => {
        const outcome = readOutcome(row)
        return outcome ? [{ taskId: row.task_id, outcome }] : []
      })
    },

    /** Whether a task for the same application that may write was accepted after this one and not cancelled. */
    async hasNewerTask(taskId: string): Promise<boolean> {
      // as subqueries: a comparison with a joined row would read all tasks of the application
      const own = query.selectFrom('tasks').where('id', '=', taskId)
      const newer = await query
        .selectFrom('tasks')
        .select('id')
        .where('app', '=', own.select('app'))
        .where(sql<boolean>`(created, id) > (${own.select('created')}, ${taskId}::uuid)`)
        .where('may_write', '=', true)
        .where('status', '<>', 'cancelled')
        .orderBy('created', 'desc')
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst()
      return newer !== undefined
    },
  }
}

export type PendingWriteStore = ReturnType<typeof createPendingWriteStore>

async function holdsTask(transaction: Transaction<Schema>, claim: Claim): Promise<boolean> {
  const task = await transaction.selectFrom('tasks').select('id').where(heldBy(claim)).forUpdate().executeTakeFirst()
  return task !== undefined
}

/** The repository's row while the claim on it holds and its owner counts as alive. */
function ownRepository(query: Kysely<Schema>, claim: RepositoryClaim) {
  return query
    .selectFrom('repositories')
    .select('repositories.name')
    .where('repositories.name', '=', claim.repository)
    .where('repositories.owner', '=', claim.owner)
    .where('repositories.fence', '=', claim.fence)
    .where(({ exists, selectFrom }) => exists(selectFrom('replicas').select('id').where('id', '=', claim.owner)))
}

/** The plan as it is stored; of a rollback with what its entries must have, which is what the failed task set. */
function withExpected(transaction: Transaction<Schema>, taskId: string, plan: WriteBackPlan) {
  const failed = transaction
    .selectFrom('tasks')
    .innerJoin('pending_writes as undone', 'undone.task_id', 'tasks.rollback_of')
    .select(sql`jsonb_build_object('expected', undone.plan -> 'entries')`.as('expected'))
    .where('tasks.id', '=', taskId)
  return sql<string>`${JSON.stringify(plan)}::jsonb || coalesce((${failed}), '{}')`
}

function describePlan(plan: WriteBackPlan): string {
  const tags = plan.entries.map((entry) => editors[plan.tool].describe(entry)).join(', ')
  const way = plan.address === plan.repository ? '' : `, by way of ${plan.address}`
  return `${tags} for ${plan.file} in ${plan.repository}, branch ${plan.branch}${way}`
}

/** A plan as we stored it ourselves; jsonb gives back what JSON.stringify was given. */
function readPlan(stored: object): WriteBackPlan {
  return stored as WriteBackPlan
}

function readOutcome(row: {
  state: string
  commit: string | null
  cause: Schema['pending_writes']['cause']
  reason: string | null
  repository: string | null
  branch: string | null
}): WriteBackOutcome | undefined {
  if (row.state === 'dropped') return { kind: 'dropped' }
  if (row.state === 'refused') return { kind: 'refused', cause: row.cause ?? 'git_refused', reason: row.reason ?? '' }
  if (row.state !== 'landed' && row.state !== 'unchanged') return undefined
  const { commit, repository, branch } = row
  if (commit === null || repository === null || branch === null) return undefined
  return { kind: row.state, commit, repository, branch }
}
