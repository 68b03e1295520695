import type { Application } from '../../simulator/model/application.ts'
import type { ManagedApplication } from '../../simulator/model/managed-application.ts'
import { imagesOf } from '../../simulator/model/manifest.ts'
import { attemptedRevisions } from '../../simulator/model/sync-operation.ts'
import { looksGreen } from './first-green.ts'
import type { TaskRow } from './task-records.ts'
import { isTrulyComplete } from './true-completion.ts'

/** Bad states whose duration decides whether a failure was told too early. */
type Ailment = 'gone' | 'sync_failed' | 'sync_given_up' | 'comparison_error' | 'degraded' | 'bad_pod' | 'invalid_image'

type Stretch = { readonly fromMs: number; untilMs: number }

/** What an omniscient observer notes about one task. */
export type TaskWitness = ReturnType<typeof createTaskWitness>

/** A Pod that gets ready for less than this may be found bad in every look at it, which is what the grace speaks of. */
const betweenTreesMs = 15_000

/** The last direct read may see what comes after the deadline. */
export const lastLookMs = 6_000

const badPhases: ReadonlySet<string> = new Set(['ErrImagePull', 'ImagePullBackOff', 'CrashLoopBackOff'])

type CommitRule = (revisions: readonly string[]) => boolean

/** `mayCount`: commits whose rollout makes `deployed` true. `isSure`: those by which the service can tell it. */
export function createTaskWitness(row: TaskRow, { mayCount, isSure }: { mayCount: CommitRule; isSure: CommitRule }) {
  const since = new Map<string, { readonly fromMs: number; lastMs: number; ailment: Ailment }>()
  const longest = new Map<Ailment, number>()
  const shown: Stretch[] = []
  const comparisons = new Set<string>()
  let uid: string | undefined
  const { images } = row.task
  let completeAtMs: number | undefined
  let greenAtMs: number | undefined
  let wasGreenTrue = false

  const note = (nowMs: number, current: ReadonlyMap<string, Ailment>, managed: ManagedApplication | undefined) => {
    for (const [key, { lastMs, ailment }] of since)
      if (!current.has(key) && (ailment !== 'bad_pod' || nowMs - lastMs > betweenTreesMs)) since.delete(key)
    for (const [key, ailment] of current) {
      const lasting = since.get(key) ?? { fromMs: badSinceMs(key, managed) ?? nowMs, lastMs: nowMs, ailment }
      lasting.lastMs = nowMs
      since.set(key, lasting)
      longest.set(ailment, Math.max(longest.get(ailment) ?? 0, nowMs - lasting.fromMs))
    }
  }

  return {
    row,
    shown,
    completeAtMs: () => completeAtMs,
    /** How long an ailment has lasted at the longest; `undefined`: it never was there. */
    longestMs: (ailment: Ailment): number | undefined => longest.get(ailment),
    firstGreen: () => ({ wasSeen: greenAtMs !== undefined, wasTrue: wasGreenTrue }),
    /** Looks at everything, after each step of the model. */
    look(nowMs: number, application: Application | undefined, managed: ManagedApplication | undefined) {
      if (nowMs > row.task.deadlineMs + lastLookMs) return
      note(nowMs, ailmentsOf(row, application, managed), managed)
      const isComplete =
        application !== undefined &&
        managed !== undefined &&
        isOperationOver(application, row, mayCount) &&
        isTrulyComplete(managed, images, mayCount)
      if (isComplete) completeAtMs ??= nowMs
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
      const isShown = isComplete && shows(application, row, isSure) && isProven(application, row, comparisons.size)
      noteShown(shown, nowMs, isShown)
    },
    /** The last states last until then. */
    close(nowMs: number) {
      const last = shown.at(-1)
      if (last?.untilMs === Number.POSITIVE_INFINITY) last.untilMs = Math.max(nowMs, row.task.deadlineMs + lastLookMs)
    },
  }
}

function noteShown(shown: Stretch[], nowMs: number, isShown: boolean): void {
  const last = shown.at(-1)
  const isOpen = last?.untilMs === Number.POSITIVE_INFINITY
  if (isShown && !isOpen) shown.push({ fromMs: nowMs, untilMs: Number.POSITIVE_INFINITY })
  if (!isShown && isOpen) last.untilMs = nowMs
}

const isCommitThere = ({ writeBackOutcome, script }: TaskRow) => writeBackOutcome !== undefined || !script.hasCredential

/** Of a task without a commit only what began after its acceptance can fail. */
function isOperationOver(
  { operation, status: { operationState } }: Application,
  { baseline, writeBackOutcome }: TaskRow,
  isWantedCommit: CommitRule,
): boolean {
  if (operation !== undefined) return false
  if (operationState?.phase !== 'Failed' && operationState?.phase !== 'Error') return true
  if (writeBackOutcome === undefined)
    return baseline === undefined || Date.parse(operationState.startedAt) === baseline.operationStartedAtMs
  return !isWantedCommit(attemptedRevisions(operationState))
}

/** Whether the controller itself, as stored, says what is true: from then on a direct read can see it. */
function shows({ status }: Application, { task }: TaskRow, isWantedCommit: CommitRule): boolean {
  const { sync, health, operationState, reconciledAt, conditions, summary } = status
  const revisions = sync.revisions ?? (sync.revision === undefined ? [] : [sync.revision])
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
    isWantedCommit(revisions) &&
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

/** A Pod may have been bad since before the task was accepted; that counts. */
function badSinceMs(key: string, managed: ManagedApplication | undefined): number | undefined {
  const pods = managed?.cluster.list().flatMap((workload) => workload.pods) ?? []
  return pods.find(({ uid }) => key.startsWith(`${uid} `))?.createdAt
}

function ailmentsOf(
  { task }: TaskRow,
  application: Application | undefined,
  managed: ManagedApplication | undefined,
): ReadonlyMap<string, Ailment> {
  if (application === undefined || application.metadata.deletionTimestamp !== undefined)
    return new Map([['gone', 'gone']])
  const { status } = application
  const found: [string, Ailment][] = []
  const { operationState: state } = status
  if (state?.phase === 'Failed' || state?.phase === 'Error') found.push([`sync ${state.startedAt}`, 'sync_failed'])
  for (const { type } of status.conditions ?? []) {
    if (type === 'SyncError') found.push(['given up', 'sync_given_up'])
    else found.push(['comparison', 'comparison_error'])
  }
  if (status.health.status === 'Degraded') found.push(['degraded', 'degraded'])
  const wanted = new Set(task.images.map(({ image, tag }) => `${image}:${tag}`))
  for (const pod of managed?.cluster.list().flatMap(({ pods }) => pods) ?? []) {
    if (pod.isTerminating || !imagesOf(pod).some((image) => wanted.has(image))) continue
    if (badPhases.has(pod.phase)) found.push([`${pod.uid} ${pod.phase === 'CrashLoopBackOff'}`, 'bad_pod'])
    if (pod.phase === 'InvalidImageName') found.push([pod.uid, 'invalid_image'])
  }
  return new Map(found)
}
