import { sql, type Transaction } from 'kysely'
import type { Schema } from '../../storage/schema.ts'

/** Where the tags of a task are set. Without `commit` they were there already. */
export type TaskCommit = {
  readonly taskId: string
  readonly commit?: string
  readonly repository: string
  readonly branch: string
}

/** One statement for all commits of a push: there may be hundreds, and their tasks are locked meanwhile. */
export async function recordCommits(transaction: Transaction<Schema>, commits: readonly TaskCommit[]): Promise<void> {
  if (commits.length === 0) return
  const rows = sql<TaskCommit>`jsonb_to_recordset(${JSON.stringify(commits)}::jsonb)`.as<'found'>(
    sql`found("taskId" uuid, commit text, repository text, branch text)`,
  )
  await transaction
    .updateTable('tasks')
    .from(rows)
    .whereRef('tasks.id', '=', 'found.taskId')
    .set((build) => ({
      commit: build.ref('found.commit'),
      repository: build.ref('found.repository'),
      branch: build.ref('found.branch'),
      // now() is when the transaction began, and it may have waited since.
      updated: sql`clock_timestamp()`,
    }))
    .execute()
}

/** The commit that a task found on the branch, perhaps after its end. @returns false where it has one already */
export async function recordFoundCommit(
  transaction: Transaction<Schema>,
  taskId: string,
  commit: string,
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('tasks')
    .set({ commit }) // and not `updated`, which is the time of its end
    .where('id', '=', taskId)
    .where('commit', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
