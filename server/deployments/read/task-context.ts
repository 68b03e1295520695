import { type Kysely, sql } from 'kysely'
import { repositoryOf } from '../../../contract/image-name.ts'
import type { Image } from '../../../contract/task.ts'
import type { TaskStatus } from '../../../contract/task-status.ts'
import type { Schema } from '../../storage/schema.ts'
import type { Task } from '../task.ts'

type OtherTask = { readonly id: string; readonly images: Image[] }
type DeployedTask = OtherTask & { readonly ended: number }
type NewerTask = OtherTask & { readonly status: TaskStatus }
type Source = Task['source']

/** What is known beside a task itself. Other tasks are those of its application with one of its images. */
export type TaskContext = {
  /** The file of its write-back. */
  readonly file: string | undefined
  /** The task that takes back its commit. */
  readonly rolledBackBy: string | undefined
  /** The last deployed task before it. */
  readonly previous: DeployedTask | undefined
  /** What `previous` shipped. */
  readonly previousSource: Source
  /** The last deployed task after it. */
  readonly deployedSince: DeployedTask | undefined
  /** The newest task after it that may have changed what runs. */
  readonly newestSince: NewerTask | undefined
}

type Row = {
  readonly file: string | null
  readonly rolledBackBy: string | null
  readonly previous: (DeployedTask & { readonly source: Source | null }) | null
  readonly deployedSince: DeployedTask | null
  readonly newestSince: NewerTask | null
}

/** Of one application; others may deploy it by the thousand. */
const maxTasksRead = 1_000

/** One statement for all of it. */
export async function readTaskContext(query: Kysely<Schema>, task: Task): Promise<TaskContext> {
  const repositories = [...new Set(task.images.map(({ image }) => repositoryOf(image)))]
  const ofApp = query
    .selectFrom('tasks')
    .select(['id', 'images', 'status', 'commit', 'created', 'ended', 'repositories', 'source'])
    .where('app', '=', task.app)
    .orderBy('created', 'desc')
    .limit(maxTasksRead)
  const deployed = ofApp.where('status', '=', 'deployed')
  const plannedFile = query
    .selectFrom('pending_writes')
    .select(sql`plan ->> 'file'`.as('file'))
    .where('task_id', '=', task.id)
  const rollback = query.selectFrom('tasks').select('id').where('rollback_of', '=', task.id)
  const newestOf = (found: typeof ofApp) => sql`(
    SELECT json_build_object('id', id, 'images', images, 'status', status, 'ended', extract(epoch FROM ended), 'source', source)
    FROM (${found}) AS found
    WHERE repositories && ${repositories}::text[] AND (commit IS NOT NULL OR status NOT IN ('cancelled', 'app not found'))
    ORDER BY created DESC LIMIT 1)`
  const { rows } = await sql<Row>`SELECT (${plannedFile}) AS file, (${rollback}) AS "rolledBackBy",
    ${newestOf(deployed.where('created', '<', task.created))} AS previous,
    ${newestOf(deployed.where('created', '>', task.created))} AS "deployedSince",
    ${newestOf(ofApp.where('created', '>', task.created))} AS "newestSince"`.execute(query)
  const { file, rolledBackBy, previous, deployedSince, newestSince } = rows[0] ?? {}
  return {
    file: file ?? undefined,
    rolledBackBy: rolledBackBy ?? undefined,
    previous: previous ? deployedOf(previous) : undefined,
    previousSource: previous?.source ?? undefined,
    deployedSince: deployedSince ? deployedOf(deployedSince) : undefined,
    newestSince: newestSince ? newerOf(newestSince) : undefined,
  }
}

const deployedOf = ({ id, images, ended }: DeployedTask): DeployedTask => ({ id, images, ended })
const newerOf = ({ id, images, status }: NewerTask): NewerTask => ({ id, images, status })
