import { type SqlBool, sql } from 'kysely'
import { bareDiagnosis } from '../../../contract/diagnosis.ts'
import { type Actor, recordAction } from '../../audit/record-action.ts'
import type { Database } from '../../storage/database.ts'
import { hasNoLivingOwner, isForgotten } from '../read/task-predicates.ts'
import type { Claim } from '../task.ts'
import { type ClaimedTask, claimedOf, type EndedTask } from '../task-row.ts'
import { cancelledAs, endTask } from './end-task.ts'
import { saveProgress, type TaskUpdate } from './save-progress.ts'

/** SQL of who owns unfinished tasks, and of what their owners write. `isTold`: whether targets are told of it. */
export function createOwnedTasks(database: Database, isTold: () => boolean = () => false) {
  const { query, settings } = database

  return {
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
      saveProgress(database, claim, change, events, isTold()),

    /** Ends an unfinished task as cancelled, whichever replica watches it. @returns undefined where it had ended */
    cancel: (id: string, actor: Actor): Promise<EndedTask | undefined> =>
      query.transaction().execute(async (transaction) => {
        const end = cancelledAs(bareDiagnosis('cancelled', { cancelled_by: cancelledBy(actor) }))
        const ended = await endTask(transaction, settings, { taskId: id, claim: undefined, end, isTold: isTold() })
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
  }
}
export type OwnedTasks = ReturnType<typeof createOwnedTasks>

/** A user is named; of any other caller the kind of credential is known. */
const cancelledBy = ({ kind, name }: Actor) =>
  (kind === 'session' || kind === 'oidc') && name !== null ? { kind, name } : { kind }

const remainingMs = sql<string>`extract(epoch FROM tasks.deadline - clock_timestamp()) * 1000`
