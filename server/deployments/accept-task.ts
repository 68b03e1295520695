import { CompiledQuery } from 'kysely'
import { escapeIdentifier } from 'pg'
import { repositoryOf } from '../../contract/image-name.ts'
import { createBatcher } from '../concurrency/batch.ts'
import { lockErrorOf } from '../locks/deploy-lock-unreadable-error.ts'
import { evaluateDeployLock, type LockdownCalendar } from '../locks/evaluate-deploy-lock.ts'
import type { Interval } from '../locks/lockdown-times.ts'
import { storedLockOf } from '../locks/stored-lock.ts'
import type { Database } from '../storage/database.ts'
import { retryConflicts } from '../storage/retry-conflicts.ts'
import type { KeyUse, KnownKey } from './judge-known-key.ts'
import type { Claim, NewTask } from './task.ts'
import { DeploymentsLockedError, TooManyUnfinishedError } from './task-errors.ts'
import { type EndedTask, endedOf } from './task-row.ts'

export type Submission = {
  readonly task: NewTask
  readonly closed: LockdownCalendar
  /** The replica that is to watch the task from the beginning; undefined: whoever claims it. */
  readonly owner?: string | undefined
  readonly use?: KeyUse | undefined
}

/** `known`: the key stands for a task already, and nothing was written. */
export type Acceptance =
  | {
      readonly kind: 'accepted'
      readonly created: Date
      readonly claim: Claim | undefined
      readonly superseded: readonly EndedTask[]
    }
  | { readonly kind: 'known'; readonly known: KnownKey }

type EndedJson = { id: string; app: string; created: string; updated: string; app_url: string | null }
type Answer =
  | {
      readonly created: Readonly<Record<string, string>>
      readonly superseded: Readonly<Record<string, readonly EndedJson[]>>
    }
  | { readonly known: { task_id: string; body_digest: string } }

const acceptedTogether = 64
/** As many statements that submissions share run at once. */
export const connectionsForSubmissions = 2
/** How long a batch waits for a lock: who has to wait longer must not keep the others waiting. */
const patienceOfBatch = '500ms'
/** Less than the driver's, so that no statement goes on waiting, and is accepted in the end, that was given up here. */
const patienceAlone = '4s'

/**
 * Gives the function that stores a task with its events and its audit entry and cancels what it supersedes, in one round
 * trip that it shares with others that come at the same time (decisions 0155 and 0185). The function accept_tasks
 * (storage/migrations) decides by the database's clock and lock; a refusal is explained here.
 *
 * @param forSubmissions connections that nothing else uses: PostgreSQL's process behind each has what it needs at hand then
 *   (decision 0222). Who waits for somebody does so on one of `database`.
 *
 * It rejects with a DeploymentsLockedError if the task would have been created in a closed time, and with a
 * DeployLockUnknownError if outside of the times that are known, and with a DeployLockUnreadableError if it cannot be read,
 * and with a TooManyUnfinishedError where its application has `maxUnfinishedPerApp` unfinished tasks that it does not end.
 */
export function createAcceptTask(
  database: Database,
  forSubmissions: Database,
  maxUnfinishedPerApp = 1_000_000,
): (submission: Submission) => Promise<Acceptance> {
  const acceptAlone = async (submission: Submission): Promise<Acceptance> => {
    const [acceptance] = await retryConflicts(() => acceptAll(database, [submission], maxUnfinishedPerApp))
    if (!acceptance) throw new Error('accept_tasks gave no answer')
    return acceptance
  }
  const acceptTogether = createBatcher(
    (batch: readonly Submission[]) => acceptAll(forSubmissions, batch, maxUnfinishedPerApp, patienceOfBatch),
    {
      alone: acceptAlone,
      atMost: acceptedTogether,
      atOnce: connectionsForSubmissions,
      keyOf: ({ task }) => task.app,
    },
  )
  // One with a key waits for whoever uses the key.
  return (submission) => (submission.use ? acceptAlone(submission) : acceptTogether(submission))
}

async function acceptAll(
  { query, settings }: Database,
  submissions: readonly Submission[],
  maxUnfinishedPerApp: number,
  patience = patienceAlone,
): Promise<readonly Acceptance[]> {
  const newest = submissions.at(-1)
  if (!newest) return []
  const { closed, owner } = newest // what it knows is true of all
  const accept = CompiledQuery.raw(
    `SELECT set_config('lock_timeout', '${patience}', true), ${escapeIdentifier(settings.schema)}.accept_tasks($1, $2, $3, $4, $5) AS answer`,
    [
      JSON.stringify(submissions.map(rowOf)),
      owner ?? null,
      rangeText(closed.known),
      `{${closed.intervals.map(rangeText).join()}}`,
      maxUnfinishedPerApp,
    ],
  )
  try {
    const { rows } = await query.executeQuery<{ answer: Answer }>(accept)
    return rows[0] ? acceptancesOf(rows[0].answer, submissions, owner) : []
  } catch (error) {
    throw refusalOf(error, closed, maxUnfinishedPerApp)
  }
}

const rowOf = ({ task, use }: Submission) => ({
  id: task.id,
  app: task.app,
  author: task.author,
  project: task.project,
  images: task.images,
  repositories: task.images.map(({ image }) => repositoryOf(image)),
  source: task.source,
  timeout_seconds: task.timeoutSeconds,
  refresh: task.refresh,
  may_write: task.mayWrite,
  reader_digest: task.readerDigest?.toString('hex'),
  accepted_text: `accepted from ${task.author}: ${imagesText(task)}`,
  audited_text: `${task.app}: ${imagesText(task)}`,
  actor_kind: task.submittedBy.kind,
  actor: task.submittedBy.id,
  actor_name: task.submittedBy.name,
  key_digest: use?.keyDigest,
  body_digest: use?.bodyDigest,
})

/** Events and audit entries are read by the thousand. */
const maxImagesShown = 5

function imagesText({ images }: NewTask): string {
  const shown = images.slice(0, maxImagesShown).map(({ image, tag }) => `${image}:${tag}`)
  const rest = images.length - shown.length
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** PostgreSQL knows fewer years than Date; what lies beyond has no bound. */
const lastYearMs = Date.UTC(9999, 0)
const boundText = (time: Date) => (Math.abs(time.getTime()) > lastYearMs ? '' : time.toISOString())
const rangeText = ({ from, to }: Interval) => `[${boundText(from)},${boundText(to)})`

function acceptancesOf(
  answer: Answer,
  submissions: readonly Submission[],
  owner: string | undefined,
): readonly Acceptance[] {
  if ('known' in answer) {
    const { task_id: taskId, body_digest: bodyDigest } = answer.known
    return [{ kind: 'known', known: { taskId, bodyDigest } }]
  }
  return submissions.flatMap(({ task: { id } }): Acceptance[] => {
    const created = answer.created[id]
    if (created === undefined) return []
    const superseded = (answer.superseded[id] ?? []).map((row) =>
      endedOf({ ...row, created: new Date(row.created), updated: new Date(row.updated) }, 'cancelled'),
    )
    const claim = owner === undefined ? undefined : { taskId: id, owner, fence: '1' }
    return [{ kind: 'accepted', created: new Date(created), claim, superseded }]
  })
}

/** A lock that refused says by what, one that cannot be read that it is the lock; anything else stays as it is. */
function refusalOf(error: unknown, closed: LockdownCalendar, maxUnfinishedPerApp: number): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  // The one row that the function must find is the lock's.
  if (error.code === 'P0002' || error.message.includes('deploy_lock')) return lockErrorOf(error)
  if (error.code === 'WL002') return new TooManyUnfinishedError(`${maxUnfinishedPerApp} tasks of this application`)
  if (error.code !== 'WL001' || !('detail' in error)) return error
  const { at, lock } = JSON.parse(String(error.detail))
  try {
    return new DeploymentsLockedError(evaluateDeployLock(new Date(at), closed, storedLockOf(lock)).retryAfterSeconds)
  } catch (unknown) {
    return unknown
  }
}
