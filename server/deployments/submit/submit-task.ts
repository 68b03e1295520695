import { canonicalName } from '../../../contract/application-name.ts'
import type { TaskSubmission } from '../../../contract/task.ts'
import { actorOf, type Principal } from '../../auth/access/principal.ts'
import type { LockdownCalendar } from '../../locks/evaluate-deploy-lock.ts'
import type { Claim, NewTask } from '../task.ts'
import { DeploymentsLockedError, InvalidSubmissionError, TooManyUnfinishedError } from '../task-errors.ts'
import { makeTaskId } from '../task-id.ts'
import type { EndedTask } from '../task-row.ts'
import { type KeyUse, type KnownKey, keyUseOf, taskOfKnownKey } from './idempotency.ts'
import type { SubmissionStore } from './submission-store.ts'
import type { UnfinishedQuota } from './unfinished-quota.ts'

export type SubmissionSettings = {
  /** DEPLOYMENT_TIMEOUT */
  readonly defaultTimeoutSeconds: number
  /** APP_APPEAR_GRACE */
  readonly waitForAppSeconds: number
  /** ARGO_REFRESH_APP */
  readonly refreshByDefault: boolean
  /** APPS_IN_ANY_NAMESPACE: `namespace/name` is an application's name too */
  readonly appsInAnyNamespace: boolean
  /** ARGO_NAMESPACE */
  readonly controlPlaneNamespace: string
}

/** `claim`: it is this replica's to watch; undefined: the one that claims it. */
type AcceptedTask = { readonly task: NewTask; readonly created: Date; readonly claim: Claim | undefined }

const maxTimeoutSeconds = 24 * 60 * 60

type Dependencies = {
  readonly tasks: Pick<SubmissionStore, 'accept' | 'addReader'>
  /** The replica that watches what it accepts; undefined while it may own nothing. */
  readonly owner: () => string | undefined
  /** The ids of tasks that may be stored already and are not announced yet. */
  readonly accepting: Set<string>
  /** Tells the watchers, after the commit, which task is new and which are over. */
  readonly announce: (accepted: AcceptedTask, superseded: readonly EndedTask[]) => void
  /** A task may be stored although nothing says so. */
  readonly onAmbiguousCommit: () => void
  /** Rejects where there are as many unfinished tasks as there may be. */
  readonly enforceUnfinishedLimit: UnfinishedQuota
  /** The times around `now` in which no task is accepted. */
  readonly calendarAround: (around: Date) => LockdownCalendar
  readonly now: () => Date
}

/**
 * Checks what the schema leaves to the settings, and gives the submission with the canonical name of its application.
 * @throws {InvalidSubmissionError} naming the field and the rule
 */
export const createNormalizeSubmission =
  (settings: Omit<SubmissionSettings, 'waitForAppSeconds' | 'refreshByDefault'>) =>
  (submission: TaskSubmission): TaskSubmission => {
    const { appsInAnyNamespace, controlPlaneNamespace } = settings
    const { app, wait_for_app: wait = 0 } = submission
    const timeout = timeoutOf(submission, settings)
    if (wait > timeout)
      throw new InvalidSubmissionError(`wait_for_app: must not be longer than the timeout, ${timeout} seconds`)
    if (!app.includes('/')) return submission
    if (!appsInAnyNamespace)
      throw new InvalidSubmissionError("app: must not contain '/' unless APPS_IN_ANY_NAMESPACE is set")
    if (!/^[^/]+\/[^/]+$/.test(app)) throw new InvalidSubmissionError('app: must be a name, or a namespace/name')
    return { ...submission, app: canonicalName(app, controlPlaneNamespace) }
  }

/** Of the request's credential, what is stored with the task; undefined where reading is open. */
type ReaderDigestFor = (taskId: string) => Buffer | undefined

/** The task of a submission that comes once more with its Idempotency-Key. @throws {IdempotencyKeyUsedError} */
export const createFindSubmitted =
  (tasks: Pick<SubmissionStore, 'findKey' | 'addReader'>) =>
  async (
    submission: TaskSubmission,
    caller: Principal,
    key: string,
    readerDigestFor: ReaderDigestFor,
  ): Promise<string | undefined> => {
    const use = keyUseOf(key, submission, caller)
    const known = await tasks.findKey(use.keyDigest)
    return known && submittedAgain(tasks, known, use, readerDigestFor)
  }
export type FindSubmitted = ReturnType<typeof createFindSubmitted>

/** What comes with a submission beside its body. */
type SubmissionExtras = {
  /** Its Idempotency-Key. */
  readonly key: string | undefined
  /** Its header `traceparent` as it came. */
  readonly traceparent: string | undefined
  readonly readerDigestFor: ReaderDigestFor
}

/** Accepts a submission that was validated, unlocked and judged: stores the task and wakes its watcher. */
export const createSubmitTask =
  (
    { tasks, owner, accepting, announce, onAmbiguousCommit, enforceUnfinishedLimit, calendarAround, now }: Dependencies,
    settings: SubmissionSettings,
  ) =>
  async (
    submission: TaskSubmission,
    caller: Principal,
    { key, traceparent, readerDigestFor }: SubmissionExtras,
  ): Promise<{ id: string }> => {
    const mayWrite = caller.kind !== 'anonymous'
    await enforceUnfinishedLimit(mayWrite)
    const submitted = now()
    const id = makeTaskId(submitted)
    const task: NewTask = {
      id,
      app: submission.app,
      author: authorOf(submission, caller),
      project: submission.project,
      environment: submission.environment,
      images: submission.images.map(({ image, tag }) => ({ image, tag })),
      source: submission.source ?? (caller.kind === 'ci' ? caller.source : undefined),
      timeoutSeconds: timeoutOf(submission, settings),
      waitForAppSeconds: waitForAppOf(submission, settings),
      refresh: submission.refresh ?? settings.refreshByDefault,
      mayWrite,
      rollbackTargetId: submission.rollback_target_id,
      onFailure: submission.on_failure,
      submittedBy: actorOf(caller, submission.app),
      pipeline: caller.kind === 'ci' ? caller : undefined,
      submitter: submitterOf(caller),
      readerDigest: readerDigestFor(id),
      traceparent: isTraceparent(traceparent) ? traceparent : undefined,
    }
    const use = key === undefined ? undefined : keyUseOf(key, submission, caller)
    accepting.add(id)
    try {
      const acceptance = await tasks
        .accept({ task, closed: calendarAround(submitted), owner: owner(), use })
        .catch((error: unknown) => {
          if (!isRejection(error)) onAmbiguousCommit()
          throw error
        })
      if (acceptance.kind === 'known' && use)
        return { id: await submittedAgain(tasks, acceptance.known, use, readerDigestFor) }
      if (acceptance.kind === 'accepted') announce({ task, ...acceptance }, acceptance.superseded)
      return { id }
    } finally {
      accepting.delete(id)
    }
  }
export type SubmitTask = ReturnType<typeof createSubmitTask>

/** An invalid one begins a trace of its own, as https://www.w3.org/TR/trace-context/ has it: proxies set it too. */
const isTraceparent = (text = ''): boolean => /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/.test(text)

/** Nothing was stored. */
const isRejection = (error: unknown) =>
  error instanceof DeploymentsLockedError ||
  error instanceof InvalidSubmissionError ||
  error instanceof TooManyUnfinishedError

/** A retry may come with a newer token, which may read the task from then on as the first one may. */
async function submittedAgain(
  tasks: Pick<SubmissionStore, 'addReader'>,
  known: KnownKey,
  use: KeyUse,
  readerDigestFor: ReaderDigestFor,
): Promise<string> {
  const id = taskOfKnownKey(known, use)
  const digest = readerDigestFor(id)
  if (digest !== undefined) await tasks.addReader(id, digest)
  return id
}

function submitterOf(caller: Principal): NewTask['submitter'] {
  if (caller.kind === 'anonymous') return undefined
  return caller.kind === 'ci' ? { kind: 'ci', server: caller.server, source: caller.source } : { kind: 'other' }
}

/** A user who is known is the author, whatever the body says. */
const authorOf = ({ author }: TaskSubmission, caller: Principal) => ('user' in caller ? caller.user.name : author)

type DefaultTimeout = Pick<SubmissionSettings, 'defaultTimeoutSeconds'>

function timeoutOf({ timeout }: TaskSubmission, { defaultTimeoutSeconds }: DefaultTimeout): number {
  if (timeout === undefined || timeout <= 0) return defaultTimeoutSeconds
  return Math.min(timeout, maxTimeoutSeconds)
}

/** The setting may be longer than the timeout of a task; the task's own wait is not. */
const waitForAppOf = (submission: TaskSubmission, settings: SubmissionSettings): number =>
  submission.wait_for_app ?? Math.min(settings.waitForAppSeconds, timeoutOf(submission, settings))
