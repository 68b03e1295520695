import { sql } from 'kysely'
import type { TaskStatus } from '../../contract/task-status.ts'
import { makeTaskId } from '../../server/deployments/task-id.ts'
import type { Database } from '../../server/storage/database.ts'

export type StoredTask = {
  readonly id?: string
  /** Unix seconds. */
  readonly created: number
  readonly seconds?: number
  readonly app?: string
  readonly author?: string
  readonly project?: string
  readonly images?: readonly { readonly image: string; readonly tag: string }[]
  readonly status?: TaskStatus
  readonly cause?: string | null
  readonly environment?: string
  readonly is_rollback?: boolean
  readonly source?: { readonly repository: string; readonly sha: string; readonly committed_at?: number } | null
}

/** A statement has 5 s, which 10,000 rows may take on a busy machine. */
const atOnce = 1_000

/** Puts tasks into the database as they are after a while; only the given fields matter. @returns their ids */
export async function storeTasks({ query }: Database, tasks: readonly StoredTask[]): Promise<string[]> {
  const rows = tasks.map((task) => ({
    id: makeTaskId(new Date(task.created * 1000)),
    seconds: 30,
    app: 'shop',
    author: 'ada',
    project: 'demo',
    images: [{ image: 'registry.example/shop', tag: 'v1' }],
    status: 'deployed',
    is_rollback: false,
    ...task,
  }))
  for (let from = 0; from < rows.length; from += atOnce) {
    const some = JSON.stringify(rows.slice(from, from + atOnce))
    await sql`INSERT INTO watcher.tasks (id, created, updated, deadline, app, author, project, images, timeout_seconds,
      refresh, may_write, status, cause, source, environment, is_rollback)
    SELECT id, to_timestamp(created), to_timestamp(created + seconds), now(), app, author, project, images, 900, true, true,
      status, cause, source, environment, is_rollback
    FROM jsonb_to_recordset(${some}) AS task (id uuid, created double precision, seconds double precision,
      app text, author text, project text, images jsonb, status text, cause text, source jsonb, environment text,
      is_rollback boolean)`.execute(query)
  }
  return rows.map(({ id }) => id)
}
