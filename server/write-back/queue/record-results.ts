import { sql, type Transaction } from 'kysely'
import { recordCommits, type TaskCommit } from '../../deployments/own/record-commits.ts'
import type { Schema } from '../../storage/schema.ts'
import { appendEvents } from '../../timeline/insert-events.ts'
import type { WriteResult } from '../decide/write-result.ts'
import type { WriteBackOutcome } from '../plan/write-back-outcome.ts'

/** Writes outcomes, the tasks' commits and their events, within the caller's transaction. */
export async function recordResults(transaction: Transaction<Schema>, results: readonly WriteResult[]): Promise<void> {
  await recordOutcomes(transaction, results)
  await recordCommits(transaction, commitsOf(results))
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
