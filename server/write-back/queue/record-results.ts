import { type Kysely, sql, type Transaction } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import type { NewTaskEvent } from '../../timeline/task-event.ts'
import type { WriteBackOutcome } from '../plan/write-back-outcome.ts'
import type { WriteResult } from './write-result.ts'

/** Writes outcomes, the tasks' commits and their events, within the caller's transaction. */
export async function recordResults(transaction: Transaction<Schema>, results: readonly WriteResult[]): Promise<void> {
  await recordOutcomes(transaction, results)
  await recordCommits(transaction, results)
  await appendEvents(transaction, results)
}

/** One statement for all results of a push: there may be hundreds, and their tasks are locked meanwhile. */
async function recordOutcomes(transaction: Transaction<Schema>, results: readonly WriteResult[]): Promise<void> {
  const rows = results.map(({ taskId, outcome }) => ({
    id: taskId,
    state: outcome.kind,
    commit: commitOf(outcome),
    cause: outcome.kind === 'refused' ? outcome.cause : null,
    reason: outcome.kind === 'refused' ? outcome.reason : null,
  }))
  await transaction
    .updateTable('pending_writes')
    .from(foundRows(rows))
    .whereRef('pending_writes.task_id', '=', 'found.id')
    .set((build) => ({
      state: build.ref('found.state'),
      commit: build.ref('found.commit'),
      cause: build.ref('found.cause'),
      reason: build.ref('found.reason'),
      updated: sql`now()`,
    }))
    .execute()
}

async function recordCommits(transaction: Transaction<Schema>, results: readonly WriteResult[]): Promise<void> {
  const rows = results.flatMap(({ taskId, outcome }) => {
    if (outcome.kind !== 'landed' && outcome.kind !== 'unchanged') return []
    const { kind, commit, repository, branch } = outcome
    return [{ id: taskId, ...(kind === 'landed' ? { commit } : {}), repository, branch }]
  })
  if (rows.length === 0) return
  await transaction
    .updateTable('tasks')
    .from(foundRows(rows))
    .whereRef('tasks.id', '=', 'found.id')
    .set((build) => ({
      commit: build.ref('found.commit'),
      repository: build.ref('found.repository'),
      branch: build.ref('found.branch'),
      // now() is when the transaction began, and it may have waited since.
      updated: sql`clock_timestamp()`,
    }))
    .execute()
}

export async function appendEvents(
  query: Kysely<Schema>,
  tasks: readonly { readonly taskId: string; readonly events: readonly NewTaskEvent[] }[],
): Promise<void> {
  const rows = tasks.flatMap(({ taskId, events }) =>
    events.map(({ data, ...event }) => ({ task_id: taskId, ...event, data: data ? JSON.stringify(data) : null })),
  )
  if (rows.length > 0) await query.insertInto('task_events').values(rows).execute()
}

type FoundRow = {
  readonly id: string
  readonly state: ResultState
  readonly commit: string | null
  readonly cause: Schema['pending_writes']['cause']
  readonly reason: string | null
  readonly repository: string
  readonly branch: string
}
type ResultState = WriteBackOutcome['kind']

/** Rows of our own making as a table; what a row leaves out is null. */
const foundRows = (rows: readonly Partial<FoundRow>[]) =>
  sql<FoundRow>`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)`.as<'found'>(
    sql`found(id uuid, state text, commit text, cause text, reason text, repository text, branch text)`,
  )

const commitOf = (outcome: WriteBackOutcome): string | null =>
  outcome.kind === 'landed' || outcome.kind === 'unchanged' ? outcome.commit : null
