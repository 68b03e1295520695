import type { Cause } from '../../../contract/cause.ts'
import { oneLine, shorten } from '../../text/one-line.ts'
import { imageText } from './gate-images.ts'
import { shortRevision } from './gate-revision.ts'
import { errorConditionsOf, type GateContext, isOperationActive } from './gates.ts'
import { isFailedHook } from './judge-failure.ts'
import type { Gates } from './judge-gates.ts'
import { findBadPods } from './judge-pods.ts'
import { appliedImages } from './last-operation.ts'
import type { ObservedApplication } from './observed-application.ts'
import type { ResourceTree } from './observed-resources.ts'
import type { PodEvents } from './rollout-observation.ts'

export type StatusReason = {
  readonly headline: string
  readonly cause: Cause | undefined
  /** Said before everything else, such as a missing credential. */
  readonly note: string
  readonly hint: string | undefined
  readonly context: GateContext | undefined
  readonly gates: Gates | undefined
  readonly tree: ResourceTree | undefined
  readonly podEvents: PodEvents | undefined
}

const maxBytes = 8_192
const maxLineLength = 600
const maxItems = 10

/** The reason of a bad end: headline with its cause, the evidence a line each, and what to do. Plain text of at most 8 KiB. */
export function renderStatusReason(reason: StatusReason): string {
  const { context, gates, note, cause, headline, hint } = reason
  const lines = [
    ...(note === '' ? [] : [note]),
    cause === undefined ? headline : `${headline} [${cause}]`,
    ...(context === undefined ? [] : renderEvidence(context, gates, reason)),
    ...(hint === undefined ? [] : [`What to do: ${hint}`]),
  ]
  return withinBytes(lines.map((line) => shorten(oneLine(line), maxLineLength)).join('\n'))
}

function renderEvidence(
  context: GateContext,
  gates: Gates | undefined,
  { tree, podEvents }: Pick<StatusReason, 'tree' | 'podEvents'>,
): readonly string[] {
  const { application } = context
  return [
    ...(gates?.closed ?? []).map(({ name, reason }) => `Waited for (gate ${name}): ${reason}`),
    ...errorConditionsOf(application).map(({ type, message }) => `${type}: ${message}`),
    ...renderOperation(application),
    ...renderUnhealthy(application, tree),
    ...(tree === undefined ? [] : renderPods(context, tree, podEvents)),
    ...renderOutOfSync(application),
    ...renderImages(context),
    ...renderRevisions(context),
  ]
}

function renderOperation({ operation, conditions }: ObservedApplication): readonly string[] {
  const syncError = conditions.find(({ type }) => type === 'SyncError')
  const bad =
    operation?.resources.filter((resource) => isFailedHook(resource) || resource.status === 'SyncFailed') ?? []
  return [
    ...(operation?.phase === undefined ? [] : [`Operation: ${operation.phase}: ${operation.message ?? 'no message'}`]),
    ...bad.slice(0, maxItems).map(({ kind, name, hookType, message }) => {
      const what = hookType === undefined ? 'Not synced' : `${hookType} hook failed`
      return `${what}: ${kind} ${name}: ${message ?? 'no message'}`
    }),
    ...(syncError === undefined ? [] : [`SyncError: ${syncError.message}`]),
  ]
}

function renderUnhealthy(application: ObservedApplication, tree: ResourceTree | undefined): readonly string[] {
  const known = application.resources.flatMap(({ kind, name, health, healthMessage }) =>
    health === undefined || health === 'Healthy' ? [] : [`${kind} ${name}: ${health}: ${healthMessage ?? ''}`],
  )
  const fromTree =
    tree?.unhealthy.map(({ kind, name, health, message }) => `${kind} ${name}: ${health}: ${message}`) ?? []
  return [...new Set([...known, ...fromTree])].slice(0, maxItems).map((line) => `Unhealthy: ${line}`)
}

const maxEvents = 5

function renderPods(
  { wanted, settings }: GateContext,
  tree: ResourceTree,
  podEvents: PodEvents | undefined,
): readonly string[] {
  const bad = findBadPods(tree, wanted, settings).map(({ pod }) => pod)
  const unhealthy = tree.pods.filter(({ health }) => health === 'Degraded')
  const pods = [...new Set([...bad, ...unhealthy])].slice(0, maxItems)
  return pods.flatMap(({ uid, name, reason, message, images }) => [
    `Pod ${name} (${images.join(', ')}): ${reason ?? '?'}: ${message ?? ''}`,
    ...(podEvents?.uid === uid ? podEvents.lines.slice(-maxEvents).map((line) => `Event of ${name}: ${line}`) : []),
  ])
}

function renderOutOfSync({ resources, syncStatus }: ObservedApplication): readonly string[] {
  if (syncStatus === 'Synced') return []
  const out = resources.filter((resource) => resource.syncStatus === 'OutOfSync')
  const names = out
    .slice(0, maxItems)
    .map(({ kind, name, requiresPruning }) => `${kind} ${name}${requiresPruning ? ' (to be pruned)' : ''}`)
  const more = out.length > maxItems ? [`and ${out.length - maxItems} more`] : []
  return out.length === 0 ? [] : [`Out of sync: ${[...names, ...more].join(', ')}`]
}

function renderImages({ application, wanted }: GateContext): readonly string[] {
  const applied = appliedImages(application)
  return [
    `Requested images: ${wanted.map(imageText).join(', ')}`,
    `Running images: ${application.images.join(', ') || 'none'}`,
    ...(applied.length === 0 ? [] : [`Images applied last: ${applied.join(', ')}`]),
  ]
}

function renderRevisions({ application, commit }: GateContext): readonly string[] {
  const compared = application.revisions.map(shortRevision).join(', ') || 'none'
  const applied = application.operation?.revisions.map(shortRevision).join(', ') || 'none'
  const wanted = commit === undefined ? '' : `; commit of the task: ${shortRevision(commit.commit)}`
  return [
    `Revision compared: ${compared}; applied last: ${applied}${wanted}`,
    `Status: ${application.syncStatus ?? 'none'}, ${application.healthStatus ?? 'none'}; ${renderAutoSync(application)}`,
  ]
}

function renderAutoSync(application: ObservedApplication): string {
  if (isOperationActive(application)) return 'an operation is running'
  if (!application.isAutoSynced) return 'automated sync is off'
  return application.isSelfHealed ? 'automated sync is on, with self-heal' : 'automated sync is on, without self-heal'
}

function withinBytes(text: string): string {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= maxBytes) return text
  const kept = new TextDecoder().decode(bytes.subarray(0, maxBytes - 8))
  return `${kept.replace(/\uFFFD+$/, '')}…`
}
