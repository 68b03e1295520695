import type { ApplicationSource } from '../../gitops/plan/application-source.ts'
import { isSameRepository as isSameGitRepository } from '../../gitops/plan/repository-address.ts'
import { hasLaterOperation } from './change-since-baseline.ts'
import {
  type AwaitedCommit,
  closed,
  type Gate,
  type GateContext,
  hasOperationFailed,
  isComparedInSameSecond,
  isOperationActive,
  open,
} from './gates.ts'
import { isImageRunning } from './image-reference.ts'
import { type NextAction, relationKey } from './rollout-observation.ts'

/** How a reported revision stands to our commit. `unasked`: nobody knows yet; `unknown`: the Git host cannot say. */
export type Standing = 'reached' | 'before' | 'unknown' | 'unasked' | 'no_commit'

const sha = /^[0-9a-f]{40}$/

export const shortRevision = (revision: string) => (sha.test(revision) ? revision.slice(0, 7) : revision || 'none')

/** Other people push too, so a later commit is as good as ours: ancestry decides, not equality. */
export function standingOf(context: GateContext, commit: AwaitedCommit, revision: string): Standing {
  if (!sha.test(revision)) return 'no_commit'
  if (revision === commit.commit) return 'reached'
  if (isFromBefore(context, commit, revision)) return 'before'
  const known = context.observation.relations.get(relationKey(commit.commit, revision))
  if (known === undefined) return 'unasked'
  if (known.relation === 'unknown') return 'unknown'
  return known.relation === 'unrelated' ? 'before' : 'reached'
}

/** What was there before a new commit was made cannot contain it; nobody need be asked. */
function isFromBefore({ baseline }: GateContext, commit: AwaitedCommit, revision: string): boolean {
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

/** Whether the snapshot was compared with our commit or a later one; without a commit of ours, with anything after acceptance. */
export function gateRevision(context: GateContext): Gate {
  const { commit, application } = context
  if (commit === undefined) return gateLaterComparison(context)
  if (application.isHydrated) return gateHydrated(context, commit)
  const followers = followingSources(application.sources, commit)
  if (followers.length === 0)
    return closed('R', `a source that follows branch ${commit.branch} of ${commit.repository}`)
  const gates = followers.map((index) => gateOneRevision(context, commit, application.revisions[index] ?? ''))
  return gates.find((gate) => !gate.isOpen) ?? gates[0] ?? open('R')
}

function gateOneRevision(context: GateContext, commit: AwaitedCommit, revision: string): Gate {
  const standing = standingOf(context, commit, revision)
  if (standing === 'reached') return open('R')
  if (standing === 'unknown') return gateUnknownRevision(context)
  const wanted = `revision ${shortRevision(commit.commit)} or later, not ${shortRevision(revision)}`
  return closed('R', standing === 'unasked' ? `${wanted} (its ancestry is being looked up)` : wanted)
}

/** What was compared after a comparison that had our commit came after it as well. */
function gateUnknownRevision(context: GateContext): Gate {
  const why = 'the history of the repository could not be read'
  if (context.hasReached) return open('R', `${why}: a comparison after the one with the commit decided`)
  return gateLaterComparison(context, why)
}

/** The commit of a hydrated application is a dry one; what is compared is the commit that the hydrator made of it. */
function gateHydrated(context: GateContext, commit: AwaitedCommit): Gate {
  const { hydration, revisions } = context.application
  const [revision = ''] = revisions
  if (hydration.failure !== undefined) return closed('R', `hydration, which failed: ${hydration.failure}`)
  if (isHydratedFrom(context, commit, revision)) return open('R')
  const isCompared = isReached(context, commit, hydration.lastComparedDryRevision)
  if (isCompared && !hydration.isRunning) return open('R', 'the commit changed nothing for the hydrator')
  return closed(
    'R',
    `hydration of ${shortRevision(commit.commit)}, not ${shortRevision(hydration.lastDryRevision ?? '')}`,
  )
}

/** Whether a revision holds what the hydrator made of the commit or of a later one. */
function isHydratedFrom(context: GateContext, commit: AwaitedCommit, revision: string): boolean {
  const { lastDryRevision, lastHydratedRevision } = context.application.hydration
  return isReached(context, commit, lastDryRevision) && isAtOrAfter(context, lastHydratedRevision, revision)
}

function isReached(context: GateContext, commit: AwaitedCommit, revision: string | undefined): boolean {
  return revision !== undefined && standingOf(context, commit, revision) === 'reached'
}

/** Hydrated commits of other applications may lie on top of ours. */
function isAtOrAfter({ observation }: GateContext, hydrated: string | undefined, revision: string): boolean {
  if (hydrated === undefined) return false
  if (hydrated === revision) return true
  return observation.relations.get(relationKey(hydrated, revision))?.relation === 'descendant'
}

/** Whether a comparison after acceptance decides: no commit of ours is known, or the history that holds it cannot be read. */
export function reliesOnComparison(context: GateContext): boolean {
  const { commit, application } = context
  if (commit === undefined) return true
  return followingSources(application.sources, commit).some(
    (index) => standingOf(context, commit, application.revisions[index] ?? '') === 'unknown',
  )
}

function gateLaterComparison(context: GateContext, why = 'no commit by the service'): Gate {
  return context.mayRefresh ? gateAnsweredRefresh(context, why) : gateOwnComparison(context, why)
}

/** A refresh whose comparison began late enough has been answered, and this snapshot is from after it. */
function gateAnsweredRefresh(context: GateContext, why: string): Gate {
  const { refresh, refreshFromMs, application, baseline } = context
  const { answered } = refresh
  const isAfter =
    answered?.beganAfterMs !== undefined &&
    answered.beganAfterMs >= refreshFromMs &&
    application.version >= answered.version
  const isProven = isAfter && application.version > (baseline?.version ?? 0)
  if (!isProven && !wasCompared(context)) return closed('R', 'a refresh to be answered')
  return open('R', `${why}: a comparison asked for by a refresh decided`)
}

/** Whether an earlier owner of the task has had that refresh answered. */
function wasCompared({ commit, application, baseline }: GateContext): boolean {
  return commit === undefined && application.version >= (baseline?.comparedVersion ?? Number.POSITIVE_INFINITY)
}

/** Where no refresh may be asked: enough that some comparison began after acceptance. */
function gateOwnComparison(context: GateContext, why: string): Gate {
  const { application, baseline, comparisons } = context
  if (baseline === undefined || application.version <= baseline.version) return closed('R', 'a newer state')
  if (application.revisions.join() !== baseline.revisions.join()) return open('R', `${why}: the revision moved`)
  const isLater = (application.reconciledAtMs ?? 0) > (baseline.reconciledAtMs ?? 0)
  if (comparisons.length >= 2) return open('R', `${why}: a second comparison since acceptance decided`)
  const isNewImage = context.wanted.some((image) => !isImageRunning(image, baseline.images, context.settings))
  const isThere = context.wanted.every((image) => isImageRunning(image, application.images, context.settings))
  if (isLater && isNewImage && isThere) return open('R', `${why}: a later comparison shows a new image`)
  return closed('R', 'a comparison that began after the task was accepted')
}

/** A failed operation counts against a task when it worked on our commit or a later one, or began after acceptance. */
export function gateOperationOver(context: GateContext): Gate {
  if (isOperationActive(context.application)) return closed('O', 'the end of the operation')
  return isOurFailure(context) ? closed('O', 'a successful operation') : open('O')
}

export function isOurFailure(context: GateContext): boolean {
  const { application, commit, baseline } = context
  if (!hasOperationFailed(application) || application.operation === undefined) return false
  if (commit === undefined) return baseline?.operation?.isOver !== true || hasLaterOperation(context)
  return application.operation.revisions.some((revision) => hasCommit(context, commit, revision))
}

/** Whether what was synced holds our commit, or what was made of it. */
function hasCommit(context: GateContext, commit: AwaitedCommit, revision: string): boolean {
  if (context.application.isHydrated) return isHydratedFrom(context, commit, revision)
  return standingOf(context, commit, revision) === 'reached'
}

/** Whether the last operation worked on something that is not known to hold our commit. */
export function isOperationOlder(context: GateContext): boolean {
  const { commit, application } = context
  if (commit === undefined || application.operation === undefined) return false
  const synced = application.isHydrated ? [0] : followingSources(application.sources, commit)
  return synced.some((index) => {
    const operated = application.operation?.revisions[index] ?? ''
    return operated !== application.revisions[index] && !hasCommit(context, commit, operated)
  })
}

/** Whether the last operation is known to have worked on our commit or a later one. */
export function isOperationOurs(context: GateContext): boolean {
  const { commit, application } = context
  const { operation, sources, isHydrated } = application
  if (commit === undefined || operation === undefined) return false
  const synced = isHydrated ? [0] : followingSources(sources, commit)
  return synced.every((index) => hasCommit(context, commit, operation.revisions[index] ?? ''))
}

/** The questions about ancestry that this snapshot raises. */
export function wantedRelations(context: GateContext): readonly NextAction[] {
  const { application, commit } = context
  if (commit === undefined) return []
  const revisions = application.isHydrated ? hydratedRevisions(context) : sourceRevisions(context, commit)
  const asked = [...new Set(revisions)].filter((revision) => standingOf(context, commit, revision) === 'unasked')
  return [
    ...asked.map((revision) => relationOf(commit.repository, commit.commit, revision)),
    ...hydratedRelation(context, commit),
  ]
}

function relationOf(repository: string, commit: string, revision: string): NextAction {
  return { kind: 'relation', repository, commit, revision }
}

/** What the application was compared with and, once an operation is over, what that one worked on. */
function sourceRevisions({ application }: GateContext, commit: AwaitedCommit): readonly string[] {
  const isTelling = hasOperationFailed(application) || isComparedInSameSecond(application)
  const operated = isTelling ? (application.operation?.revisions ?? []) : []
  return followingSources(application.sources, commit).flatMap((index) => [
    application.revisions[index] ?? '',
    operated[index] ?? '',
  ])
}

function hydratedRevisions({ application: { hydration } }: GateContext): readonly string[] {
  return [hydration.lastDryRevision, hydration.lastComparedDryRevision].filter((revision) => revision !== undefined)
}

function hydratedRelation({ application, observation }: GateContext, commit: AwaitedCommit): readonly NextAction[] {
  const hydrated = application.hydration.lastHydratedRevision
  const [revision = ''] = application.revisions
  if (!application.isHydrated || hydrated === undefined || hydrated === revision || !sha.test(revision)) return []
  if (observation.relations.has(relationKey(hydrated, revision))) return []
  return [relationOf(commit.repository, hydrated, revision)]
}
