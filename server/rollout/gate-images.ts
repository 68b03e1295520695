import type { Image } from '../../contract/task.ts'
import { isOperationOurs } from './gate-revision.ts'
import { closed, type Gate, type GateContext, isCurrent, open } from './gates.ts'
import { isImageRunning, isSameRepository } from './image-reference.ts'
import type { ObservedApplication } from './observed-application.ts'
import type { WantedAction } from './rollout-observation.ts'
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

/** Images in the manifests that the last operation applied. Reported by version 3.1 and newer. */
export function appliedImages({ operation }: ObservedApplication): readonly string[] {
  return operation === undefined || operation.isDryRun ? [] : operation.resources.flatMap(({ images }) => images)
}

type Evidence =
  | { readonly kind: 'running' }
  | { readonly kind: 'declared' }
  | { readonly kind: 'not_there'; readonly reason: string }
  | { readonly kind: 'unproven'; readonly reason: string; readonly wants: WantedAction }

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
  return open(
    'I',
    evidence.some(({ kind }) => kind === 'declared') ? 'no Pods: the applied manifests decided' : undefined,
  )
}

/** What must be read before the images can be judged. */
export function wantedImageReads(context: GateContext): readonly WantedAction[] {
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
  if (isImageRunning(wanted, running, settings)) return judgeRunning(context, wanted, running, othersAreOpen)
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
  const leftOver: Evidence = { kind: 'not_there', reason: `${imageText(wanted)}, which only old Pods run` }
  // What an earlier operation applied, somebody may have replaced by hand since.
  const isTelling = isOfComparison(application) || isOperationOurs(context)
  if (isTelling && isImageRunning(wanted, applied, settings)) return { kind: 'running' }
  if (imagesOf(wanted, applied, settings).length > 0 && isWhole(application) && isOfComparison(application))
    return leftOver
  if (!othersAreOpen) return { kind: 'running' }
  const { managed } = observation
  if (managed?.value === undefined || !isCurrent(managed, context))
    return unproven(wanted, running, 'managed_resources')
  return isImageRunning(wanted, managed.value.liveImages, settings) ? { kind: 'running' } : leftOver
}

/** Whether the last operation did the whole application; one that mends a drift only does what drifted. */
function isWhole({ operation, resources }: ObservedApplication): boolean {
  if (operation?.phase !== 'Succeeded') return false
  const expected = resources.filter((resource) => !resource.isHook && !resource.requiresPruning).length
  return operation.resources.filter(({ hookType }) => hookType === undefined).length >= expected
}

/** Whether the last operation applied what the application was compared with; a later comparison may have had nothing to do. */
const isOfComparison = ({ operation, revisions }: ObservedApplication) =>
  operation?.revisions.join() === revisions.join()

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
  const applied = isOfComparison(application) ? imagesOf(wanted, appliedImages(application), settings) : []
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
  const live = pods.filter(({ reason }) => !['Terminating', 'Completed', 'Succeeded'].includes(reason ?? ''))
  const old = live.find(({ images }) =>
    wanted.some((image) =>
      imagesOf(image, images, settings).some((running) => !isImageRunning(image, [running], settings)),
    ),
  )
  return old === undefined ? open('V') : closed('V', `the end of Pod ${old.name}, which runs ${old.images.join(', ')}`)
}
