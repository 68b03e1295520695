import {
  type Application,
  type ComparedTo,
  isMultiSource,
  type Operation,
  type OperationState,
  type Source,
  type SyncResult,
  sourcesOf,
} from './application.ts'

/** The operation that auto-sync requests for these commits. */
export function automatedOperation(
  { spec }: Application,
  revisions: readonly string[],
  heal?: { resources: NonNullable<Operation['sync']['resources']>; attempt: number },
): Operation {
  return {
    sync: {
      ...revisionMembers(spec, revisions).single,
      prune: spec.syncPolicy?.automated?.prune || undefined,
      resources: heal?.resources,
      source: isMultiSource(spec) ? undefined : sourcesOf(spec)[0],
      syncOptions: spec.syncPolicy?.syncOptions,
      ...revisionMembers(spec, revisions).multiple,
      autoHealAttemptsCount: heal?.attempt,
    },
    initiatedBy: { automated: true },
    retry: spec.syncPolicy?.retry ?? { limit: 5 },
  }
}

export type SyncRequest = { username: string; revisions: readonly string[]; prune: boolean; dryRun: boolean }

/** The operation that a person requests. */
export function manualOperation({ spec }: Application, { username, revisions, prune, dryRun }: SyncRequest): Operation {
  return {
    sync: {
      ...revisionMembers(spec, revisions).single,
      prune: prune || undefined,
      dryRun: dryRun || undefined,
      source: isMultiSource(spec) ? undefined : sourcesOf(spec)[0],
      syncOptions: spec.syncPolicy?.syncOptions,
      ...revisionMembers(spec, revisions).multiple,
    },
    initiatedBy: { username },
    retry: spec.syncPolicy?.retry ?? {},
  }
}

function revisionMembers(spec: Application['spec'], revisions: readonly string[]) {
  return isMultiSource(spec)
    ? { single: {}, multiple: { sources: spec.sources, revisions } }
    : { single: { revision: revisions[0] }, multiple: {} }
}

export function operationRevisions({ sync }: Operation): readonly string[] {
  return sync.revisions ?? (sync.revision ? [sync.revision] : [])
}

/** What the last operation was about: its result if there is one, else its request. */
export function attemptedRevisions(state: OperationState): readonly string[] {
  const result = state.syncResult
  if (result) return result.revisions ?? [result.revision]
  return operationRevisions(state.operation)
}

export function sameRevisions(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((revision, index) => revision === b[index])
}

const noSource: Source = { repoURL: '' }

export function syncResultFor(
  { spec }: Application,
  revisions: readonly string[],
  resources: SyncResult['resources'],
): SyncResult {
  const listed = resources && resources.length > 0 ? resources : undefined
  return isMultiSource(spec)
    ? { resources: listed, revision: '', source: noSource, sources: spec.sources, revisions }
    : { resources: listed, revision: revisions[0] ?? '', source: sourcesOf(spec)[0] ?? noSource }
}

export function comparedToFor({ spec }: Application): ComparedTo {
  return isMultiSource(spec)
    ? { source: noSource, destination: spec.destination, sources: spec.sources }
    : { source: sourcesOf(spec)[0] ?? noSource, destination: spec.destination }
}

const durationUnits: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** A Go duration such as `1m30s`, in milliseconds; `undefined` if it is invalid. */
export function goDuration(text: string): number | undefined {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) return undefined
  return parts.reduce((sum, [, amount = '0', unit = 's']) => sum + Number(amount) * (durationUnits[unit] ?? 0), 0)
}

/** How long to wait before retry number `attempt` (from 1): the duration times two to the power of `attempt`, at most three minutes. */
export function retryDelay({ retry }: Operation, attempt: number, defaultMs: number): number {
  const duration = retry.backoff?.duration ? (goDuration(retry.backoff.duration) ?? defaultMs) : defaultMs
  const most = retry.backoff?.maxDuration ? (goDuration(retry.backoff.maxDuration) ?? 180_000) : 180_000
  return Math.min(duration * (retry.backoff?.factor ?? 2) ** attempt, most)
}

/** The hour as the controller writes it into retry messages, such as `2:58PM`. */
export function kitchenTime(ms: number): string {
  const time = new Date(ms)
  const hour = time.getUTCHours()
  const minute = String(time.getUTCMinutes()).padStart(2, '0')
  return `${hour % 12 === 0 ? 12 : hour % 12}:${minute}${hour < 12 ? 'AM' : 'PM'}`
}
