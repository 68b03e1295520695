import type { Image } from '../../../../contract/task.ts'
import { appliedComparedRevision, appliedImages, isFullSync } from '../../observed/observed-application.ts'
import { isPodCompleted, isPodEnding } from '../../observed/observed-resources.ts'
import { changeOverdueAtMs, currentValue, type JudgeInput } from '../input/judge-input.ts'
import type { NextAction } from '../input/rollout-observation.ts'
import { appliedImagesOf, hasHooks, onlyHookOf } from './applied-images.ts'
import { changeEvidence, hasLaterOperation } from './change-since-baseline.ts'
import { type ConditionResult, met, notMet, unknown } from './conditions.ts'
import { imagesOf, isImageRunning } from './image-reference.ts'
import { appliedTaskCommit } from './revision-condition.ts'

export const imageText = ({ image, tag }: Image) => (tag.startsWith('sha256:') ? `${image}@${tag}` : `${image}:${tag}`)

export type ImageFinding =
  | { readonly kind: 'running'; readonly note?: string }
  | { readonly kind: 'declared' }
  | { readonly kind: 'not_there'; readonly expected: string; readonly found: string }
  | { readonly kind: 'unproven'; readonly expected: string; readonly found: string; readonly missing: NextAction }

/**
 * Whether each requested image runs. What has no Pods (a CronJob between runs, a workload scaled to nothing) is judged by what
 * was applied, once every other condition is met (`othersAreMet`), because that says nothing of the present otherwise.
 */
export function findImages(snapshot: JudgeInput, othersAreMet: boolean): readonly ImageFinding[] {
  return snapshot.task.images.map((image) => judgeImage(snapshot, image, othersAreMet))
}

export function judgeImages(findings: readonly ImageFinding[]): ConditionResult {
  const lacking = findings.filter((one) => one.kind === 'not_there' || one.kind === 'unproven')
  if (lacking.length > 0) {
    const texts = [
      lacking.map(({ expected }) => expected).join(', '),
      lacking.map(({ found }) => found).join(', '),
    ] as const
    return lacking.some(({ kind }) => kind === 'not_there') ? notMet('images', ...texts) : unknown('images', ...texts)
  }
  const notes = findings.flatMap((one) => (one.kind === 'running' && one.note !== undefined ? [one.note] : []))
  const declared = findings.some(({ kind }) => kind === 'declared') ? ['no Pods: judged by the applied manifests'] : []
  const all = [...notes, ...declared]
  return met('images', all.length === 0 ? undefined : all.join('; '))
}

/** What must be read before the images can be judged, where every other condition is met. */
export function missingImageReads(snapshot: JudgeInput, findings: readonly ImageFinding[]): readonly NextAction[] {
  const unproven = findings.flatMap((one) => (one.kind === 'unproven' ? [one.missing] : []))
  return unproven.length === 0 && mayStillComplete(snapshot) ? [{ kind: 'tree' }] : unproven
}

/** Whether the images are there, or a read that is still to come may show it, once every other condition is met. */
export function mayImagesBeThere(snapshot: JudgeInput): boolean {
  return findImages(snapshot, true).every(({ kind }) => kind !== 'not_there')
}

/** Pods of a job end without a word in the application. */
function mayStillComplete({ application, task, settings }: JudgeInput): boolean {
  const hasJobs = application.resources.some(({ kind }) => kind === 'CronJob' || kind === 'Job')
  return hasJobs && task.images.some((image) => imagesOf(image, application.images, settings).length > 0)
}

function judgeImage(snapshot: JudgeInput, requested: Image, othersAreMet: boolean): ImageFinding {
  const { application, settings } = snapshot
  const running = imagesOf(requested, application.images, settings)
  if (isImageRunning(requested, running, settings)) {
    const found = judgeRunning(snapshot, requested, running, othersAreMet)
    if (found.kind !== 'running' || !othersAreMet) return found
    return noteOtherTags(judgeBesideOtherTag(snapshot, requested, running), snapshot, requested, running)
  }
  const notThere: ImageFinding = missing(requested, running)
  if (!othersAreMet) return notThere
  if (running.length === 0) return judgeDeclared(snapshot, requested, notThere)
  const completed = areAllCompleted(snapshot, requested)
  if (completed === undefined) return unproven(requested, running, 'tree')
  return completed ? judgeDeclared(snapshot, requested, notThere) : notThere
}

const unproven = (requested: Image, running: readonly string[], kind: 'tree' | 'managed_resources'): ImageFinding => ({
  ...missing(requested, running),
  kind: 'unproven',
  missing: { kind },
})

const missing = (requested: Image, running: readonly string[]) => ({
  kind: 'not_there' as const,
  expected: imageText(requested),
  found: running.length === 0 ? 'no Pod of that image' : running.join(', '),
})

/**
 * Pods of an earlier rollout stay listed while they end, and Pods of a hook until it runs again, so the requested tag may be
 * none that the application itself runs.
 */
function judgeRunning(
  snapshot: JudgeInput,
  requested: Image,
  running: readonly string[],
  othersAreMet: boolean,
): ImageFinding {
  const { application, settings } = snapshot
  const applied = appliedImagesOf(requested, application, settings)
  const hook = onlyHookOf(requested, application, settings)
  const leftOver: ImageFinding = {
    kind: 'not_there',
    expected: imageText(requested),
    found: `${imageText(requested)} only in ${hook === undefined ? 'Pods of an earlier rollout' : `hook ${hook.kind} ${hook.name}`}`,
  }
  // Before Argo CD 3.1, or where it synced no workload, an operation does not tell what a hook has run.
  const tellsImages = appliedImages(application).length > 0
  const isOneOfSeveral = new Set(running).size > 1 && (tellsImages || hasHooks(application))
  if (hook === undefined && !isOneOfSeveral)
    return mayBeReplaced(snapshot, requested, applied) ? leftOver : { kind: 'running' }
  // What an earlier operation applied may have been replaced by hand since.
  const isConclusive = appliedComparedRevision(application) || appliedTaskCommit(snapshot)
  if (isConclusive && isImageRunning(requested, applied, settings)) return { kind: 'running' }
  if (applied.length > 0 && isFullSync(application) && appliedComparedRevision(application)) return leftOver
  if (!othersAreMet) return { kind: 'running' }
  const live = liveImagesOf(snapshot, requested)
  if (live === undefined) return unproven(requested, running, 'managed_resources')
  // No live manifest names what only hooks run.
  const isOnlyInHooks = live.length === 0 && (hook !== undefined || !tellsImages)
  return isOnlyInHooks || isImageRunning(requested, live, settings) ? { kind: 'running' } : leftOver
}

/** What the live manifests have of the requested repository; hooks are not among them. `undefined`: they must be read first. */
function liveImagesOf(snapshot: JudgeInput, requested: Image): readonly string[] | undefined {
  const live = currentValue(snapshot.observation.managed, snapshot)?.liveImages
  return live && imagesOf(requested, live, snapshot.settings)
}

/** Nothing says that a resource with another tag belongs to the rollout, so it is only named. */
function noteOtherTags(
  found: ImageFinding,
  { workloads, settings }: JudgeInput,
  requested: Image,
  running: readonly string[],
): ImageFinding {
  if (found.kind !== 'running') return found
  const notes = running.flatMap((other) => {
    const resource = workloads.find(({ images }) => images.includes(other))
    if (resource === undefined || isImageRunning(requested, [other], settings)) return []
    return [`${other} also runs, in ${resource.kind} ${resource.name}`]
  })
  const note = [...(found.note === undefined ? [] : [found.note]), ...notes].join('; ')
  return note === '' ? found : { kind: 'running', note }
}

/**
 * Whether an operation that began since the task came applied another tag only: a custom resource may be slow to replace its
 * Pods. A workload that replaces none by itself keeps them, so this lasts no longer than a change is waited for.
 */
function mayBeReplaced(snapshot: JudgeInput, requested: Image, applied: readonly string[]): boolean {
  const { task, settings, commit, nowMs } = snapshot
  const isOther = applied.length > 0 && !isImageRunning(requested, applied, settings)
  return isOther && commit === undefined && hasLaterOperation(snapshot) && nowMs < changeOverdueAtMs(task)
}

/**
 * Without a commit of ours, a requested tag that ran beside another one from the start proves nothing yet: the commit that
 * brings it to the other containers may come later, and its rollout may fail.
 */
function judgeBesideOtherTag(snapshot: JudgeInput, requested: Image, running: readonly string[]): ImageFinding {
  const { commit, settings, baseline } = snapshot
  const isOther = (image: string) => !isImageRunning(requested, [image], settings)
  const before = imagesOf(requested, baseline?.images ?? [], settings)
  const others = running.filter(isOther)
  const wasBeside = before.some(isOther) && isImageRunning(requested, before, settings)
  if (commit !== undefined || !wasBeside) return { kind: 'running' }
  const beside = `${imageText(requested)} runs beside ${others.join(', ')}`
  const why = changeEvidence(snapshot)
  if (why !== undefined)
    return others.length === 0 ? { kind: 'running' } : { kind: 'running', note: `${beside}: ${why}` }
  const areEnding = areTerminating(snapshot, requested, others)
  if (areEnding === true) return { kind: 'running' }
  const found = { expected: `${imageText(requested)} alone`, found: `${beside}, and no change since the task came` }
  return areEnding === undefined
    ? { kind: 'unproven', ...found, missing: { kind: 'tree' } }
    : { kind: 'not_there', ...found }
}

/** Whether all Pods with other tags are left over from earlier. `undefined`: the resource tree must be read first. */
function areTerminating(snapshot: JudgeInput, requested: Image, others: readonly string[]): boolean | undefined {
  const { application, observation, settings } = snapshot
  const applied = appliedImagesOf(requested, application, settings)
  const isDecided = applied.length > 0 && isFullSync(application) && appliedComparedRevision(application)
  if (isDecided && !applied.some((image) => others.includes(image))) return true
  const tree = currentValue(observation.tree, snapshot)
  return tree?.pods.filter(({ images }) => images.some((image) => others.includes(image))).every(isPodEnding)
}

/** `undefined`: the resource tree must be read first. A tree counts only for the snapshot it was read at. */
function areAllCompleted(snapshot: JudgeInput, requested: Image): boolean | undefined {
  const tree = currentValue(snapshot.observation.tree, snapshot)
  const pods = tree?.pods.filter(({ images }) => imagesOf(requested, images, snapshot.settings).length > 0)
  return pods && pods.length > 0 && pods.every(isPodCompleted)
}

/** The manifests of an operation on the current revision, else the live manifests, say which image would start next. */
function judgeDeclared(snapshot: JudgeInput, requested: Image, notThere: ImageFinding): ImageFinding {
  const { application, settings } = snapshot
  const applied = appliedComparedRevision(application) ? appliedImagesOf(requested, application, settings) : []
  const declared = applied.length > 0 ? applied : liveImagesOf(snapshot, requested)
  if (declared === undefined) return unproven(requested, [], 'managed_resources')
  const isOnlyInHook = declared.length === 0 && onlyHookOf(requested, application, settings) !== undefined
  return isOnlyInHook || isImageRunning(requested, declared, settings) ? { kind: 'declared' } : notThere
}
