import { isChangeVisible } from './change-since-baseline.ts'
import type { Evaluation } from './evaluation.ts'
import { missingImageReads } from './images-condition.ts'
import { missingOverrides } from './judge-failure.ts'
import { nextTreeAtMs } from './judge-pods.ts'
import { nextWindowsAtMs } from './judge-stall.ts'
import { nextRefreshAtMs } from './refresh-policy.ts'
import { reliesOnComparison } from './revision-condition.ts'
import { ancestryKey, type NextAction } from './rollout-observation.ts'
import { rolloutTimes } from './rollout-settings.ts'
import { finalCheckAtMs, settleMs } from './settle.ts'
import { badPodGraceOf, changeOverdueAtMs, isAwaitingCommit, isCurrent } from './snapshot.ts'

type Due = { readonly atMs: number; readonly action: NextAction }

/** What is known to be needed now. */
export function immediateActions(evaluation: Evaluation): readonly NextAction[] {
  if (evaluation.memory.since.gone !== undefined || isAwaitingCommit(evaluation)) return []
  return [...evaluation.missingAncestry, ...missingOverrides(evaluation)]
}

/** What is needed at some time, and when. */
export function dueActions(evaluation: Evaluation): readonly Due[] {
  const { memory, observation } = evaluation
  if (memory.since.gone !== undefined) return [goneRead(evaluation)]
  if (isAwaitingCommit(evaluation)) return []
  const { degraded, progressing } = memory.since
  const tree = nextTreeAtMs(degraded, progressing, observation.tree, badPodGraceOf(evaluation))
  const windows = nextWindowsAtMs(evaluation)
  const refresh = refreshDueAtMs(evaluation)
  return [
    ...(refresh === undefined ? [] : [{ atMs: refresh, action: nextRefresh(evaluation) }]),
    ...(tree === undefined ? [] : [{ atMs: tree, action: { kind: 'tree', isDiagnosis: true } as const }]),
    ...(windows === undefined ? [] : [{ atMs: windows, action: { kind: 'sync_windows' } as const }]),
    ...refreshReads(evaluation),
    ...imageReads(evaluation),
    ...declarationReads(evaluation),
    ...podEventReads(evaluation),
    ...unknownAncestries(evaluation),
  ]
}

function refreshDueAtMs(evaluation: Evaluation): number | undefined {
  const { memory, task, conditions, observation } = evaluation
  const { pending, answered } = observation.refresh
  const dueAtMs = nextRefreshAtMs({
    mayRefresh: task.refresh,
    hasCommit: observation.writeBack.kind === 'ended',
    isRevisionMet: conditions.isMet('revision'),
    isChangeVisible: isChangeVisible(evaluation),
    acceptedAtMs: task.acceptedAtMs,
    awaitingComparisonSinceMs: memory.since.awaiting_comparison,
    fromMs: memory.refreshFromMs,
    asks: memory.refreshAsks,
    askedAtMs: memory.refreshAskedAtMs,
    anyAskedAtMs: observation.refresh.lastAskedAtMs,
    foreignSinceMs: observation.refresh.pending === undefined ? memory.since.refresh_pending : undefined,
    isClear: isSince(observation.refresh.refreshIdleAtMs, memory.refreshFromMs),
    wasClear: isSince((pending ?? answered)?.beganAfterMs, memory.refreshFromMs),
  })
  const { awaiting_ancestry: askedSinceMs } = memory.since
  if (dueAtMs === undefined || askedSinceMs === undefined) return dueAtMs
  // What is shown may well hold the commit, and after a restart nobody knows yet of any application.
  return Math.max(dueAtMs, askedSinceMs + rolloutTimes.ancestryMs)
}

/** Argo CD drops a refresh that is asked while one is running, so a read first tells whether the last one is over. */
function nextRefresh(evaluation: Evaluation): NextAction {
  const { refresh, directRead } = evaluation.observation
  const acceptedAtMs = refresh.pending?.acceptedAtMs
  const isEndUnknown = acceptedAtMs !== undefined && !isSince(directRead?.askedAtMs, acceptedAtMs)
  return isEndUnknown ? { kind: 'read' } : { kind: 'refresh', why: refreshReason(evaluation) }
}

const isSince = (atMs: number | undefined, fromMs: number) => atMs !== undefined && atMs >= fromMs

const refreshReason = ({ conditions, memory }: Evaluation) =>
  conditions.isMet('revision') && memory.since.awaiting_comparison !== undefined
    ? 'no comparison after the operation'
    : 'to see the newest commit'

/**
 * The events that show the end of a refresh, ours or another's, may have been lost, and with them what the comparison found. Where
 * a refresh is to prove something, only a direct read shows besides that none was under way before it.
 */
function refreshReads(evaluation: Evaluation): readonly Due[] {
  const { task, conditions, observation, memory } = evaluation
  const { pending, refreshIdleAtMs } = observation.refresh
  if (conditions.isMet('revision') || !task.refresh) return []
  const isProof = reliesOnComparison(evaluation)
  const earlierMs = observation.directRead?.askedAtMs ?? -Infinity
  const runningSinceMs = pending?.acceptedAtMs ?? (isProof ? memory.since.refresh_pending : undefined)
  if (runningSinceMs !== undefined)
    return [{ atMs: Math.max(runningSinceMs, earlierMs) + rolloutTimes.refreshLostMs, action: { kind: 'read' } }]
  const fromMs = memory.refreshFromMs
  if (!isProof || isSince(refreshIdleAtMs, fromMs)) return []
  return [{ atMs: Math.max(fromMs, earlierMs + rolloutTimes.clearReadApartMs), action: { kind: 'read' } }]
}

/** An application that comes back and goes again may do so unseen where the stream stands still. */
function goneRead({ memory, observation }: Evaluation): Due {
  const earlierMs = observation.directRead?.askedAtMs ?? memory.startedAtMs
  return { atMs: earlierMs + rolloutTimes.goneReadEveryMs, action: { kind: 'read' } }
}

/** Reads that only matter when every condition but the images is met. */
function imageReads(evaluation: Evaluation): readonly Due[] {
  const { conditions, observation, nowMs, memory } = evaluation
  if (!conditions.othersAreMet || (conditions.isMet('images') && conditions.isMet('no_old_pods'))) return []
  const mustRead = evaluation.foreignImage.kind === 'must_read'
  const reads = [...missingImageReads(evaluation), ...(mustRead ? [{ kind: 'managed_resources' } as const] : [])]
  const strict = conditions.isMet('no_old_pods') ? [] : [{ kind: 'tree' } as const]
  const readings = { tree: observation.tree, managed_resources: observation.managed }
  return [...reads, ...strict].flatMap((action) => {
    if (action.kind !== 'tree' && action.kind !== 'managed_resources') return []
    const earlier = readings[action.kind]
    // What was read at an earlier snapshot says nothing of this one.
    const isOutdated = earlier !== undefined && !isCurrent(earlier, evaluation)
    const everyMs = isOutdated ? rolloutTimes.retryMs : rolloutTimes.imagesEveryMs
    const atMs = earlier === undefined ? nowMs : earlier.askedAtMs + everyMs
    return [{ atMs: Math.max(atMs, memory.startedAtMs), action }]
  })
}

/** Whether our commit changed the manifests at all, asked once for each state. */
function declarationReads(evaluation: Evaluation): readonly Due[] {
  const { managed } = evaluation.observation
  const { images_unmet: sinceMs } = evaluation.memory.since
  if (evaluation.commit === undefined || sinceMs === undefined) return []
  if (managed?.value !== undefined && isCurrent(managed, evaluation)) return []
  const earlierMs = managed?.askedAtMs ?? -Infinity
  const atMs = Math.max(sinceMs + rolloutTimes.imagesLagMs, earlierMs + rolloutTimes.retryMs)
  return [{ atMs, action: { kind: 'managed_resources' } }]
}

/** The first Pod that does not start is looked into, for the reason. */
function podEventReads({ observation: { podEvents }, badPods = [], conditions, nowMs }: Evaluation): readonly Due[] {
  const [bad] = badPods
  if (bad === undefined || !conditions.isMet('revision') || conditions.isMet('healthy')) return []
  const { namespace, name, uid } = bad.pod
  const atMs = podEvents === undefined ? nowMs : podEvents.askedAtMs + rolloutTimes.podEventsEveryMs
  return [{ atMs, action: { kind: 'pod_events', namespace, name, uid } }]
}

/** A Git host that could not be asked may answer later. */
function unknownAncestries({ observation, commit, application, nowMs }: Evaluation): readonly Due[] {
  if (commit === undefined) return []
  return application.revisions.flatMap((revision) => {
    const known = observation.ancestries.get(ancestryKey(commit.commit, revision))
    if (known?.ancestry !== 'unknown') return []
    const action = { kind: 'ancestry', repository: commit.repository, commit: commit.commit, revision } as const
    return [{ atMs: Math.max(known.atMs + rolloutTimes.ancestryAgainMs, nowMs), action }]
  })
}

/** When something that only has to last will have lasted. */
export function graceEnds(evaluation: Evaluation): readonly number[] {
  const { task, memory, settings, nowMs } = evaluation
  const { gone, complete, degraded, comparison_error: error, sync_failed: failed } = memory.since
  const ends: readonly (readonly [number | undefined, number])[] = [
    [gone, settings.appGoneGraceMs],
    [complete, settleMs(evaluation)],
    [degraded, settings.degradedGraceMs],
    [error, settings.comparisonErrorGraceMs],
    [failed, settings.syncFailedGraceMs],
    [changeOverdueAtMs(task), 0],
    [task.deadlineMs, 0],
    [finalCheckAtMs(evaluation), rolloutTimes.finalCheckMs],
  ]
  return ends.flatMap(([since, lasts]) => (since === undefined || since + lasts <= nowMs ? [] : [since + lasts]))
}
