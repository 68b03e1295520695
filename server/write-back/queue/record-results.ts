import { sql, type Transaction } from 'kysely'
import { recordCommits, type TaskCommit } from '../../deployments/own/record-commits.ts'
import type { Schema } from '../../storage/schema.ts'
import { appendEvents } from '../../timeline/insert-events.ts'
import type { WriteResult } from '../decide/write-result.ts'
import type { WriteBackOutcome } from '../plan/write-back-outcome.ts'

type State = 'queued' | 'pushing' | WriteBackOutcome['kind']

/**
 * Writes outcomes, the tasks' commits and their events, within the caller's transaction. A write in none of the states has
 * its outcome already, from another replica, and keeps it.
 */
export async function recordResults(
  transaction: Transaction<Schema>,
  results: readonly WriteResult[],
  states: readonly State[],
): Promise<void> {
  const recorded = await recordOutcomes(transaction, results, states)
  const news = results.filter(({ taskId }) => recorded.has(taskId))
  await recordCommits(transaction, commitsOf(news))
  await appendEvents(transaction, news)
}

/** One statement for all results of a push: there may be hundreds, and their tasks are locked meanwhile. */
async function recordOutcomes(
  transaction: Transaction<Schema>,
  results: readonly WriteResult[],
  states: readonly State[],
): Promise<ReadonlySet<string>> {
  const rows = results.map(({ taskId, outcome }) => ({
    id: taskId,
    state: outcome.kind,
    commit: commitOf(outcome),
    cause: outcome.kind === 'refused' ? outcome.cause : null,
    reason: outcome.kind === 'refused' ? outcome.reason : null,
  }))
  const recorded = await transaction
    .updateTable('pending_writes')
    .from(foundRows(rows))
    .whereRef('pending_writes.task_id', '=', 'found.id')
    .where('pending_writes.state', 'in', [...states])
    .set((build) => ({
      state: build.ref('found.state'),
      commit: build.ref('found.commit'),
      cause: build.ref('found.cause'),
      reason: build.ref('found.reason'),
      updated: sql`now()`,
    }))
    .returning('pending_writes.task_id')
    .execute()
  return new Set(recorded.map(({ task_id }) => task_id))
}

const commitsOf = (results: readonly WriteResult[]): readonly TaskCommit[] =>
  results.flatMap(({ taskId, outcome }) => {
    if (outcome.kind !== 'landed' && outcome.kind !== 'unchanged') return []
    const { kind, commit, repository, branch } = outcome
    return [{ taskId, ...(kind === 'landed' ? { commit } : {}), repository, branch }]
  })

type FoundRow = {
  readonly id: string
  readonly state: ResultState
  readonly commit: string | null
  readonly cause: Schema['pending_writes']['cause']
  readonly reason: string | null
}
type ResultState = WriteBackOutcome['kind']

/** Rows of our own making as a table. */
const foundRows = (rows: readonly FoundRow[]) =>
  sql<FoundRow>`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)`.as<'found'>(
    sql`found(id uuid, state text, commit text, cause text, reason text)`,
  )

const commitOf = (outcome: WriteBackOutcome): string | null =>
  outcome.kind === 'landed' || outcome.kind === 'unchanged' ? outcome.commit : null
