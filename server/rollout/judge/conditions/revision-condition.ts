import type { ApplicationSource } from '../../../write-back/plan/application-source.ts'
import { isSameRepository as isSameGitRepository } from '../../../write-back/plan/repository-address.ts'
import { hasOperationFailed, isOperationActive } from '../../observed/observed-application.ts'
import type { AwaitedCommit, JudgeInput } from '../input/judge-input.ts'
import { ancestryKey, type NextAction } from '../input/rollout-observation.ts'
import { hasLaterOperation } from './change-since-baseline.ts'
import { type ConditionResult, isComparedInSameSecond, met, notMet, unknown } from './conditions.ts'
import { isImageRunning } from './image-reference.ts'

/** How a reported revision stands to our commit. `unasked`: not known yet; `unknown`: the Git host cannot say. */
export type CommitInclusion = 'reached' | 'before' | 'unknown' | 'unasked' | 'no_commit'

const sha = /^[0-9a-f]{40}$/

export const shortRevision = (revision: string) => (sha.test(revision) ? revision.slice(0, 7) : revision || 'none')

/** Other people push too, so a later commit is as good as ours: ancestry decides, not equality. */
export function inclusionOf(snapshot: JudgeInput, commit: AwaitedCommit, revision: string): CommitInclusion {
  if (revision === commit.commit) return 'reached'
  if (!sha.test(revision)) return 'no_commit'
  if (isFromBefore(snapshot, commit, revision)) return 'before'
  const known = snapshot.observation.ancestries.get(ancestryKey(commit.commit, revision))
  if (known === undefined) return 'unasked'
  if (known.ancestry === 'unknown') return 'unknown'
  return known.ancestry === 'unrelated' ? 'before' : 'reached'
}

/** What was there before a new commit was made cannot contain it; no lookup is needed. */
function isFromBefore({ baseline }: JudgeInput, commit: AwaitedCommit, revision: string): boolean {
  return commit.isNew && baseline?.isBeforeCommit === true && baseline.revisions.includes(revision)
}

/** Positions of the sources that read the branch we pushed to. */
function followingSources(sources: readonly ApplicationSource[], commit: AwaitedCommit): readonly number[] {
  return sources.flatMap((source, index) => (follows(source, commit) ? [index] : []))
}

function follows(
  { chart, repository, targetRevision }: ApplicationSource,
  { repository: pushed, branch }: AwaitedCommit,
) {
  const names = ['', 'HEAD', branch, `refs/heads/${branch}`]
  // Which branch HEAD is cannot be known here; ancestry decides all the same.
  const isNamed = branch === 'HEAD' || names.includes(targetRevision)
  return chart === undefined && isSameGitRepository(repository, pushed) && isNamed
}

/** Whether the snapshot was compared with the commit or a later one; without a commit, with anything after acceptance. */
export function judgeRevision(snapshot: JudgeInput): ConditionResult {
  const { commit, application } = snapshot
  if (commit === undefined) return judgeLaterComparison(snapshot)
  if (application.isHydrated) return judgeHydrated(snapshot, commit)
  const followers = followingSources(application.sources, commit)
  if (followers.length === 0)
    return notMet('revision', `a source that follows branch ${commit.branch} of ${commit.repository}`)
  const each = followers.map((index) => judgeOneRevision(snapshot, commit, application.revisions[index] ?? ''))
  return each.find(({ state }) => state !== 'met') ?? each[0] ?? met('revision')
}

function judgeOneRevision(snapshot: JudgeInput, commit: AwaitedCommit, revision: string): ConditionResult {
  const inclusion = inclusionOf(snapshot, commit, revision)
  if (inclusion === 'reached') return met('revision')
  if (inclusion === 'unknown') return judgeUnknownRevision(snapshot)
  const expected = `${shortRevision(commit.commit)} or later`
  return inclusion === 'unasked'
    ? unknown('revision', expected, `${shortRevision(revision)}, its ancestry is being looked up`)
    : notMet('revision', expected, shortRevision(revision))
}

/** What was compared after a comparison that had the commit came after it as well. */
function judgeUnknownRevision(snapshot: JudgeInput): ConditionResult {
  const why = 'the history of the repository could not be read'
  if (snapshot.hasReached) return met('revision', `${why}: a comparison after the one with the commit decided`)
  return judgeLaterComparison(snapshot, why)
}

/** The commit of a hydrated application is a dry one; what is compared is the commit that the hydrator made of it. */
function judgeHydrated(snapshot: JudgeInput, commit: AwaitedCommit): ConditionResult {
  const { hydration, revisions } = snapshot.application
  const [revision = ''] = revisions
  const expected = `hydration of ${shortRevision(commit.commit)}`
  if (hydration.failure !== undefined) return notMet('revision', expected, `a failed hydration: ${hydration.failure}`)
  if (isHydratedFrom(snapshot, commit, revision)) return met('revision')
  const isCompared = isReached(snapshot, commit, hydration.lastComparedDryRevision)
  if (isCompared && !hydration.isRunning) return met('revision', 'the commit changed nothing for the hydrator')
  return notMet('revision', expected, shortRevision(hydration.lastDryRevision ?? ''))
}

/** Whether a revision holds what the hydrator made of the commit or of a later one. */
function isHydratedFrom(snapshot: JudgeInput, commit: AwaitedCommit, revision: string): boolean {
  const { lastDryRevision, lastHydratedRevision } = snapshot.application.hydration
  return isReached(snapshot, commit, lastDryRevision) && isAtOrAfter(snapshot, lastHydratedRevision, revision)
}

function isReached(snapshot: JudgeInput, commit: AwaitedCommit, revision: string | undefined): boolean {
  return revision !== undefined && inclusionOf(snapshot, commit, revision) === 'reached'
}

/** Hydrated commits of other applications may lie on top of ours. */
function isAtOrAfter({ observation }: JudgeInput, hydrated: string | undefined, revision: string): boolean {
  if (hydrated === undefined) return false
  if (hydrated === revision) return true
  return observation.ancestries.get(ancestryKey(hydrated, revision))?.ancestry === 'descendant'
}

/** Whether a comparison after acceptance decides: no commit of ours is known, or the history that holds it cannot be read. */
export function reliesOnComparison(snapshot: JudgeInput): boolean {
  const { commit, application } = snapshot
  if (commit === undefined) return true
  return followingSources(application.sources, commit).some(
    (index) => inclusionOf(snapshot, commit, application.revisions[index] ?? '') === 'unknown',
  )
}

function judgeLaterComparison(snapshot: JudgeInput, why = 'no commit by the service'): ConditionResult {
  return snapshot.task.refresh ? judgeAnsweredRefresh(snapshot, why) : judgeOwnComparison(snapshot, why)
}

/** A refresh whose comparison began late enough has been answered, and this snapshot is from after it. */
function judgeAnsweredRefresh(snapshot: JudgeInput, why: string): ConditionResult {
  const { observation, application, baseline, refreshFromMs } = snapshot
  const { answered } = observation.refresh
  const isAfter =
    answered?.beganAfterMs !== undefined &&
    answered.beganAfterMs >= refreshFromMs &&
    application.version >= answered.version
  const isProven = isAfter && application.version > (baseline?.version ?? 0)
  if (!isProven && !wasCompared(snapshot)) return notMet('revision', 'an answered refresh')
  return met('revision', `${why}: a comparison requested by a refresh decided`)
}

/** Whether an earlier owner of the task has had that refresh answered. */
function wasCompared({ commit, application, baseline }: JudgeInput): boolean {
  return commit === undefined && application.version >= (baseline?.comparedVersion ?? Number.POSITIVE_INFINITY)
}

/** Where no refresh may be requested: enough that some comparison began after acceptance. */
function judgeOwnComparison(snapshot: JudgeInput, why: string): ConditionResult {
  const { application, baseline, comparisons, task, settings } = snapshot
  if (baseline === undefined || application.version <= baseline.version) return notMet('revision', 'a newer state')
  if (application.revisions.join() !== baseline.revisions.join()) return met('revision', `${why}: the revision moved`)
  const isLater = (application.reconciledAtMs ?? 0) > (baseline.reconciledAtMs ?? 0)
  if (comparisons.length >= 2) return met('revision', `${why}: a second comparison since acceptance decided`)
  const isNewImage = task.images.some((image) => !isImageRunning(image, baseline.images, settings))
  const isThere = task.images.every((image) => isImageRunning(image, application.images, settings))
  if (isLater && isNewImage && isThere) return met('revision', `${why}: a later comparison shows a new image`)
  return notMet('revision', 'a comparison that began after the task was accepted')
}

/** A failed operation counts against a task when it worked on its commit or a later one, or began after acceptance. */
export function judgeOperation(snapshot: JudgeInput): ConditionResult {
  const { application } = snapshot
  const phase = application.operation?.phase ?? 'requested'
  const message = application.operation?.message
  const found = message === undefined ? phase : `${phase}: ${message}`
  if (isOperationActive(application)) return notMet('operation', 'no operation under way', found)
  return concernsTask(snapshot) ? notMet('operation', 'a successful operation', found) : met('operation')
}

export function concernsTask(snapshot: JudgeInput): boolean {
  const { application, commit, baseline } = snapshot
  if (!hasOperationFailed(application) || application.operation === undefined) return false
  if (commit === undefined) return baseline?.operation?.isOver !== true || hasLaterOperation(snapshot)
  return application.operation.revisions.some((revision) => hasCommit(snapshot, commit, revision))
}

/** Whether what was synced holds our commit, or what was made of it. */
function hasCommit(snapshot: JudgeInput, commit: AwaitedCommit, revision: string): boolean {
  if (snapshot.application.isHydrated) return isHydratedFrom(snapshot, commit, revision)
  return inclusionOf(snapshot, commit, revision) === 'reached'
}

/** Whether the last operation worked on something that is not known to hold our commit. */
export function isOperationOlder(snapshot: JudgeInput): boolean {
  const { commit, application } = snapshot
  if (commit === undefined || application.operation === undefined) return false
  const synced = application.isHydrated ? [0] : followingSources(application.sources, commit)
  return synced.some((index) => {
    const operated = application.operation?.revisions[index] ?? ''
    return operated !== application.revisions[index] && !hasCommit(snapshot, commit, operated)
  })
}

/** Whether the last operation is known to have worked on our commit or a later one. */
export function appliedTaskCommit(snapshot: JudgeInput): boolean {
  const { commit, application } = snapshot
  const { operation, sources, isHydrated } = application
  if (commit === undefined || operation === undefined) return false
  const synced = isHydrated ? [0] : followingSources(sources, commit)
  return synced.every((index) => hasCommit(snapshot, commit, operation.revisions[index] ?? ''))
}

/** The questions about ancestry that this snapshot raises. */
export function missingAncestry(snapshot: JudgeInput): readonly NextAction[] {
  const { application, commit } = snapshot
  if (commit === undefined) return []
  const revisions = application.isHydrated ? hydratedRevisions(snapshot) : sourceRevisions(snapshot, commit)
  const asked = [...new Set(revisions)].filter((revision) => inclusionOf(snapshot, commit, revision) === 'unasked')
  return [
    ...asked.map((revision) => ancestryOf(commit.repository, commit.commit, revision)),
    ...hydratedAncestry(snapshot, commit),
  ]
}

function ancestryOf(repository: string, commit: string, revision: string): NextAction {
  return { kind: 'ancestry', repository, commit, revision }
}

/** What the application was compared with and, once an operation is over, what that one worked on. */
function sourceRevisions({ application }: JudgeInput, commit: AwaitedCommit): readonly string[] {
  const isConclusive = hasOperationFailed(application) || isComparedInSameSecond(application)
  const operated = isConclusive ? (application.operation?.revisions ?? []) : []
  return followingSources(application.sources, commit).flatMap((index) => [
    application.revisions[index] ?? '',
    operated[index] ?? '',
  ])
}

function hydratedRevisions({ application: { hydration } }: JudgeInput): readonly string[] {
  return [hydration.lastDryRevision, hydration.lastComparedDryRevision].filter((revision) => revision !== undefined)
}

function hydratedAncestry({ application, observation }: JudgeInput, commit: AwaitedCommit): readonly NextAction[] {
  const hydrated = application.hydration.lastHydratedRevision
  const [revision = ''] = application.revisions
  if (!application.isHydrated || hydrated === undefined || hydrated === revision || !sha.test(revision)) return []
  if (observation.ancestries.has(ancestryKey(hydrated, revision))) return []
  return [ancestryOf(commit.repository, hydrated, revision)]
}
