import type { ResourceAddress } from '../observed/observed-resources.ts'
import { unboundClaim } from '../observed/resource-owners.ts'
import type { Evaluation } from './conditions/evaluate.ts'
import { missingImageReads } from './conditions/images-condition.ts'
import { findUnattributedPods, nextTreeAtMs, waitingAgeMs } from './conditions/judge-pods.ts'
import type { Suspect } from './conditions/suspect.ts'
import {
  badPodGraceOf,
  changeOverdueAtMs,
  currentValue,
  goneForGoodAtMs,
  isAwaitingCommit,
  isCurrent,
  secondsAt,
} from './input/judge-input.ts'
import type { RolloutMemory, StateStartTimes } from './input/rollout-memory.ts'
import { ancestryKey, type DueAction, type NextAction } from './input/rollout-observation.ts'
import { rolloutTimes } from './input/rollout-settings.ts'
import { refreshActions } from './refresh-policy.ts'
import { explainEvents } from './report/explain-events.ts'
import { missingOverrides } from './verdicts/judge-failure.ts'
import type { Timing } from './verdicts/settle.ts'

type Plan = { readonly actions: readonly NextAction[]; readonly againAtMs: number }

/** What is to be found out now, and when something else is due or will have lasted. */
export function planActions(evaluation: Evaluation, memory: RolloutMemory, timing: Timing): Plan {
  const { nowMs } = evaluation
  const due = dueActions(evaluation, memory)
  const later = [...due.map(({ atMs }) => atMs), ...graceEnds(evaluation, memory.since, timing)].filter(
    (atMs) => atMs > nowMs,
  )
  return {
    actions: due.filter(({ atMs }) => atMs <= nowMs).map(({ action }) => action),
    againAtMs: Math.min(...later),
  }
}

function dueActions(evaluation: Evaluation, memory: RolloutMemory): readonly DueAction[] {
  const { nowMs } = evaluation
  const { since, startedAtMs } = memory
  if (since.gone !== undefined) return [goneRead(evaluation, startedAtMs)]
  if (isAwaitingCommit(evaluation)) return []
  const neededNow = [...evaluation.missingAncestry, ...missingOverrides(evaluation)]
  return [
    ...neededNow.map((action) => ({ atMs: nowMs, action })),
    ...refreshActions(evaluation, memory),
    ...treeReads(evaluation, since),
    ...windowReads(evaluation, since),
    ...imageReads(evaluation, startedAtMs),
    ...declarationReads(evaluation, since),
    ...suspectReads(evaluation, since),
    ...unknownAncestries(evaluation),
  ]
}

/** An application that comes back and goes again may do so unseen where the stream stands still. */
function goneRead({ observation }: Evaluation, startedAtMs: number): DueAction {
  const earlierMs = observation.directRead?.askedAtMs ?? startedAtMs
  return { atMs: earlierMs + rolloutTimes.goneReadEveryMs, action: { kind: 'read' } }
}

function treeReads(evaluation: Evaluation, since: StateStartTimes): readonly DueAction[] {
  const atMs = nextTreeAtMs(since, evaluation.observation.tree, badPodGraceOf(evaluation))
  return atMs === undefined ? [] : [{ atMs, action: { kind: 'tree', priority: 'low' } }]
}

/** A sync window leaves no trace in the application, so it must be asked for. */
function windowReads({ application, observation }: Evaluation, since: StateStartTimes): readonly DueAction[] {
  const { idle_out_of_sync: idleSinceMs } = since
  if (idleSinceMs === undefined || !application.isAutoSynced) return []
  const askedAtMs = observation.windows?.askedAtMs ?? -Infinity
  const atMs = Math.max(idleSinceMs + rolloutTimes.idleBeforeWindowsMs, askedAtMs + rolloutTimes.windowsEveryMs)
  return [{ atMs, action: { kind: 'sync_windows' } }]
}

/** Reads that only matter when every condition but the images is met. */
function imageReads(evaluation: Evaluation, startedAtMs: number): readonly DueAction[] {
  const { conditions, images, observation, nowMs } = evaluation
  if (!conditions.othersAreMet || (conditions.isMet('images') && conditions.isMet('no_old_pods'))) return []
  const mustRead = evaluation.foreignImage.kind === 'must_read'
  const reads = [
    ...missingImageReads(evaluation, images),
    ...(mustRead ? [{ kind: 'managed_resources' } as const] : []),
  ]
  const strict = conditions.isMet('no_old_pods') ? [] : [{ kind: 'tree' } as const]
  const readings = { tree: observation.tree, managed_resources: observation.managed }
  return [...reads, ...strict].flatMap((action) => {
    if (action.kind !== 'tree' && action.kind !== 'managed_resources') return []
    const earlier = readings[action.kind]
    // What was read at an earlier snapshot says nothing of this one.
    const isOutdated = earlier !== undefined && !isCurrent(earlier, evaluation)
    const everyMs = isOutdated ? rolloutTimes.retryMs : rolloutTimes.imagesEveryMs
    const atMs = earlier === undefined ? nowMs : earlier.askedAtMs + everyMs
    return [{ atMs: Math.max(atMs, startedAtMs), action }]
  })
}

/** Whether our commit changed the manifests at all, asked once for each state. */
function declarationReads(evaluation: Evaluation, { images_unmet: sinceMs }: StateStartTimes): readonly DueAction[] {
  const { managed } = evaluation.observation
  if (evaluation.commit === undefined || sinceMs === undefined) return []
  if (currentValue(managed, evaluation) !== undefined) return []
  const earlierMs = managed?.askedAtMs ?? -Infinity
  const atMs = Math.max(sinceMs + rolloutTimes.imagesLagMs, earlierMs + rolloutTimes.retryMs)
  return [{ atMs, action: { kind: 'managed_resources', priority: 'low' } }]
}

/** The suspect is looked into, for the reason. */
function suspectReads(evaluation: Evaluation, since: StateStartTimes): readonly DueAction[] {
  const { suspect, conditions } = evaluation
  const isBlocked = conditions.isMet('revision') && !conditions.isMet('healthy')
  if (!isBlocked && since.operating === undefined) return []
  return [
    ...(suspect === undefined ? [] : eventReads(evaluation, suspect, since)),
    ...livePodReads(evaluation, suspect),
  ]
}

function eventReads(evaluation: Evaluation, suspect: Suspect, since: StateStartTimes): readonly DueAction[] {
  const { observation, task, nowMs } = evaluation
  const { found } = suspect
  const address = found.kind === 'resource' ? found.resource : found.pod
  const known = observation.events.get(address.uid)
  const isUnbound = found.kind === 'waiting_pod' && explainEvents(known?.value ?? [])?.cause === 'volume_unavailable'
  const claim = isUnbound ? unboundClaim(observation.tree?.value, found.pod) : undefined
  if (claim !== undefined && !observation.events.has(claim.uid)) return [{ atMs: nowMs, action: readEventsOf(claim) }]
  const lastMs = task.deadlineMs - rolloutTimes.beforeDeadlineMs
  // The state of a Pod that fails changes, and with it the reason; what only waits is asked about once more before the end.
  const everyMs = found.kind === 'pod' ? rolloutTimes.eventsEveryMs : Number.POSITIVE_INFINITY
  const lastReadMs = known !== undefined && known.askedAtMs >= lastMs ? Number.POSITIVE_INFINITY : lastMs
  const atMs = known === undefined ? eventsFromMs(evaluation, suspect, since) : known.askedAtMs + everyMs
  return [{ atMs: Math.min(atMs, Math.max(lastReadMs, nowMs)), action: readEventsOf(address) }]
}

const readEventsOf = ({ namespace, name, uid }: ResourceAddress): NextAction => ({
  kind: 'events',
  namespace,
  name,
  uid,
})

/** From when on the events of a suspect are worth a call: what only waits gets time to start. */
function eventsFromMs(evaluation: Evaluation, { below, found }: Suspect, since: StateStartTimes): number {
  const { nowMs, task, observation } = evaluation
  const waitMs = waitingAgeMs(badPodGraceOf(evaluation))
  if (found.kind === 'pod' || below === 'degraded') return nowMs
  if (found.kind === 'resource') return (since.progressing ?? since.operating ?? nowMs) + waitMs
  const ageMs = secondsAt(task, nowMs) * 1_000 - (found.pod.createdAtMs ?? 0)
  // The cluster's clock may differ from ours: never before the Pod was seen, nor later than its age from then on.
  const seenAtMs = observation.tree?.askedAtMs ?? nowMs
  return Math.min(nowMs + Math.max(0, waitMs - ageMs), seenAtMs + waitMs)
}

/** Read once for a Pod that fails, and for one of several containers that restarts. */
function livePodReads(evaluation: Evaluation, suspect: Suspect | undefined): readonly DueAction[] {
  const { observation, task, nowMs } = evaluation
  const tree = observation.tree?.value
  const known = { ...evaluation, livePods: observation.livePods }
  const unattributed = tree === undefined ? [] : findUnattributedPods(tree, task.images, known)
  const failing = suspect?.found.kind === 'pod' && suspect.found.cause === 'crash_loop' ? [suspect.found.pod] : []
  const [pod] = [...failing, ...unattributed].filter(({ uid }) => !observation.livePods.has(uid))
  if (pod === undefined) return []
  const { namespace, name, uid } = pod
  return [{ atMs: nowMs, action: { kind: 'live_pod', namespace, name, uid } }]
}

/** A Git host that could not be asked may answer later. */
function unknownAncestries({ observation, commit, application, nowMs }: Evaluation): readonly DueAction[] {
  if (commit === undefined) return []
  return application.revisions.flatMap((revision) => {
    const known = observation.ancestries.get(ancestryKey(commit.commit, revision))
    if (known?.ancestry !== 'unknown') return []
    const action = { kind: 'ancestry', repository: commit.repository, commit: commit.commit, revision } as const
    return [{ atMs: Math.max(known.atMs + rolloutTimes.ancestryAgainMs, nowMs), action }]
  })
}

/** When something that only has to last will have lasted. */
function graceEnds(
  evaluation: Evaluation,
  since: StateStartTimes,
  { settledAtMs, finalCheckAtMs }: Timing,
): readonly number[] {
  const { task, settings, commit } = evaluation
  const end = (sinceMs: number | undefined, lastsMs: number) => (sinceMs === undefined ? [] : [sinceMs + lastsMs])
  return [
    ...(since.gone === undefined ? [] : [goneForGoodAtMs(since.gone, task, settings)]),
    ...end(since.degraded, settings.degradedGraceMs),
    ...end(since.comparison_error, settings.comparisonErrorGraceMs),
    ...end(since.sync_failed, settings.syncFailedGraceMs),
    settledAtMs,
    // It matters beside another tag only.
    ...(commit === undefined && since.images_unmet !== undefined ? [changeOverdueAtMs(task)] : []),
    task.deadlineMs,
    finalCheckAtMs + rolloutTimes.finalCheckMs,
  ]
}
