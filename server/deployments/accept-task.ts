import { sql } from 'kysely'
import { type ClosedTimes, judgeDeployLock } from '../locks/judge-deploy-lock.ts'
import type { Interval } from '../locks/lockdown-times.ts'
import { storedLockOf } from '../locks/stored-lock.ts'
import type { Database } from '../storage/database.ts'
import { retryConflicts } from '../storage/retry-conflicts.ts'
import type { KeyUse, KnownKey } from './judge-known-key.ts'
import type { NewTask } from './task.ts'
import { DeploymentsLockedError } from './task-errors.ts'
import { type EndedTask, endedOf } from './task-row.ts'

/** `known`: the key stands for a task already, and nothing was written. */
export type Acceptance =
  | { readonly kind: 'accepted'; readonly superseded: readonly EndedTask[] }
  | { readonly kind: 'known'; readonly known: KnownKey }

type Answer = {
  readonly superseded?: readonly { id: string; app: string; created: string; updated: string; app_url: string | null }[]
  readonly known?: { task_id: string; caller_kind: string; body_digest: string }
}

/**
 * Stores a task with its events and its audit entry and cancels what it supersedes, in one round trip. The function
 * accept_task (storage/migrations) decides by the database's clock and lock; a refusal is explained here.
 *
 * @throws {DeploymentsLockedError} if it would have been created in a closed time
 * @throws {DeployLockUnknownError} if it would have been created outside of the times that are known
 */
export async function acceptTask(
  { query, settings }: Database,
  task: NewTask,
  closed: ClosedTimes,
  use: KeyUse | undefined,
): Promise<Acceptance> {
  const accept = sql<{ answer: Answer }>`SELECT ${sql.id(settings.schema, 'accept_task')}(
    ${JSON.stringify(rowOf(task, use))}, ${rangeText(closed.known)}, ${`{${closed.intervals.map(rangeText).join()}}`}
  ) AS answer`
  try {
    const { rows } = await retryConflicts(() => accept.execute(query))
    return acceptanceOf(rows[0]?.answer ?? {})
  } catch (error) {
    throw refusalOf(error, closed)
  }
}

const rowOf = (task: NewTask, use: KeyUse | undefined) => ({
  id: task.id,
  app: task.app,
  author: task.author,
  project: task.project,
  images: task.images,
  source: task.source,
  timeout_seconds: task.timeoutSeconds,
  refresh: task.refresh,
  may_write: task.mayWrite,
  reader_digest: task.readerDigest?.toString('hex'),
  accepted_text: `accepted from ${task.author} ${task.mayWrite ? 'with' : 'without'} a credential: ${imagesText(task)}`,
  audited_text: `${task.app}: ${imagesText(task)}`,
  actor_kind: task.submittedBy.kind,
  actor: task.submittedBy.id,
  actor_name: task.submittedBy.name,
  key: use?.key,
  body_digest: use?.bodyDigest,
})

const imagesText = ({ images }: NewTask) => images.map(({ image, tag }) => `${image}:${tag}`).join(', ')

/** PostgreSQL knows fewer years than Date; what lies beyond has no bound. */
const lastYearMs = Date.UTC(9999, 0)
const boundText = (time: Date) => (Math.abs(time.getTime()) > lastYearMs ? '' : time.toISOString())
const rangeText = ({ from, to }: Interval) => `[${boundText(from)},${boundText(to)})`

function acceptanceOf({ known, superseded = [] }: Answer): Acceptance {
  if (known) {
    const { task_id: taskId, caller_kind: callerKind, body_digest: bodyDigest } = known
    return { kind: 'known', known: { taskId, callerKind, bodyDigest } }
  }
  const ended = superseded.map((row) =>
    endedOf({ ...row, created: new Date(row.created), updated: new Date(row.updated) }, 'cancelled'),
  )
  return { kind: 'accepted', superseded: ended }
}

/** A lock that refused says by what; anything else stays as it is. */
function refusalOf(error: unknown, closed: ClosedTimes): unknown {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'WL001' || !('detail' in error)) return error
  const { at, lock } = JSON.parse(String(error.detail))
  try {
    return new DeploymentsLockedError(judgeDeployLock(new Date(at), closed, storedLockOf(lock)).retryAfterSeconds)
  } catch (unknown) {
    return unknown
  }
}
