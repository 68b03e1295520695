import { sql } from 'kysely'
import type { AppSummaries } from '../../../contract/app-summary.ts'
import type { HistoryFilter } from '../../../contract/history.ts'
import type { Submitter } from '../../../contract/notify/submitter.ts'
import type { ListedTask, PodLog, TaskFilter, TaskFilterFields } from '../../../contract/task.ts'
import type { TaskCounts } from '../../../contract/task-counts.ts'
import type { NameSearch, TaskNames } from '../../../contract/task-names.ts'
import type { Database } from '../../storage/database.ts'
import type { Task } from '../task.ts'
import { taskOf } from '../task-row.ts'
import { countTasks } from './count-tasks.ts'
import { findNames } from './find-names.ts'
import { maxAppEdits } from './find-similar-apps.ts'
import type { FoundHistory, HistoryRange } from './history.ts'
import { type ListReader, listTasks, readListed, type TaskPage } from './list-tasks.ts'
import { readHistory } from './read-history.ts'
import { summarizeApps } from './summarize-apps.ts'
import { readTaskContext, type TaskContext } from './task-context.ts'
import { listedTaskOf } from './task-record.ts'

/** What comparing names costs is a few milliseconds. */
const maxAppsCompared = 5_000

type ReportFacts = { readonly submitter: Submitter | undefined; readonly externalUrl: string | undefined }

/**
 * SQL of what callers read. `forReaders`: connections for lists, searches and summaries, so that neither a verdict nor a
 * request for one task waits behind them.
 */
export function createTaskReader({ query }: Database, forReaders: Database) {
  return {
    async find(id: string): Promise<Task | undefined> {
      const row = await query.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirst()
      return row && taskOf(row)
    },

    /** The span of the pipeline that submitted a task. */
    async traceparent(id: string): Promise<string | undefined> {
      const row = await query.selectFrom('tasks').select('traceparent').where('id', '=', id).executeTakeFirst()
      return row?.traceparent ?? undefined
    },

    /** What a report on its commit needs beside its record. */
    async reportFacts(id: string): Promise<ReportFacts | undefined> {
      const columns = ['submitter', 'external_url'] as const
      const row = await query.selectFrom('tasks').select(columns).where('id', '=', id).executeTakeFirst()
      return row && { submitter: row.submitter ?? undefined, externalUrl: row.external_url ?? undefined }
    },

    /** What the Pod to blame for the end of a task wrote last, if that was read. */
    podLog: (id: string): Promise<PodLog | undefined> =>
      query.selectFrom('task_pod_logs').select(['pod', 'lines']).where('task_id', '=', id).executeTakeFirst(),

    list: (filter: TaskFilter, reader: ListReader = { address: '' }): Promise<TaskPage> =>
      listTasks(forReaders.query, filter, reader),

    count: (conditions: TaskFilterFields, globs?: readonly string[]): Promise<TaskCounts> =>
      countTasks(forReaders.query, conditions, globs),

    names: (search: NameSearch, globs?: readonly string[]): Promise<TaskNames> =>
      findNames(forReaders.query, search, globs),

    context: (task: Task): Promise<TaskContext> => readTaskContext(query, task),

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
  }
}
export type TaskReader = ReturnType<typeof createTaskReader>
