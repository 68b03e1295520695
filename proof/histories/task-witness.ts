import { rolloutTimes } from '../../server/rollout/judge/input/rollout-settings.ts'
import type { Application } from '../../simulator/model/application.ts'
import type { ManagedApplication } from '../../simulator/model/managed-application.ts'
import { imagesOf } from '../../simulator/model/manifest.ts'
import { attemptedRevisions } from '../../simulator/model/sync-operation.ts'
import { looksGreen } from './first-green.ts'
import type { TaskRow } from './task-records.ts'
import { hasOldPods, isOnlyInEarlierRuns, isTrulyComplete } from './true-completion.ts'

/** Bad states whose duration decides whether a failure was told too early. */
export type Ailment =
  | 'gone'
  | 'sync_failed'
  | 'sync_given_up'
  | 'comparison_error'
  | 'degraded'
  | 'rollout_aborted'
  | 'bad_pod'
  | 'invalid_image'

type Stretch = { readonly fromMs: number; untilMs: number }

/** What an omniscient observer notes about one task. */
export type TaskWitness = ReturnType<typeof createTaskWitness>

/** What gets well in between for less than this may be found bad in every look at it, which is what these graces speak of. */
const mendedMs: Partial<Record<Ailment, number>> = {
  bad_pod: rolloutTimes.treeEveryMs,
  gone: rolloutTimes.goneReadEveryMs,
}

/** The last direct read may see what comes after the deadline. */
export const finalCheckMs = rolloutTimes.finalCheckMs

const badPhases: ReadonlySet<string> = new Set(['ErrImagePull', 'ImagePullBackOff', 'CrashLoopBackOff'])

type CommitRule = (revisions: readonly string[]) => boolean

type TaskTruth = {
  /** The commits whose rollout makes `deployed` true. */
  readonly isWanted: CommitRule
  /** Those by which the service can tell it. */
  readonly canTell: CommitRule
  /** Whether old Pods must be gone too (condition no_old_pods). */
  readonly isStrict: boolean
  /** The failed operation that was there at its acceptance. */
  readonly failureBefore: string | undefined
}

export function createTaskWitness(row: TaskRow, { isWanted, canTell, isStrict, failureBefore }: TaskTruth) {
  const ailing = new Map<string, Stretch & { readonly ailment: Ailment }>()
  const ailed: (Stretch & { readonly ailment: Ailment })[] = []
  const shown: Stretch[] = []
  const comparisons = new Set<string>()
  let uid: string | undefined
  const { images } = row.task
  let completeAtMs: number | undefined
  let olderCompleteAtMs: number | undefined
  let greenAtMs: number | undefined
  let wasGreenTrue = false

  const note = (nowMs: number, current: ReadonlyMap<string, Ailment>) => {
    for (const [key, stretch] of ailing) if (!current.has(key)) stretch.untilMs = Math.min(stretch.untilMs, nowMs)
    for (const [key, ailment] of current) {
      const known = ailing.get(key)
      if (known !== undefined && nowMs - known.untilMs <= (mendedMs[ailment] ?? 0)) {
        known.untilMs = Number.POSITIVE_INFINITY
        continue
      }
      const stretch = { fromMs: nowMs, untilMs: Number.POSITIVE_INFINITY, ailment }
      ailing.set(key, stretch)
      ailed.push(stretch)
    }
  }

  return {
    row,
    shown,
    completeAtMs: () => completeAtMs,
    /** The same, whatever commit the controller compares with. */
    olderCompleteAtMs: () => olderCompleteAtMs,
    /** How long an ailment had lasted at the longest by then; `undefined`: it never was there. */
    longestMs: (ailment: Ailment, byMs: number): number | undefined => {
      const lasted = ailed.flatMap((one) =>
        one.ailment === ailment && one.fromMs <= byMs ? [Math.min(one.untilMs, byMs) - one.fromMs] : [],
      )
      return lasted.length === 0 ? undefined : Math.max(...lasted)
    },
    wasGoneSince: (sinceMs: number) => ailed.some(({ ailment, untilMs }) => ailment === 'gone' && untilMs >= sinceMs),
    firstGreen: () => ({ wasSeen: greenAtMs !== undefined, wasTrue: wasGreenTrue }),
    /** Looks at everything, after each step of the model. */
    look(nowMs: number, application: Application | undefined, managed: ManagedApplication | undefined) {
      if (nowMs > row.task.deadlineMs + finalCheckMs && row.end !== undefined) return
      note(nowMs, ailmentsOf(row, application, managed, { isWanted, failureBefore }))
      let isClusterComplete: boolean | undefined
      const isComplete = (counts: CommitRule) => {
        if (application === undefined || managed?.target === undefined) return false
        if (!isOperationOver(application, row, counts) || !counts(managed.target.revisions)) return false
        isClusterComplete ??= isTrulyComplete(managed, images) && !(isStrict && hasOldPods(managed, images))
        return isClusterComplete
      }
      if (isComplete(isWanted)) completeAtMs ??= nowMs
      if (isComplete(() => true)) olderCompleteAtMs ??= nowMs
      if (greenAtMs === undefined && looksGreen(application, images) && isCommitThere(row)) {
        greenAtMs = nowMs
        wasGreenTrue = completeAtMs !== undefined
      }
      const { baseline } = row
      if (baseline?.uid !== uid) comparisons.clear()
      uid = baseline?.uid
      const comparedAt = application?.status.reconciledAt
      if (comparedAt !== undefined && baseline !== undefined && Date.parse(comparedAt) > (baseline.reconciledAtMs ?? 0))
        comparisons.add(comparedAt)
      const isShown =
        application !== undefined &&
        managed !== undefined &&
        isComplete(canTell) &&
        !isOnlyInEarlierRuns(managed, images) &&
        shows(application, row, canTell) &&
        isProven(application, row, comparisons.size)
      noteShown(shown, nowMs, isShown)
    },
    /** The last states last until then. */
    close(nowMs: number) {
      const last = shown.at(-1)
      if (last?.untilMs === Number.POSITIVE_INFINITY) last.untilMs = Math.max(nowMs, row.task.deadlineMs + finalCheckMs)
    },
  }
}

function noteShown(shown: Stretch[], nowMs: number, isShown: boolean): void {
  const last = shown.at(-1)
  const isOpen = last?.untilMs === Number.POSITIVE_INFINITY
  if (isShown && !isOpen) shown.push({ fromMs: nowMs, untilMs: Number.POSITIVE_INFINITY })
  if (!isShown && isOpen) last.untilMs = nowMs
}

const isCommitThere = ({ writeBackOutcome, writes }: TaskRow) => writeBackOutcome !== undefined || !writes

/** Of a task without a commit only what began after its acceptance can fail. */
function isOperationOver(
  { operation, status: { operationState } }: Application,
  { baseline, writeBackOutcome }: TaskRow,
  isWantedCommit: CommitRule,
): boolean {
  if (operation !== undefined) return false
  if (operationState?.phase !== 'Failed' && operationState?.phase !== 'Error') return true
  if (writeBackOutcome === undefined)
    return (
      baseline === undefined ||
      (baseline.operation?.isOver === true && Date.parse(operationState.startedAt) === baseline.operation.startedAtMs)
    )
  return !isWantedCommit(attemptedRevisions(operationState))
}

/** Whether the controller itself, as stored, says what is true: from then on a direct read can see it. */
function shows(application: Application, { task }: TaskRow, isWantedCommit: CommitRule): boolean {
  const { sync, health, operationState, reconciledAt, conditions, summary } = application.status
  const isOlder = operationState !== undefined && !isWantedCommit(attemptedRevisions(operationState))
  const finishedAt = operationState?.finishedAt ?? ''
  const isCompared = isOlder ? (reconciledAt ?? '') > finishedAt : (reconciledAt ?? '') >= finishedAt
  const images = summary.images ?? []
  const names = task.images.filter(({ image }) => images.some((one) => one.startsWith(`${image}:`)))
  return (
    sync.status === 'Synced' &&
    health.status === 'Healthy' &&
    isCompared &&
    (conditions ?? []).length === 0 &&
    isWantedCommit(revisionsOf(application)) &&
    names.every(({ image, tag }) => images.includes(`${image}:${tag}`))
  )
}

/**
 * Without a commit of its own a task needs a comparison that began after its acceptance. Where it may not ask for one, that is
 * the second that is seen, unless the first shows something new.
 */
function isProven(
  { status }: Application,
  { task, baseline, writeBackOutcome }: TaskRow,
  comparisons: number,
): boolean {
  if (writeBackOutcome !== undefined || baseline === undefined) return true
  if (task.refresh) return comparisons >= 1
  const revisions = status.sync.revisions ?? [status.sync.revision ?? '']
  const wasThere = task.images.every(({ image, tag }) => baseline.images.includes(`${image}:${tag}`))
  const isThere = task.images.every(({ image, tag }) => status.summary.images?.includes(`${image}:${tag}`))
  return (
    comparisons >= 2 || revisions.join() !== baseline.revisions.join() || (comparisons >= 1 && !wasThere && isThere)
  )
}

/** What counts against a task, by what identifies it: failures on its commits, and trouble with its images. */
function ailmentsOf(
  row: TaskRow,
  application: Application | undefined,
  managed: ManagedApplication | undefined,
  { isWanted, failureBefore }: Pick<TaskTruth, 'isWanted' | 'failureBefore'>,
): ReadonlyMap<string, Ailment> {
  if (application === undefined || application.metadata.deletionTimestamp !== undefined)
    return new Map([['gone', 'gone']])
  const { status } = application
  const found: [string, Ailment][] = []
  const failure = failureOf(application)
  const isOurs =
    row.writeBackOutcome === undefined
      ? failure !== failureBefore
      : status.operationState !== undefined && isWanted(attemptedRevisions(status.operationState))
  if (failure !== undefined && isOurs) found.push([`sync ${failure}`, 'sync_failed'])
  for (const { type } of isCommitThere(row) ? (status.conditions ?? []) : []) {
    if (type === 'SyncError') found.push(['aborted', 'sync_given_up'])
    else found.push(['comparison', 'comparison_error'])
  }
  if (status.health.status === 'Degraded' && isCommitThere(row) && isWanted(revisionsOf(application)))
    found.push(['degraded', 'degraded'])
  const aborted = managed?.cluster.list().filter(({ rollout }) => rollout?.abort !== undefined) ?? []
  if (isCommitThere(row))
    for (const { manifest } of aborted) found.push([`aborted ${manifest.name}`, 'rollout_aborted'])
  const wanted = new Set(row.task.images.map(({ image, tag }) => `${image}:${tag}`))
  for (const pod of managed?.cluster.list().flatMap(({ pods }) => pods) ?? []) {
    if (pod.isTerminating || !imagesOf(pod).some((image) => wanted.has(image))) continue
    if (badPhases.has(pod.phase)) found.push([`${pod.uid} ${pod.phase === 'CrashLoopBackOff'}`, 'bad_pod'])
    if (pod.phase === 'InvalidImageName') found.push([pod.uid, 'invalid_image'])
  }
  return new Map(found)
}

/** When an operation began that failed and is over. */
export function failureOf(application: Application | undefined): string | undefined {
  const state = application?.status.operationState
  const isOver = application?.operation === undefined && (state?.phase === 'Failed' || state?.phase === 'Error')
  return isOver ? state.startedAt : undefined
}

const revisionsOf = ({ status: { sync } }: Application) =>
  sync.revisions ?? (sync.revision === undefined ? [] : [sync.revision])
