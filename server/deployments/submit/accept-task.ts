import { createHash } from 'node:crypto'
import { type Insertable, sql, type Transaction } from 'kysely'
import { bareDiagnosis } from '../../../contract/diagnosis.ts'
import { repositoryOf } from '../../../contract/image-name.ts'
import { firstProgress } from '../../../contract/text/render-diagnosis.ts'
import { insertAction } from '../../audit/record-action.ts'
import { createSemaphore } from '../../concurrency/semaphore.ts'
import { DeployLockUnreadableError, lockErrorOf } from '../../locks/deploy-lock-errors.ts'
import { evaluateDeployLock, type LockdownCalendar } from '../../locks/evaluate-deploy-lock.ts'
import { holdDeployLock, type StoredLock, type StoredRow, storedLockOf } from '../../locks/stored-lock.ts'
import type { Database } from '../../storage/database.ts'
import { insertRow } from '../../storage/insert-row.ts'
import type { Schema } from '../../storage/schema.ts'
import { retryConflicts } from '../../storage/transactions.ts'
import { insertEvents } from '../../timeline/insert-events.ts'
import type { NewTaskEvent } from '../../timeline/task-event.ts'
import { cancelledAs, endTask } from '../own/end-task.ts'
import { type Claim, firstFence, type NewTask } from '../task.ts'
import { DeploymentsLockedError, InvalidSubmissionError, TooManyUnfinishedError } from '../task-errors.ts'
import type { EndedTask } from '../task-row.ts'
import { findKey, type KeyUse, type KnownKey, saveKey } from './idempotency.ts'

export type Submission = {
  readonly task: NewTask
  readonly closed: LockdownCalendar
  /** The replica that is to watch the task from the beginning; undefined: the one that claims it. */
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

/** A later `created` than the database's clock by more than this comes from a clock that was set back. */
const maxAheadMs = 1_000
/** Of the connections: submissions come in masses and wait for each other, and a verdict finds a connection all the same. */
const acceptingShare = 0.5

/**
 * Gives the function that stores a task with its event and its audit entry, and cancels what it supersedes, in one
 * transaction (decision 0002).
 *
 * It rejects with a DeploymentsLockedError while the deploy lock is active, with a DeployLockUnknownError at a time that
 * `closed` does not cover, with a DeployLockUnreadableError if the lock cannot be read, with an InvalidSubmissionError if
 * the task cannot return to the one that it names, and with a TooManyUnfinishedError if the application has
 * `maxUnfinishedPerApp` unfinished tasks that the new one does not supersede.
 */
export function createAcceptTask(
  { query, settings }: Database,
  maxUnfinishedPerApp = 1_000_000,
  isTold: () => boolean = () => false,
) {
  const accepting = createSemaphore(Math.max(1, Math.floor(settings.maxConnections * acceptingShare)))
  return (submission: Submission): Promise<Acceptance> =>
    accepting.use(() =>
      retryConflicts(() =>
        query
          .transaction()
          .setIsolationLevel('read committed') // each statement sees what was committed while an earlier one waited
          .execute((transaction) =>
            accept(transaction, settings, submission, { maxUnfinishedPerApp, isTold: isTold() }),
          ),
      ),
    )
}

async function accept(
  transaction: Transaction<Schema>,
  settings: Settings,
  { task, closed, owner, use }: Submission,
  { maxUnfinishedPerApp, isTold }: { readonly maxUnfinishedPerApp: number; readonly isTold: boolean },
): Promise<Acceptance> {
  await lockApplication(transaction, task.app)
  const known = use && (await findKey(transaction, use.keyDigest))
  if (known) return { kind: 'known', known }
  const { at, stored, newest, unfinished, deployedBefore } = await readState(transaction, settings, task)
  requireOpen(at, closed, stored)
  const created = createdAfter(newest, at)
  requireOpen(created, closed, stored)
  const rollbackTarget = await findRollbackTarget(transaction, task, deployedBefore)
  const { outdated, counted } = splitUnfinished(unfinished, task)
  if (counted >= maxUnfinishedPerApp)
    throw new TooManyUnfinishedError(`${maxUnfinishedPerApp} tasks of this application`)
  const superseded = await supersede(transaction, settings, { ids: outdated, by: task.id, isTold })
  await insertTask(transaction, settings, { task, created, owner, rollbackTarget, superseded })
  if (use) await saveKey(transaction, use, task.id)
  const claim = owner === undefined ? undefined : { taskId: task.id, owner, fence: firstFence }
  return { kind: 'accepted', created, claim, superseded }
}

/**
 * Tasks of one application are accepted one after another, so that of two at once exactly one survives (decision 0002), and
 * that an Idempotency-Key, which belongs to one application, stands for one task.
 */
export const lockApplication = (transaction: Transaction<Schema>, app: string) =>
  sql`SELECT pg_advisory_xact_lock(hashtextextended(${app}, 0))`.execute(transaction)

function requireOpen(at: Date, closed: LockdownCalendar, stored: StoredLock): void {
  const lock = evaluateDeployLock(at, closed, stored)
  if (lock.active) throw new DeploymentsLockedError(lock)
}

type Unfinished = { readonly id: string; readonly may_write: boolean; readonly shares_image: boolean }

type Rollback = {
  readonly task: NewTask
  readonly closed: LockdownCalendar
  readonly isAllowedWhileLocked: boolean
  /** The failed task. */
  readonly of: string
  /** When that was accepted. */
  readonly after: Date
  /** The task whose images come back. */
  readonly target: string
}

/**
 * Stores a task that takes back the commit of a failed one, in the transaction that ends that; the application is locked.
 * @returns why nothing was stored; undefined: it was
 */
export async function acceptRollback(
  transaction: Transaction<Schema>,
  settings: Settings,
  { task, closed, isAllowedWhileLocked, of, after, target }: Rollback,
): Promise<string | undefined> {
  const { at, stored, newest } = await readState(transaction, settings, task)
  if (await hasNewer(transaction, task, after)) return 'a newer task of the application exists'
  if (!isAllowedWhileLocked && evaluateDeployLock(at, closed, stored).active) return 'deployments are locked'
  const created = createdAfter(newest, at)
  await insertTask(transaction, settings, {
    task,
    created,
    owner: undefined,
    rollbackTarget: target,
    superseded: [],
    of,
  })
  return undefined
}

const hasNewer = async (transaction: Transaction<Schema>, task: NewTask, after: Date): Promise<boolean> =>
  (await transaction
    .selectFrom('tasks')
    .select('id')
    .where('app', '=', task.app)
    .where('created', '>', after)
    .where(sharesImageWith(task))
    .limit(1)
    .executeTakeFirst()) !== undefined

/** What a new task is judged by. `deployedBefore` deployed the same images: the task that the new one names, else the last. */
type State = {
  readonly at: Date
  readonly stored: StoredLock
  readonly newest: Date | null
  readonly unfinished: readonly Unfinished[]
  readonly deployedBefore: string | null
}

type StateRow = StoredRow & Omit<State, 'stored'>

/** The deploy lock, held from now on, and the tasks of the application. */
async function readState(transaction: Transaction<Schema>, { schema }: Settings, task: NewTask): Promise<State> {
  const ofApp = sql`FROM ${sql.id(schema, 'tasks')} WHERE app = ${task.app}`
  const unfinished = sql`SELECT id, may_write, ${sharesImageWith(task)} AS shares_image ${ofApp} AND ended IS NULL ORDER BY id`
  const named = task.rollbackTargetId === undefined ? sql`` : sql`AND id = ${task.rollbackTargetId}::uuid`
  // The clock is read after the wait for the lock. Plain text: to build this statement took a tenth of an acceptance.
  const { rows } = await sql<StateRow>`SELECT held.*, clock_timestamp() AS at,
    (SELECT created ${ofApp} ORDER BY created DESC LIMIT 1) AS newest,
    (SELECT coalesce(json_agg(one), '[]') FROM (${unfinished}) AS one) AS unfinished,
    (SELECT id ${ofApp} AND status = 'deployed' AND image_set = ${imageSetOf(task)} ${named} ORDER BY created DESC LIMIT 1) AS "deployedBefore"
    FROM ${holdDeployLock(schema)} AS held`
    .execute(transaction)
    .catch((error: unknown) => {
      throw lockErrorOf(error)
    })
  const [row] = rows
  if (row === undefined) throw new DeployLockUnreadableError({})
  const { at, newest, unfinished: found, deployedBefore } = row
  return { at, stored: storedLockOf(row), newest, unfinished: found, deployedBefore }
}

/**
 * The task whose images the new one brings back: the one that it names, else the last that deployed them and was replaced
 * since. One text for all that it cannot return to, so that nothing is learned of tasks of others.
 */
async function findRollbackTarget(
  transaction: Transaction<Schema>,
  task: NewTask,
  deployedBefore: string | null,
): Promise<string | null> {
  const isNamed = task.rollbackTargetId !== undefined
  if (deployedBefore === null) {
    if (isNamed)
      throw new InvalidSubmissionError(
        'rollback_target_id: must be a deployed task of this application with the same images',
      )
    return null
  }
  return isNamed || (await isReplaced(transaction, deployedBefore, task)) ? deployedBefore : null
}

/** Whether other images of the same repositories were deployed since. */
async function isReplaced(transaction: Transaction<Schema>, last: string, task: NewTask): Promise<boolean> {
  const later = await transaction
    .selectFrom('tasks')
    .select('id')
    .where('app', '=', task.app)
    .where('status', '=', 'deployed')
    .where('created', '>', ({ selectFrom }) => selectFrom('tasks').select('created').where('id', '=', last))
    .where(sharesImageWith(task))
    .limit(1)
    .executeTakeFirst()
  return later !== undefined
}

const sharesImageWith = (task: NewTask) => sql<boolean>`repositories && ${repositoriesOf(task)}::text[]`

const repositoriesOf = ({ images }: NewTask) => [...new Set(images.map(({ image }) => repositoryOf(image)))]

/** Equal for the same images, in any order. */
function imageSetOf({ images }: NewTask): Buffer {
  const lines = new Set(images.map(({ image, tag }) => `${image}\t${tag}`))
  return createHash('sha256')
    .update([...lines].sort().join('\n'))
    .digest()
}

/** Of one application no two tasks have the same millisecond, so that its newest task is the one accepted last. */
function createdAfter(newest: Date | null, at: Date): Date {
  const aheadMs = newest === null ? Number.NaN : newest.getTime() - at.getTime()
  return newest && aheadMs >= 0 && aheadMs < maxAheadMs ? new Date(newest.getTime() + 1) : at
}

/**
 * A task without a credential neither supersedes one with a credential nor takes room from it.
 * @returns ids of what the task supersedes, and how many of the others count against the maximum
 */
function splitUnfinished(unfinished: readonly Unfinished[], { mayWrite }: NewTask) {
  const isOutdated = (one: Unfinished) => one.shares_image && (mayWrite || !one.may_write)
  const counts = (one: Unfinished) => one.may_write || !mayWrite
  return {
    outdated: unfinished.filter(isOutdated).map(({ id }) => id),
    counted: unfinished.filter((one) => !isOutdated(one) && counts(one)).length,
  }
}

type Settings = Database['settings']

/** Ends what the new task supersedes; one that has ended since it was read stays as it is. */
async function supersede(
  transaction: Transaction<Schema>,
  settings: Settings,
  { ids, by, isTold }: { readonly ids: readonly string[]; readonly by: string; readonly isTold: boolean },
): Promise<EndedTask[]> {
  const end = cancelledAs(bareDiagnosis('superseded', { superseded_by: { task: by } }))
  const ended: EndedTask[] = []
  for (const taskId of ids) {
    const one = await endTask(transaction, settings, { taskId, claim: undefined, end, isTold })
    if (one !== undefined) ended.push(one)
  }
  return ended
}

type AcceptedRow = {
  readonly task: NewTask
  readonly created: Date
  readonly owner: string | undefined
  readonly rollbackTarget: string | null
  readonly superseded: readonly EndedTask[]
  /** The failed task that it rolls back. */
  readonly of?: string
}

/** One round trip for the task, its events and its audit entry; plain text, as above. */
function insertTask(
  transaction: Transaction<Schema>,
  { schema }: Settings,
  { task, created, owner, rollbackTarget, superseded, of }: AcceptedRow,
) {
  const audited = insertAction(schema, {
    action: 'task_submitted',
    actor: task.submittedBy,
    subject: task.id,
    detail: `${task.app}: ${imagesText(task)}${task.pipeline?.runUrl === undefined ? '' : `; ${task.pipeline.runUrl}`}`,
  })
  const accepted: Insertable<Schema['tasks']> = {
    id: task.id,
    created,
    updated: created,
    deadline: new Date(created.getTime() + task.timeoutSeconds * 1_000),
    app: task.app,
    author: task.author,
    project: task.project,
    environment: task.environment ?? null,
    traceparent: task.traceparent ?? null,
    images: JSON.stringify(task.images),
    repositories: repositoriesOf(task),
    image_set: imageSetOf(task),
    timeout_seconds: task.timeoutSeconds,
    wait_for_app_seconds: task.waitForAppSeconds,
    refresh: task.refresh,
    source: task.source ? JSON.stringify(task.source) : null,
    submitter: task.submitter ? JSON.stringify(task.submitter) : null,
    may_write: task.mayWrite,
    progress: firstProgress,
    is_rollback: rollbackTarget !== null,
    rollback_target_id: rollbackTarget,
    rollback_of: of ?? null,
    on_failure: task.onFailure ?? null,
    reader_digests: task.readerDigest ? [task.readerDigest] : null,
    owner: owner ?? null,
    fence: owner === undefined ? '0' : firstFence,
  }
  return sql`WITH accepted AS (${insertRow(schema, 'tasks', accepted)} RETURNING id),
    audited AS (${audited})
    ${insertEvents(schema, 'accepted', eventsOf(task, superseded, of))}`.execute(transaction)
}

function eventsOf(task: NewTask, superseded: readonly EndedTask[], of?: string): readonly NewTaskEvent[] {
  const accepted: NewTaskEvent = {
    kind: 'accepted',
    detail: `accepted from ${task.author}: ${imagesText(task)}${of === undefined ? '' : `, which rolls back ${of}`}`,
    data: {
      images: task.images.slice(0, maxImagesShown).map(({ image, tag }) => `${image}:${tag}`),
      ...pipelineOf(task),
      ...(of === undefined ? {} : { rollback_of: of }),
    },
  }
  if (superseded.length === 0) return [accepted]
  const ids = superseded.map(({ id }) => id).sort()
  return [accepted, { kind: 'superseded_others', detail: `superseded ${ids.join(', ')}`, data: { superseded: ids } }]
}

function pipelineOf({ pipeline, submittedBy }: NewTask): NewTaskEvent['data'] {
  if (pipeline === undefined) return {}
  const { issuer, subject, runUrl } = pipeline
  return { rule: submittedBy.name ?? '', issuer, subject, ...(runUrl === undefined ? {} : { run_url: runUrl }) }
}

/** Events and audit entries are read by the thousand. */
const maxImagesShown = 5

function imagesText({ images }: NewTask): string {
  const shown = images.slice(0, maxImagesShown).map(({ image, tag }) => `${image}:${tag}`)
  const rest = images.length - shown.length
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}
