import { type Kysely, sql } from 'kysely'
import { repositoryOf } from '../../contract/image-name.ts'
import type { Image } from '../../contract/task.ts'
import type { Schema } from '../storage/schema.ts'
import type { Task } from './task.ts'

/** What is known beside a task itself. */
export type TaskSurroundings = {
  /** The override file of its write-back. */
  readonly file: string | undefined
  /** The deployed task before it with one of its images. */
  readonly previous: { readonly id: string; readonly images: Image[]; readonly ended: number } | undefined
}
type Row = {
  readonly file: string | null
  readonly id: string | null
  readonly images: Image[]
  readonly ended: Date
}

/** Of one application; others may deploy it by the thousand. */
const maxDeployedRead = 1_000

/** One statement for all of it. */
export async function readSurroundings(query: Kysely<Schema>, task: Task): Promise<TaskSurroundings> {
  const repositories = [...new Set(task.images.map(({ image }) => repositoryOf(image)))]
  const deployed = query
    .selectFrom('tasks')
    .select(['id', 'images', 'ended', 'created', 'repositories'])
    .where('app', '=', task.app)
    .where('status', '=', 'deployed')
    .where('created', '<', task.created)
    .orderBy('created', 'desc')
    .limit(maxDeployedRead)
  const plannedFile = query
    .selectFrom('pending_writes')
    .select(sql`plan ->> 'file'`.as('file'))
    .where('task_id', '=', task.id)
  const { rows } = await sql<Row>`
    SELECT (${plannedFile}) AS file, previous.id, previous.images, previous.ended FROM (SELECT) AS one LEFT JOIN LATERAL (
      SELECT * FROM (${deployed}) AS deployed WHERE repositories && ${repositories}::text[] ORDER BY created DESC LIMIT 1
    ) AS previous ON true`.execute(query)
  const [row] = rows
  return {
    file: row?.file ?? undefined,
    previous: row?.id ? { id: row.id, images: row.images, ended: row.ended.getTime() / 1000 } : undefined,
  }
}
