import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../storage/database.ts'
import { type Replica, replicaTtlMs } from './replica.ts'

const secondCheckMs = 500

/**
 * Removes the rows of replicas that are dead: whose advisory lock is gone in two checks half a second apart (a crash), or
 * whose heartbeat is older than the TTL (frozen, cut off). A replica without a row owns nothing, so its work can be
 * claimed. None is removed within a TTL of a database restart or of a break of our own session: each first gets the
 * chance to beat again.
 * @returns how many were removed
 */
export async function removeDeadReplicas(
  database: Database,
  self: Pick<Replica, 'id' | 'brokenSinceMs'>,
): Promise<number> {
  if (self.brokenSinceMs() < replicaTtlMs) return 0
  const first = await seemDead(database, self.id())
  if (first.length === 0) return 0
  await delay(secondCheckMs)
  const second = new Set(await seemDead(database, self.id()))
  const dead = first.filter((id) => second.has(id))
  if (dead.length === 0) return 0
  const { numDeletedRows } = await database.query.deleteFrom('replicas').where('id', 'in', dead).executeTakeFirst()
  return Number(numDeletedRows)
}

async function seemDead(database: Database, self: string | undefined): Promise<string[]> {
  const ttl = sql<string>`make_interval(secs => ${replicaTtlMs / 1000})`
  const lockIsGone = sql<boolean>`NOT EXISTS (
    SELECT 1 FROM pg_locks held
    WHERE held.locktype = 'advisory' AND held.granted AND held.objsubid = 1
      AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND held.classid::bigint = replicas.lock_key >> 32
      AND held.objid::bigint = replicas.lock_key & 4294967295)`
  const rows = await database.query
    .selectFrom('replicas')
    .select('id')
    .where('id', 'is distinct from', self ?? null)
    .where(sql<boolean>`pg_postmaster_start_time() < now() - ${ttl}`)
    .where((where) => where.or([sql<boolean>`heartbeat_at < now() - ${ttl}`, lockIsGone]))
    .execute()
  return rows.map(({ id }) => id)
}
