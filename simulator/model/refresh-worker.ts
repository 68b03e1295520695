import {
  type Application,
  type ApplicationStatus,
  type Condition,
  hydrateAnnotation,
  isMultiSource,
  type Operation,
  refreshAnnotation,
  sourcesOf,
} from './application.ts'
import { kubernetesTime, wait } from './clock.ts'
import { type Comparison, compareState } from './compare-state.ts'
import { type ControllerContext, controllerNow } from './controller-context.ts'
import type { ManagedApplication, RefreshLevel, Target } from './managed-application.ts'
import { pickFrom } from './random.ts'
import { isUntouched, renderTarget, resolveRevisions } from './resolve-target.ts'
import { attemptedRevisions, automatedOperation, comparedToFor, sameRevisions } from './sync-operation.ts'
import { blocksAutomatedSync } from './sync-window.ts'

/** One comparison of an application, from the look at Git to the persisted status. */
export async function refresh(
  context: ControllerContext,
  managed: ManagedApplication,
  asked: RefreshLevel,
): Promise<void> {
  const before = context.read(managed.key)
  if (!before) return
  const annotation = before.metadata.annotations?.[refreshAnnotation]
  const level: RefreshLevel = annotation ? 3 : managed.target ? asked : (Math.max(asked, 2) as RefreshLevel)
  if (level === 0) return writeImages(context, managed)
  const startedAtMs = controllerNow(context)
  if (level >= 2) {
    context.requestHydration(managed, level)
    const target = await freshTarget(context, managed, before, level, annotation === 'hard')
    if (managed.isGone) return
    if (!target) return
    managed.target = target
  } else {
    await wait(context.clock, pickFrom(context.random, context.times().compare))
  }
  if (managed.isGone) return
  const comparison = compareState(managed.target?.manifests, managed.observed, managed.cluster.list())
  const syncError = autoSync(context, managed, comparison)
  await wait(context.clock, pickFrom(context.random, context.times().step))
  if (managed.isGone) return
  persist(context, managed, comparison, { level, startedAtMs, syncError, hadAnnotation: annotation !== undefined })
}

/** Level 0: only the list of images, from the Pods that exist now. */
function writeImages({ store }: ControllerContext, { key, cluster }: ManagedApplication): void {
  store.update(key, (current) => ({
    ...current,
    status: { ...current.status, summary: summaryOf(current, cluster.images()) },
  }))
}

/** The external addresses are those that a test has set: there are no Ingresses here. */
function summaryOf({ status }: Application, images: readonly string[]): ApplicationStatus['summary'] {
  return { ...status.summary, images: images.length === 0 ? undefined : images }
}

/** `undefined`: the repository could not be read and the last comparison is young enough to stand. */
async function freshTarget(
  context: ControllerContext,
  managed: ManagedApplication,
  application: Application,
  level: RefreshLevel,
  isHard: boolean,
): Promise<Target | undefined> {
  const { clock, random, times, faults } = context
  const key = `${managed.key.namespace}/${managed.key.name}`
  const repositoryError = sourcesOf(application.spec)
    .map(({ repoURL }) => faults.repositoryErrors.get(repoURL))
    .find((message) => message !== undefined)
  const lagging = faults.olderRevision.get(key) ?? 0
  faults.olderRevision.set(key, Math.max(0, lagging - 1))
  const resolved =
    lagging > 0 && managed.target
      ? ({ kind: 'revisions', revisions: managed.target.revisions } as const)
      : await resolveRevisions(application.spec, context.lsRemote, level, takeBetween(context, key))
  const failure = repositoryError
    ? `Failed to load target state: rpc error: code = Unknown desc = ${repositoryError}`
    : resolved.kind === 'error' && resolved.message
  const revisions = resolved.kind === 'revisions' ? resolved.revisions : []
  const isNew = !failure && (isHard || !sameRevisions(revisions, managed.target?.revisions ?? []))
  await wait(clock, pickFrom(random, isNew ? times().refresh : times().compare) + (faults.refreshDelayMs.get(key) ?? 0))
  while (faults.hangRefresh.has(key) && !managed.isGone) await wait(clock, times().step[1])
  if (failure) return unreadable(context, managed, failure, level, repositoryError !== undefined)
  managed.lastGoodComparisonMs = clock.now()
  return targetAt(context, managed, application, revisions, isHard)
}

function takeBetween({ faults }: ControllerContext, key: string): (() => Promise<unknown>) | undefined {
  const between = faults.betweenLookUps.get(key)
  faults.betweenLookUps.delete(key)
  return between
}

function unreadable(
  { clock, times }: ControllerContext,
  managed: ManagedApplication,
  failure: string,
  level: RefreshLevel,
  isTemporary: boolean,
): Target | undefined {
  const isYoung = clock.now() - managed.lastGoodComparisonMs < times().repositoryErrorGrace
  if (isTemporary && level < 3 && isYoung) return undefined
  return { revisions: [], manifests: undefined, sourceTypes: [], failure }
}

/** The rendered commit: from the cache, taken over from the commit before, or rendered now. */
export async function targetAt(
  context: ControllerContext,
  managed: ManagedApplication,
  application: Application,
  revisions: readonly string[],
  isHard: boolean,
): Promise<Target> {
  const rendering = context.renderingOf(application)
  const cacheKey = JSON.stringify([rendering.spec.source, rendering.spec.sources, revisions])
  const cached = managed.rendered.get(cacheKey)
  if (cached && !isHard) return cached
  const last = managed.target
  const canTakeOver =
    !isHard && last?.manifests !== undefined && (await isUntouched(context.git, rendering, last.revisions, revisions))
  const target = canTakeOver && last ? { ...last, revisions } : await renderTarget(context.git, rendering, revisions)
  managed.rendered.set(cacheKey, target)
  return target
}

/** Requests an operation if the application wants one; answers the text of the condition `SyncError` if it is stuck. */
function autoSync(context: ControllerContext, managed: ManagedApplication, comparison: Comparison): string | undefined {
  const application = context.read(managed.key)
  if (!application || !managed.target) return undefined
  const { automated } = application.spec.syncPolicy ?? {}
  if (!automated || automated.enabled === false || comparison.syncStatus !== 'OutOfSync') return undefined
  if (application.operation || application.metadata.deletionTimestamp) return undefined
  if (blocksAutomatedSync(context.windowsOf(application.spec.project))) return undefined
  const { revisions } = managed.target
  const last = application.status.operationState
  // From 3.2 on an operation that ended without a result counts as an attempt of every revision.
  const isResultless = last !== undefined && last.syncResult === undefined && context.version !== '2.14'
  if (!last || (!isResultless && !sameRevisions(attemptedRevisions(last), revisions))) {
    managed.selfHeal = { attempts: 0, lastAtMs: 0 }
    return request(context, managed, automatedOperation(application, revisions))
  }
  if (last.phase !== 'Succeeded') {
    const subject = revisions.length === 1 ? `[${revisions[0]}]` : `[${revisions.join(' ')}]`
    return `Failed last sync attempt to ${subject}: ${last.message ?? ''}`
  }
  if (automated.selfHeal) selfHeal(context, managed, application, comparison)
  return undefined
}

/** The second operation at the same commit: at once the first time, then 2, 6, 18 … seconds apart. */
function selfHeal(
  context: ControllerContext,
  managed: ManagedApplication,
  application: Application,
  comparison: Comparison,
): void {
  const { attempts, lastAtMs } = managed.selfHeal
  const pause = attempts === 0 ? 0 : 2_000 * 3 ** (attempts - 1)
  const left = lastAtMs + pause - context.clock.now()
  if (left > 0) {
    context.clock.setTimer(left, () => context.requestRefresh(managed, 1))
    return
  }
  managed.selfHeal = { attempts: attempts + 1, lastAtMs: context.clock.now() }
  const resources = comparison.outOfSync.map(({ group, kind, name }) => ({ group: group || undefined, kind, name }))
  request(
    context,
    managed,
    automatedOperation(application, managed.target?.revisions ?? [], { resources, attempt: attempts + 1 }),
  )
}

function request({ store, clock }: ControllerContext, managed: ManagedApplication, operation: Operation): undefined {
  store.update(managed.key, (current) => ({
    ...current,
    operation,
    status: { ...current.status, operationState: undefined },
  }))
  const revision = operation.sync.revision ?? operation.sync.revisions?.join(', ') ?? ''
  managed.events.push({
    atMs: clock.now(),
    reason: 'OperationStarted',
    message: `Initiated automated sync to '${revision}'`,
  })
}

type Persisted = { level: RefreshLevel; startedAtMs: number; syncError: string | undefined; hadAnnotation: boolean }

function persist(
  context: ControllerContext,
  managed: ManagedApplication,
  comparison: Comparison,
  { level, startedAtMs, syncError, hadAnnotation }: Persisted,
): void {
  const removesSeparately = context.version === '3.6'
  context.store.update(managed.key, (current) => {
    const written = withComparison(context, managed, current, comparison, syncError)
    if (level >= 2) written.status = { ...written.status, reconciledAt: kubernetesTime(startedAtMs) }
    if (hadAnnotation && !removesSeparately) written.metadata = withoutRefresh(written.metadata)
    recordChanges(context, managed, current, written)
    return written
  })
  if (!hadAnnotation || !removesSeparately) return
  context.store.update(managed.key, (current) => ({ ...current, metadata: withoutRefresh(current.metadata) }))
}

function withComparison(
  context: ControllerContext,
  { target, cluster }: ManagedApplication,
  current: Application,
  comparison: Comparison,
  syncError: string | undefined,
): Application {
  const { status, spec } = current
  const failed = target?.failure !== undefined
  const types = target?.sourceTypes ?? []
  const now = kubernetesTime(controllerNow(context))
  return {
    ...current,
    status: {
      ...status,
      resources: comparison.resources.length > 0 ? comparison.resources : undefined,
      sync: {
        status: comparison.syncStatus,
        comparedTo: comparedToFor(current),
        ...comparedRevisions(current, target),
      },
      health: {
        status: comparison.health,
        lastTransitionTime: status.health.status === comparison.health ? status.health.lastTransitionTime : now,
      },
      conditions: conditions(status.conditions, target?.failure, syncError, now),
      sourceType: failed || isMultiSource(spec) ? undefined : types[0],
      summary: summaryOf(current, cluster.images()),
      resourceHealthSource: 'appTree',
      sourceTypes: !failed && isMultiSource(spec) ? types : undefined,
      controllerNamespace: context.namespace,
    },
  }
}

/** Without a comparison the branch's name stands where the commit should be. */
function comparedRevisions({ spec }: Application, target: Target | undefined) {
  if (isMultiSource(spec)) return { revisions: target?.failure ? [] : (target?.revisions ?? []) }
  return { revision: target?.failure ? (sourcesOf(spec)[0]?.targetRevision ?? '') : target?.revisions[0] }
}

function conditions(
  known: readonly Condition[] | undefined,
  comparisonError: string | undefined,
  syncError: string | undefined,
  now: string,
): readonly Condition[] | undefined {
  const wanted = [
    comparisonError === undefined ? [] : [{ type: 'ComparisonError', message: comparisonError }],
    syncError === undefined ? [] : [{ type: 'SyncError', message: syncError }],
  ].flat()
  if (wanted.length === 0) return undefined
  return wanted.map(({ type, message }) => {
    const same = known?.find((condition) => condition.type === type && condition.message === message)
    return same ?? { type, message, lastTransitionTime: now }
  })
}

/** `refresh` goes, `hydrate` stays for ever where no hydrator runs. */
function withoutRefresh(metadata: Application['metadata']): Application['metadata'] {
  const { [refreshAnnotation]: _, ...annotations } = metadata.annotations ?? {}
  return { ...metadata, annotations }
}

export function withRefresh(
  metadata: Application['metadata'],
  kind: 'normal' | 'hard',
  version: ControllerContext['version'],
): Application['metadata'] {
  const hydrate = version === '2.14' ? {} : { [hydrateAnnotation]: 'normal' }
  return { ...metadata, annotations: { ...metadata.annotations, ...hydrate, [refreshAnnotation]: kind } }
}

function recordChanges(
  { clock }: ControllerContext,
  managed: ManagedApplication,
  was: Application,
  is: Application,
): void {
  const note = (what: string, before: string, after: string) => {
    if (before === after) return
    managed.events.push({
      atMs: clock.now(),
      reason: 'ResourceUpdated',
      message: `Updated ${what} status: ${before} -> ${after}`,
    })
  }
  note('sync', was.status.sync.status, is.status.sync.status)
  note('health', was.status.health.status ?? '', is.status.health.status ?? '')
}
