import { isChangeVisible } from './change-since-baseline.ts'
import { wantedImageReads } from './gate-images.ts'
import { reliesOnComparison, wantedRelations } from './gate-revision.ts'
import { isCurrent } from './gates.ts'
import { checkForeignImage, wantedOverrides } from './judge-failure.ts'
import { findBadPods, nextTreeAtMs } from './judge-pods.ts'
import { nextWindowsAtMs } from './judge-waiting.ts'
import { badPodGraceOf, changeOverdueAtMs, isAwaitingCommit, type Look, settleTimeOf } from './look.ts'
import { nextRefreshAtMs } from './refresh-policy.ts'
import { type NextAction, relationKey } from './rollout-observation.ts'
import { rolloutTimes } from './rollout-settings.ts'

type Due = { readonly atMs: number; readonly action: NextAction }

/** What is known to be needed now. */
export function immediateActions(look: Look): readonly NextAction[] {
  const { observation, context, gates } = look
  if (look.memory.since.gone !== undefined) return []
  if (observation.writeBack.kind === 'undecided') return [{ kind: 'decide_write_back' }]
  if (isAwaitingCommit(look)) return []
  return [...wantedRelations(context), ...wantedOverrides(context, gates, observation)]
}

/** What is needed at some time, and when. */
export function dueActions(look: Look): readonly Due[] {
  const { memory, observation, context } = look
  if (memory.since.gone !== undefined) return [goneRead(look)]
  if (isAwaitingCommit(look)) return []
  const { degraded, progressing } = memory.since
  const tree = nextTreeAtMs(degraded, progressing, observation.tree, badPodGraceOf(look))
  const windows = nextWindowsAtMs(context, memory.since, observation)
  const refresh = refreshDueAtMs(look)
  return [
    ...(refresh === undefined ? [] : [{ atMs: refresh, action: nextRefresh(look) }]),
    ...(tree === undefined ? [] : [{ atMs: tree, action: { kind: 'tree', isDiagnosis: true } as const }]),
    ...(windows === undefined ? [] : [{ atMs: windows, action: { kind: 'sync_windows' } as const }]),
    ...refreshReads(look),
    ...imageReads(look),
    ...declarationReads(look),
    ...podEventReads(look),
    ...unknownRelations(look),
  ]
}

function refreshDueAtMs({ memory, task, context, gates, observation }: Look): number | undefined {
  const { pending, answered } = observation.refresh
  const dueAtMs = nextRefreshAtMs({
    mayRefresh: task.refresh,
    hasCommit: observation.writeBack.kind === 'ended',
    isRevisionOpen: gates.isOpen('R'),
    isChangeVisible: isChangeVisible(context),
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
function nextRefresh(look: Look): NextAction {
  const { refresh, directRead } = look.observation
  const acceptedAtMs = refresh.pending?.acceptedAtMs
  const isEndUnknown = acceptedAtMs !== undefined && !isSince(directRead?.askedAtMs, acceptedAtMs)
  return isEndUnknown ? { kind: 'read' } : { kind: 'refresh', why: refreshReason(look) }
}

const isSince = (atMs: number | undefined, fromMs: number) => atMs !== undefined && atMs >= fromMs

const refreshReason = ({ gates, memory }: Look) =>
  gates.isOpen('R') && memory.since.awaiting_comparison !== undefined
    ? 'no comparison after the operation'
    : 'to see the newest commit'

/**
 * The events that show the end of a refresh, ours or another's, may have been lost, and with them what the comparison found. Where
 * a refresh is to prove something, only a direct read shows besides that none was under way before it.
 */
function refreshReads({ task, context, gates, observation, memory }: Look): readonly Due[] {
  const { pending, refreshIdleAtMs } = observation.refresh
  if (gates.isOpen('R') || !task.refresh) return []
  const isProof = reliesOnComparison(context)
  const earlierMs = observation.directRead?.askedAtMs ?? -Infinity
  const runningSinceMs = pending?.acceptedAtMs ?? (isProof ? memory.since.refresh_pending : undefined)
  if (runningSinceMs !== undefined)
    return [{ atMs: Math.max(runningSinceMs, earlierMs) + rolloutTimes.refreshLostMs, action: { kind: 'read' } }]
  const fromMs = memory.refreshFromMs
  if (!isProof || isSince(refreshIdleAtMs, fromMs)) return []
  return [{ atMs: Math.max(fromMs, earlierMs + rolloutTimes.clearReadApartMs), action: { kind: 'read' } }]
}

/** An application that comes back and goes again may do so unseen where the stream stands still. */
function goneRead({ memory, observation }: Look): Due {
  const earlierMs = observation.directRead?.askedAtMs ?? memory.startedAtMs
  return { atMs: earlierMs + rolloutTimes.goneReadEveryMs, action: { kind: 'read' } }
}

/** Reads that only matter when all is well but the images. */
function imageReads({ context, gates, observation, nowMs, memory }: Look): readonly Due[] {
  if (!gates.othersAreOpen || (gates.isOpen('I') && gates.isOpen('V'))) return []
  const mustRead = checkForeignImage({ context, gates, observation }).kind === 'must_read'
  const wants = [...wantedImageReads(context), ...(mustRead ? [{ kind: 'managed_resources' } as const] : [])]
  const strict = gates.isOpen('V') ? [] : [{ kind: 'tree' } as const]
  const readings = { tree: observation.tree, managed_resources: observation.managed }
  return [...wants, ...strict].flatMap((action) => {
    if (action.kind !== 'tree' && action.kind !== 'managed_resources') return []
    const earlier = readings[action.kind]
    // What was read at an earlier snapshot says nothing of this one.
    const isOutdated = earlier !== undefined && !isCurrent(earlier, context)
    const everyMs = isOutdated ? rolloutTimes.retryMs : rolloutTimes.imagesEveryMs
    const atMs = earlier === undefined ? nowMs : earlier.askedAtMs + everyMs
    return [{ atMs: Math.max(atMs, memory.startedAtMs), action }]
  })
}

/** Whether our commit changed the manifests at all, asked once for each state. */
function declarationReads({ memory, context, observation: { managed } }: Look): readonly Due[] {
  const { images_unmet: sinceMs } = memory.since
  if (context.commit === undefined || sinceMs === undefined) return []
  if (managed?.value !== undefined && isCurrent(managed, context)) return []
  const earlierMs = managed?.askedAtMs ?? -Infinity
  const atMs = Math.max(sinceMs + rolloutTimes.imagesLagMs, earlierMs + rolloutTimes.retryMs)
  return [{ atMs, action: { kind: 'managed_resources' } }]
}

/** The first Pod that does not start is looked into, for the reason. */
function podEventReads({ observation, context, gates, nowMs }: Look): readonly Due[] {
  const { tree, podEvents } = observation
  if (tree?.value === undefined || !gates.isOpen('R') || gates.isOpen('H')) return []
  const [bad] = findBadPods(tree.value, context.wanted, context.settings)
  if (bad === undefined) return []
  const { namespace, name, uid } = bad.pod
  const atMs = podEvents === undefined ? nowMs : podEvents.askedAtMs + rolloutTimes.podEventsEveryMs
  return [{ atMs, action: { kind: 'pod_events', namespace, name, uid } }]
}

/** A Git host that could not be asked may answer later. */
function unknownRelations({ observation, context, nowMs }: Look): readonly Due[] {
  const { commit, application } = context
  if (commit === undefined) return []
  return application.revisions.flatMap((revision) => {
    const known = observation.relations.get(relationKey(commit.commit, revision))
    if (known?.relation !== 'unknown') return []
    const action = { kind: 'relation', repository: commit.repository, commit: commit.commit, revision } as const
    return [{ atMs: Math.max(known.atMs + rolloutTimes.relationAgainMs, nowMs), action }]
  })
}

/** When something that only has to last will have lasted. */
export function graceEnds(look: Look): readonly number[] {
  const { task, memory, settings, nowMs } = look
  const { gone, complete, degraded, comparison_error: error, sync_failed: failed } = memory.since
  const ends: readonly (readonly [number | undefined, number])[] = [
    [gone, settings.appGoneGraceMs],
    [complete, settleTimeOf(look)],
    [degraded, settings.degradedGraceMs],
    [error, settings.comparisonErrorGraceMs],
    [failed, settings.syncFailedGraceMs],
    [changeOverdueAtMs(task), 0],
    [task.deadlineMs, 0],
    [task.deadlineMs, rolloutTimes.finalCheckMs],
  ]
  return ends.flatMap(([since, lasts]) => (since === undefined || since + lasts <= nowMs ? [] : [since + lasts]))
}
