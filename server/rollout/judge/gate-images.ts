import type { Image } from '../../../contract/task.ts'
import { whyNotFromBefore } from './change-since-baseline.ts'
import { isOperationOurs } from './gate-revision.ts'
import { closed, type Gate, type GateContext, isCurrent, open } from './gates.ts'
import { isImageRunning, isSameRepository } from './image-reference.ts'
import { appliedComparedRevision, appliedImages, isFullSync } from './last-operation.ts'
import type { NextAction } from './rollout-observation.ts'
import type { RolloutSettings } from './rollout-settings.ts'

type ImageSettings = Pick<RolloutSettings, 'registryProxy'>

/** The images of one repository, whatever their tags. */
export function imagesOf(
  wanted: Image,
  images: readonly string[],
  { registryProxy }: ImageSettings,
): readonly string[] {
  return images.filter((image) => isSameRepository(wanted.image, image, registryProxy))
}

export const imageText = ({ image, tag }: Image) => (tag.startsWith('sha256:') ? `${image}@${tag}` : `${image}:${tag}`)

type Evidence =
  | { readonly kind: 'running'; readonly note?: string }
  | { readonly kind: 'declared' }
  | { readonly kind: 'not_there'; readonly reason: string }
  | { readonly kind: 'unproven'; readonly reason: string; readonly wants: NextAction }

/**
 * Whether every wanted image runs. What has no Pods (a CronJob between runs, a workload scaled to nothing) is judged by what
 * was applied, once every other gate is open (`othersAreOpen`), because that evidence says nothing of the present otherwise.
 */
export function gateImages(context: GateContext, othersAreOpen: boolean): Gate {
  const evidence = context.wanted.map((image) => judgeImage(context, image, othersAreOpen))
  const missing = evidence.flatMap((found) =>
    found.kind === 'not_there' || found.kind === 'unproven' ? [found.reason] : [],
  )
  if (missing.length > 0) return closed('I', missing.join('; '))
  const notes = evidence.flatMap((found) => (found.kind === 'running' && found.note !== undefined ? [found.note] : []))
  const declared = evidence.some(({ kind }) => kind === 'declared') ? ['no Pods: the applied manifests decided'] : []
  const [note] = [...notes, ...declared]
  return open('I', note)
}

/** What must be read before the images can be judged. */
export function wantedImageReads(context: GateContext): readonly NextAction[] {
  const unproven = context.wanted.flatMap((image) => {
    const evidence = judgeImage(context, image, true)
    return evidence.kind === 'unproven' ? [evidence.wants] : []
  })
  return unproven.length === 0 && mayStillComplete(context) ? [{ kind: 'tree' }] : unproven
}

/** Whether the images are there, or a read that is still to come may show it, once every other gate is open. */
export function mayImagesBeThere(context: GateContext): boolean {
  return context.wanted.every((image) => judgeImage(context, image, true).kind !== 'not_there')
}

/** Pods of a job end without a word in the application. */
function mayStillComplete({ application, wanted, settings }: GateContext): boolean {
  const hasJobs = application.resources.some(({ kind }) => kind === 'CronJob' || kind === 'Job')
  return hasJobs && wanted.some((image) => imagesOf(image, application.images, settings).length > 0)
}

function judgeImage(context: GateContext, wanted: Image, othersAreOpen: boolean): Evidence {
  const { application, settings } = context
  const running = imagesOf(wanted, application.images, settings)
  if (isImageRunning(wanted, running, settings)) {
    const found = judgeRunning(context, wanted, running, othersAreOpen)
    return found.kind === 'running' && othersAreOpen ? judgeBesideOtherTag(context, wanted, running) : found
  }
  const notThere: Evidence = { kind: 'not_there', reason: describeMissing(wanted, running) }
  if (!othersAreOpen) return notThere
  if (running.length === 0) return judgeDeclared(context, wanted, notThere)
  const completed = areAllCompleted(context, wanted)
  if (completed === undefined) return unproven(wanted, running, 'tree')
  return completed ? judgeDeclared(context, wanted, notThere) : notThere
}

const unproven = (wanted: Image, running: readonly string[], kind: 'tree' | 'managed_resources'): Evidence => ({
  kind: 'unproven',
  reason: describeMissing(wanted, running),
  wants: { kind },
})

function describeMissing(wanted: Image, running: readonly string[]): string {
  return `image ${imageText(wanted)}, running: ${running.length === 0 ? 'no Pod of that name' : running.join(', ')}`
}

/** Pods of an earlier rollout stay listed while they end, so among several tags the wanted one may be a remnant. */
function judgeRunning(
  context: GateContext,
  wanted: Image,
  running: readonly string[],
  othersAreOpen: boolean,
): Evidence {
  const { application, observation, settings } = context
  const applied = appliedImages(application)
  if (new Set(running).size < 2 || applied.length === 0) return { kind: 'running' }
  const leftOver: Evidence = {
    kind: 'not_there',
    reason: `${imageText(wanted)}: found only in Pods of an earlier rollout`,
  }
  // What an earlier operation applied, somebody may have replaced by hand since.
  const isConclusive = appliedComparedRevision(application) || isOperationOurs(context)
  if (isConclusive && isImageRunning(wanted, applied, settings)) return { kind: 'running' }
  if (imagesOf(wanted, applied, settings).length > 0 && isFullSync(application) && appliedComparedRevision(application))
    return leftOver
  if (!othersAreOpen) return { kind: 'running' }
  const { managed } = observation
  if (managed?.value === undefined || !isCurrent(managed, context))
    return unproven(wanted, running, 'managed_resources')
  return isImageRunning(wanted, managed.value.liveImages, settings) ? { kind: 'running' } : leftOver
}

/**
 * Without a commit of ours, a requested tag that ran beside another one from the start proves nothing yet: the commit that
 * brings it to the other containers may come later, and its rollout may fail.
 */
function judgeBesideOtherTag(context: GateContext, wanted: Image, running: readonly string[]): Evidence {
  const { baseline, commit, settings } = context
  const isOther = (image: string) => !isImageRunning(wanted, [image], settings)
  const before = imagesOf(wanted, baseline?.images ?? [], settings)
  const others = running.filter(isOther)
  const wasBeside = before.some(isOther) && isImageRunning(wanted, before, settings)
  if (commit !== undefined || !wasBeside) return { kind: 'running' }
  const beside = `${imageText(wanted)} runs beside ${others.join(', ')}`
  const why = whyNotFromBefore(context)
  if (why !== undefined)
    return others.length === 0 ? { kind: 'running' } : { kind: 'running', note: `${beside}: ${why}` }
  const areEnding = areOnTheirWayOut(context, wanted, others)
  if (areEnding === undefined) return { kind: 'unproven', reason: beside, wants: { kind: 'tree' } }
  return areEnding
    ? { kind: 'running' }
    : { kind: 'not_there', reason: `${beside}: no change seen since the task came` }
}

/** Whether all Pods with other tags are left over from earlier. `undefined`: the resource tree must be read first. */
function areOnTheirWayOut(context: GateContext, wanted: Image, others: readonly string[]): boolean | undefined {
  const { application, observation, settings } = context
  const applied = imagesOf(wanted, appliedImages(application), settings)
  const isDecided = applied.length > 0 && isFullSync(application) && appliedComparedRevision(application)
  if (isDecided && !applied.some((image) => others.includes(image))) return true
  const { tree } = observation
  if (tree?.value === undefined || !isCurrent(tree, context)) return undefined
  return tree.value.pods
    .filter(({ images }) => images.some((image) => others.includes(image)))
    .every(({ reason }) => isEnding(reason))
}

const isEnding = (reason: string | undefined) => ['Terminating', 'Completed', 'Succeeded'].includes(reason ?? '')

/** `undefined`: the resource tree must be read first. A tree counts only for the snapshot it was read at. */
function areAllCompleted(context: GateContext, wanted: Image): boolean | undefined {
  const { tree } = context.observation
  if (tree?.value === undefined || !isCurrent(tree, context)) return undefined
  const pods = tree.value.pods.filter(({ images }) => imagesOf(wanted, images, context.settings).length > 0)
  return pods.length > 0 && pods.every(({ reason }) => reason === 'Completed' || reason === 'Succeeded')
}

/** The manifests of an operation on the current revision, else the live manifests, say which image would start next. */
function judgeDeclared(context: GateContext, wanted: Image, notThere: Evidence): Evidence {
  const { application, observation, settings } = context
  const applied = appliedComparedRevision(application) ? imagesOf(wanted, appliedImages(application), settings) : []
  if (applied.length > 0) return isImageRunning(wanted, applied, settings) ? { kind: 'declared' } : notThere
  const { managed } = observation
  if (managed?.value === undefined || !isCurrent(managed, context)) return unproven(wanted, [], 'managed_resources')
  return isImageRunning(wanted, managed.value.liveImages, settings) ? { kind: 'declared' } : notThere
}

/** Whether the look at the Pods that strict mode asks for is still to come. */
export function isVerificationUnread(context: GateContext): boolean {
  const { tree } = context.observation
  return context.settings.isStrict && (tree?.value === undefined || !isCurrent(tree, context))
}

/** Strict mode: every Pod of a wanted repository that is neither ending nor completed runs the wanted tag. */
export function gateVerified(context: GateContext): Gate {
  const { observation, settings, wanted } = context
  if (!settings.isStrict) return open('V')
  if (isVerificationUnread(context)) return closed('V', 'a look at the Pods')
  const pods = observation.tree?.value?.pods ?? []
  const live = pods.filter(({ reason }) => !isEnding(reason))
  const old = live.find(({ images }) =>
    wanted.some((image) =>
      imagesOf(image, images, settings).some((running) => !isImageRunning(image, [running], settings)),
    ),
  )
  return old === undefined ? open('V') : closed('V', `the end of Pod ${old.name}, which runs ${old.images.join(', ')}`)
}
