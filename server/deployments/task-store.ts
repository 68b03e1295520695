import { type SqlBool, sql } from 'kysely'
import type { AppSummaries } from '../../contract/app-summary.ts'
import { bareDiagnosis } from '../../contract/diagnosis.ts'
import type { HistoryFilter } from '../../contract/history.ts'
import type { ListedTask, PodLog, TaskConditions, TaskFilter } from '../../contract/task.ts'
import type { TaskCounts } from '../../contract/task-counts.ts'
import type { NameSearch, TaskNames } from '../../contract/task-names.ts'
import { type Actor, recordAction } from '../audit/record-action.ts'
import type { Database } from '../storage/database.ts'
import { createAcceptTask } from './accept-task.ts'
import { countTasks } from './count-tasks.ts'
import { cancelledAs, endTask } from './end-task.ts'
import { findNames } from './find-names.ts'
import { maxAppEdits } from './find-similar-apps.ts'
import { type FoundHistory, type HistoryRange, readHistory } from './history.ts'
import { dropExpiredKeys, findKey, type KnownKey } from './idempotency.ts'
import { type ListReader, listTasks, readListed, type TaskPage } from './list-tasks.ts'
import { saveProgress, type TaskUpdate } from './save-progress.ts'
import { summarizeApps } from './summarize-apps.ts'
import type { Claim, Task, TaskResult } from './task.ts'
import { hasNoLivingOwner, isForgotten } from './task-conditions.ts'
import { listedTaskOf } from './task-record.ts'
import { type ClaimedTask, claimedOf, type EndedTask, taskOf } from './task-row.ts'
import { readSurroundings, type TaskSurroundings } from './task-surroundings.ts'
import type { UnfinishedCount } from './unfinished-quota.ts'

/** What comparing names costs is a few milliseconds. */
const maxAppsCompared = 5_000
/** Of one task. */
const maxReaders = 100

type TaskStoreOptions = {
  /** Connections for lists, searches, summaries and events: neither a verdict nor who asks for one task waits behind them. Without them `database`. */
  readonly forReaders?: Database
  readonly maxUnfinishedPerApp?: number
}

/** All SQL of the tasks and of the events that their changes write. */
export function createTaskStore(database: Database, options: TaskStoreOptions = {}) {
  const { forReaders = database, maxUnfinishedPerApp } = options
  const { query, settings } = database

  return {
    /** Stores a submitted task, unless its Idempotency-Key stands for another one already. */
    accept: createAcceptTask(database, maxUnfinishedPerApp),

    /** What an Idempotency-Key stands for, if it was used within a day. */
    findKey: (keyDigest: string): Promise<KnownKey | undefined> => findKey(query, keyDigest),

    /** Lets one more credential that submitted a task read it, if it has not very many already. */
    async addReader(id: string, digest: Buffer): Promise<void> {
      await query
        .updateTable('tasks')
        .set({ reader_digests: sql`array_append(reader_digests, ${digest})` })
        .where('id', '=', id)
        .where(sql<boolean>`NOT ${digest} = ANY (coalesce(reader_digests, '{}'))`)
        .where(sql<boolean>`coalesce(cardinality(reader_digests), 0) < ${maxReaders}`)
        .execute()
    },

    dropExpiredKeys: (): Promise<void> => dropExpiredKeys(query),

    async find(id: string): Promise<Task | undefined> {
      const row = await query.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirst()
      return row && taskOf(row)
    },

    /** What the Pod to blame for the end of a task wrote last, if that was read. */
    podLog: (id: string): Promise<PodLog | undefined> =>
      query.selectFrom('task_pod_logs').select(['pod', 'lines']).where('task_id', '=', id).executeTakeFirst(),

    list: (filter: TaskFilter, reader: ListReader = { address: '' }): Promise<TaskPage> =>
      listTasks(forReaders.query, filter, reader),

    count: (conditions: TaskConditions, globs?: readonly string[]): Promise<TaskCounts> =>
      countTasks(forReaders.query, conditions, globs),

    names: (search: NameSearch, globs?: readonly string[]): Promise<TaskNames> =>
      findNames(forReaders.query, search, globs),

    surroundings: (task: Task): Promise<TaskSurroundings> => readSurroundings(query, task),

    /** Applications that Argo CD has shown, with a name about as long as this. */
    async appsOfLength(length: number): Promise<string[]> {
      const rows = await query
        .selectFrom('confirmed_applications')
        .select('app')
        .where(sql<boolean>`length(app) BETWEEN ${length - maxAppEdits}::integer AND ${length + maxAppEdits}::integer`)
        .limit(maxAppsCompared)
        .execute()
      return rows.map(({ app }) => app)
    },

    /** These tasks as rows of a list show them, by id. */
    async listed(ids: readonly string[]): Promise<ReadonlyMap<string, ListedTask>> {
      const found = await readListed(forReaders.query, ids)
      return new Map(found.map((task) => [task.id, listedTaskOf(task)]))
    },

    history: (range: HistoryRange, filter: HistoryFilter, globs?: readonly string[]): Promise<FoundHistory> =>
      readHistory(forReaders.query, range, filter, globs),

    summarize: (days: number): Promise<AppSummaries> => summarizeApps(forReaders.query, days),

    /** The unfinished tasks that a replica owns. */
    async ownedBy(owner: string): Promise<string[]> {
      const owned = query
        .selectFrom('tasks')
        .select('id')
        .where('owner', '=', owner)
        .where('status', '=', 'in progress')
      return (await owned.execute()).map(({ id }) => id)
    },

    countOwned: async (owner: string | undefined): Promise<number> => {
      const { count } = await query
        .selectFrom('tasks')
        .select(sql<number>`count(*)::integer`.as('count'))
        .where('owner', '=', owner ?? null)
        .where('ended', 'is', null)
        .executeTakeFirstOrThrow()
      return count
    },

    /**
     * Claims unfinished tasks without a living owner, oldest first, and those of the owner itself that are among
     * `forgotten`: it has lost them from memory.
     */
    async claim(owner: string, limit: number, forgotten: readonly string[] = []): Promise<ClaimedTask[]> {
      const rows = await query
        .with('free', (with_) =>
          with_
            .selectFrom('tasks')
            .select('id')
            .where('status', '=', 'in progress')
            .where((build) =>
              build.or([hasNoLivingOwner(build), ...(forgotten.length > 0 ? [isForgotten(owner, forgotten)] : [])]),
            )
            .orderBy('created')
            .limit(limit)
            .forUpdate()
            .skipLocked(),
        )
        .updateTable('tasks')
        .from('free')
        .whereRef('tasks.id', '=', 'free.id')
        .set({ owner, fence: sql`tasks.fence + 1` })
        .returningAll('tasks')
        .returning(remainingMs.as('remaining_ms'))
        .execute()
      return rows.map((row) => claimedOf(row, owner))
    },

    /** Moves everything that `former`, an earlier id of this same replica, owned to its new id. */
    async takeBack(former: string, owner: string): Promise<ClaimedTask[]> {
      const rows = await query
        .updateTable('tasks')
        .set({ owner, fence: sql`fence + 1` })
        .where('owner', '=', former)
        .where('status', '=', 'in progress')
        .returningAll()
        .returning(remainingMs.as('remaining_ms'))
        .execute()
      return rows.map((row) => claimedOf(row, owner))
    },

    /** Gives up all of this replica's unfinished tasks, for others to claim. @returns their ids */
    async release(owner: string): Promise<string[]> {
      const rows = await query
        .updateTable('tasks')
        .set({ owner: null })
        .where('owner', '=', owner)
        .where('status', '=', 'in progress')
        .returning('id')
        .execute()
      return rows.map(({ id }) => id)
    },

    /** Stores what a task waits for, its baseline and what was observed. @returns whether the claim still holds */
    saveProgress: (claim: Claim, change: TaskUpdate['change'], events: TaskUpdate['events']): Promise<boolean> =>
      saveProgress(database, claim, change, events),

    /** Writes the end, once, with its event and what was not saved before. @returns undefined where the claim was gone or the task had ended */
    finish: (claim: Claim, end: TaskResult, unsaved?: TaskUpdate): Promise<EndedTask | undefined> =>
      endTask(query, settings, { taskId: claim.taskId, claim, end, unsaved }),

    /** Ends an unfinished task as cancelled, whichever replica watches it. @returns undefined where it had ended */
    cancel: (id: string, actor: Actor): Promise<EndedTask | undefined> =>
      query.transaction().execute(async (transaction) => {
        const end = cancelledAs(bareDiagnosis('cancelled', { cancelled_by: cancelledBy(actor) }))
        const ended = await endTask(transaction, settings, { taskId: id, claim: undefined, end })
        if (ended) await recordAction(transaction, { action: 'task_cancelled', actor, subject: id })
        return ended
      }),

    /** Those of `ids` that have ended. */
    async ended(ids: readonly string[]): Promise<string[]> {
      const rows = await query
        .selectFrom('tasks')
        .select('id')
        .where(sql<SqlBool>`id = ANY(${ids}::uuid[])`) // one parameter, however many they are
        .where('status', '<>', 'in progress')
        .execute()
      return rows.map(({ id }) => id)
    },

    countUnfinished: (): Promise<UnfinishedCount> =>
      query
        .selectFrom('tasks')
        .select(sql<number>`count(*)::integer`.as('all'))
        .select(sql<number>`(count(*) FILTER (WHERE may_write))::integer`.as('withCredential'))
        .where('ended', 'is', null)
        .executeTakeFirstOrThrow(),
  }
}
export type TaskStore = ReturnType<typeof createTaskStore>

/** A user is named; of any other caller the kind of credential is known. */
const cancelledBy = ({ kind, name }: Actor) =>
  (kind === 'session' || kind === 'oidc') && name !== null ? { kind, name } : { kind }

const remainingMs = sql<string>`extract(epoch FROM tasks.deadline - clock_timestamp()) * 1000`
