import { sql } from 'kysely'
import { maxReplicas, type ReplicaStatus } from '../../contract/service-status.ts'
import type { Database } from '../storage/database.ts'

/** The registered replicas, oldest first, those not yet known to be dead included. */
export async function listReplicas({ query }: Pick<Database, 'query'>): Promise<ReplicaStatus[]> {
  const watched = query
    .selectFrom('tasks')
    .select(['owner', sql<number>`count(*)::integer`.as('tasks')])
    .where('ended', 'is', null)
    .groupBy('owner')
  const rows = await query
    .selectFrom('replicas')
    .leftJoin(watched.as('watched'), 'watched.owner', 'replicas.id')
    .select(['id', 'started_at', 'heartbeat_at', 'tasks'])
    .orderBy('started_at')
    .limit(maxReplicas)
    .execute()
  return rows.map(({ id, started_at, heartbeat_at, tasks }) => ({
    id,
    started: started_at.getTime() / 1000,
    heartbeat: heartbeat_at.getTime() / 1000,
    tasks: tasks ?? 0,
  }))
}
