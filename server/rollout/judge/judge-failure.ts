import type { Cause } from '../../../contract/cause.ts'
import type { Image } from '../../../contract/task.ts'
import type { FinalStatus } from '../../../contract/task-status.ts'
import { imagesOf, imageText } from './gate-images.ts'
import { isOurFailure, standingOf } from './gate-revision.ts'
import { errorConditionsOf, type GateContext, hasOperationFailed, isOperationActive } from './gates.ts'
import { isImageRunning } from './image-reference.ts'
import type { Gates } from './judge-gates.ts'
import { describeBadPod, findBadPods, unrecoverablePod } from './judge-pods.ts'
import { appliedImages } from './last-operation.ts'
import type { ObservedApplication, OperationResource } from './observed-application.ts'
import type { RolloutMemory } from './rollout-memory.ts'
import type { NextAction, RolloutObservation } from './rollout-observation.ts'
import type { RolloutSettings } from './rollout-settings.ts'

/** A possible end of a task, still to be confirmed by a direct read. */
export type Ending = {
  readonly status: FinalStatus
  readonly cause?: Cause
  readonly headline: string
  readonly hint?: string
}

const failed = (cause: Cause, headline: string, hint?: string): Ending =>
  hint === undefined ? { status: 'failed', cause, headline } : { status: 'failed', cause, headline, hint }

const hasLasted = (sinceMs: number | undefined, graceMs: number, nowMs: number) =>
  sinceMs !== undefined && nowMs - sinceMs >= graceMs

export type FailureView = {
  readonly context: GateContext
  readonly gates: Gates
  readonly memory: RolloutMemory
  readonly observation: RolloutObservation
  readonly settings: RolloutSettings
  readonly badPodGraceMs: number
  readonly nowMs: number
}

/** The first reason why this rollout cannot succeed by itself, if there is one. */
export function judgeFailure(view: FailureView): Ending | undefined {
  return (
    judgeSuperseded(view) ??
    judgeSyncFailure(view) ??
    judgeComparisonError(view) ??
    judgePods(view) ??
    judgeDegraded(view) ??
    judgeForeignImage(view)
  )
}

/** Whether the failure of a sync counts: an operation that failed on our commit, or automated sync that gave it up. */
export function isSyncFailing(context: GateContext, gates: Gates): boolean {
  if (isOperationActive(context.application)) return false
  return isOurFailure(context) || hasGivenUp(context, gates)
}

function hasGivenUp({ application, commit }: GateContext, gates: Gates): boolean {
  return commit !== undefined && gates.isOpen('R') && !gates.isOpen('S') && syncErrorOf(application) !== undefined
}

function syncErrorOf(application: ObservedApplication): string | undefined {
  return application.conditions.find(({ type }) => type === 'SyncError')?.message
}

function judgeSyncFailure({ context, memory, settings, nowMs }: FailureView): Ending | undefined {
  if (!hasLasted(memory.since.sync_failed, settings.syncFailedGraceMs, nowMs)) return undefined
  const { application } = context
  const message = application.operation?.message ?? 'no message'
  if (!isOurFailure(context))
    return failed('auto_sync_stopped', `automated sync gave up: ${syncErrorOf(application) ?? ''}`, hints.stopped)
  if (/operation terminated/i.test(message))
    return failed('terminated', `the sync was terminated: ${message}`, hints.stopped)
  const hook = application.operation?.resources.find(isFailedHook)
  if (hook === undefined) return failed('sync_error', `the sync failed: ${message}`, hints.sync)
  return failed(
    'hook_failed',
    `${hook.hookType} hook ${hook.kind} ${hook.name} failed: ${hook.message ?? message}`,
    hints.hook,
  )
}

/** A failed hook has the status Synced; plain resources keep a phase that says nothing. */
export function isFailedHook({ hookType, hookPhase }: OperationResource): boolean {
  return hookType !== undefined && (hookPhase === 'Failed' || hookPhase === 'Error')
}

function judgeComparisonError({ context, memory, settings, nowMs }: FailureView): Ending | undefined {
  if (!hasLasted(memory.since.comparison_error, settings.comparisonErrorGraceMs, nowMs)) return undefined
  const [error] = errorConditionsOf(context.application)
  return failed('comparison_error', `${error?.type ?? 'error'}: ${error?.message ?? ''}`, hints.comparison)
}

function judgePods({ context, gates, memory, observation, settings, badPodGraceMs }: FailureView): Ending | undefined {
  const { tree } = observation
  if (tree?.value === undefined || !gates.isOpen('R') || gates.isOpen('H')) return undefined
  const bad = findBadPods(tree.value, context.wanted, settings)
  const unrecoverable = unrecoverablePod(bad, memory.badPods, tree.askedAtMs, badPodGraceMs)
  if (unrecoverable === undefined) return undefined
  return failed(
    unrecoverable.cause,
    `cannot start: ${describeBadPod(unrecoverable, observation.podEvents?.value)}`,
    hints.pod,
  )
}

/** Degraded counts from our revision on; what was degraded before is history. */
function judgeDegraded({ context, memory, observation, settings, nowMs }: FailureView): Ending | undefined {
  if (!hasLasted(memory.since.degraded, settings.degradedGraceMs, nowMs)) return undefined
  const [bad] =
    observation.tree?.value === undefined ? [] : findBadPods(observation.tree.value, context.wanted, settings)
  if (bad === undefined)
    return failed('degraded', `the application is Degraded: ${degradedText(context.application)}`, hints.pod)
  return failed(bad.cause, `Degraded: ${describeBadPod(bad, observation.podEvents?.value)}`, hints.pod)
}

function degradedText({ resources, healthMessage }: ObservedApplication): string {
  const worst = resources.find(({ health }) => health === 'Degraded')
  return worst === undefined
    ? (healthMessage ?? 'no message')
    : `${worst.kind} ${worst.name}: ${worst.healthMessage ?? ''}`
}

/** A later commit that sets another tag for a wanted image ends the wait for ours. */
function judgeSuperseded({ context, observation }: FailureView): Ending | undefined {
  for (const revision of laterRevisions(context)) {
    const override = observation.overrides.get(revision)
    const other = context.wanted.find(({ image, tag }) => override?.has(image) === true && override.get(image) !== tag)
    if (other === undefined) continue
    const sets = `the override file sets ${other.image} to tag ${override?.get(other.image)}`
    const headline = `superseded in Git: at commit ${revision} ${sets}`
    return { status: 'cancelled', cause: 'superseded', headline }
  }
  return undefined
}

/** Revisions after our commit that were reported for a source we pushed to. */
function laterRevisions(context: GateContext): readonly string[] {
  const { commit, application } = context
  if (commit === undefined) return []
  return commitsReported(application).filter(
    (revision) => revision !== commit.commit && standingOf(context, commit, revision) === 'reached',
  )
}

/** Of a hydrated application the revisions are the hydrator's; what people commit is what it made them of. */
const commitsReported = ({ isHydrated, hydration, revisions }: ObservedApplication): readonly string[] =>
  isHydrated ? [hydration.lastDryRevision ?? ''] : revisions

/**
 * Other people's commits come all the time, so the override file of one is looked at only when something speaks against ours:
 * what was applied, or what runs in sync, lacks a wanted image.
 */
export function wantedOverrides(
  context: GateContext,
  gates: Gates,
  observation: RolloutObservation,
): readonly NextAction[] {
  const { application, wanted, settings } = context
  const applied = appliedImages(application)
  const lacksImage = wanted.some((image) => !isImageRunning(image, applied, settings))
  const isTelling = hasOperationFailed(application) || applied.length > 0 || gates.isOpen('S')
  if (!lacksImage || !isTelling || gates.areOpen) return []
  const unread = laterRevisions(context).filter((revision) => !observation.overrides.has(revision))
  return unread.map((revision) => ({ kind: 'override_at', revision }))
}

export type ForeignImageCheck =
  | { readonly kind: 'part_of_it' }
  | { readonly kind: 'must_read' }
  | { readonly kind: 'cannot_tell'; readonly note: string }
  | { readonly kind: 'foreign'; readonly image: Image; readonly has: readonly string[] }

/** Whether a wanted image can ever appear: asked when all is well but the images. */
export function checkForeignImage({
  context,
  gates,
  observation,
}: Pick<FailureView, 'context' | 'gates' | 'observation'>): ForeignImageCheck {
  const { application, wanted, settings } = context
  if (!gates.othersAreOpen || gates.isOpen('I')) return { kind: 'part_of_it' }
  const listed = [...application.images, ...appliedImages(application)]
  const suspect = wanted.find((image) => imagesOf(image, listed, settings).length === 0)
  if (suspect === undefined) return { kind: 'part_of_it' }
  const { managed } = observation
  if (managed === undefined) return { kind: 'must_read' }
  if (managed.value === undefined) return { kind: 'cannot_tell', note: 'the manifests could not be read' }
  const inManifests = [...managed.value.liveImages, ...managed.value.declaredImages]
  if (inManifests.length === 0) return { kind: 'cannot_tell', note: 'the manifests name no image' }
  if (hasHooks(application)) return { kind: 'cannot_tell', note: 'hooks may use other images' }
  if (managed.value.hasForeignKinds) return { kind: 'cannot_tell', note: 'custom resources may use other images' }
  if (imagesOf(suspect, inManifests, settings).length > 0) return { kind: 'part_of_it' }
  return { kind: 'foreign', image: suspect, has: [...new Set([...listed, ...inManifests])] }
}

function hasHooks({ resources, operation }: ObservedApplication): boolean {
  return (
    resources.some(({ isHook }) => isHook) ||
    (operation?.resources.some(({ hookType }) => hookType !== undefined) ?? false)
  )
}

function judgeForeignImage(view: FailureView): Ending | undefined {
  if (view.observation.annotations.skipImageValidation) return undefined
  const check = checkForeignImage(view)
  if (check.kind !== 'foreign') return undefined
  const headline = `image ${imageText(check.image)} is not part of the application; its images: ${check.has.join(', ')}`
  return failed('image_not_in_application', headline, hints.image)
}

export const podHint = 'Look at the events and the log of the Pod, fix the image or its configuration and deploy again.'

const hints = {
  sync: 'Fix what the sync reports and deploy again; a refresh does not start another attempt at the same commit.',
  hook: 'Look at the log of the hook, fix it and deploy again.',
  stopped: 'Sync the application by hand in Argo CD, or deploy a new commit.',
  comparison: 'Fix the manifests or the override file in Git, then deploy again.',
  pod: podHint,
  image: 'Check the spelling of the image in the task; the annotation skip-image-validation switches this check off.',
}
