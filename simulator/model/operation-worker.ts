import { type Application, keyOf, type Operation, type OperationState, type ResourceResult } from './application.ts'
import { kubernetesTime, wait } from './clock.ts'
import { type ControllerContext, controllerNow } from './controller-context.ts'
import { type ManagedApplication, until, wakeWaiters } from './managed-application.ts'
import { imagesOf, isServedKind, kubectlLabel, type Manifest, manifestKey, resourceLabels } from './manifest.ts'
import { isFinished } from './pod.ts'
import { confirmationMessage, isPruningApproved, toConfirm } from './prune-confirmation.ts'
import { pickFrom } from './random.ts'
import { refresh, targetAt } from './refresh-worker.ts'
import { comparedToFor, kitchenTime, operationRevisions, retryDelay, syncResultFor } from './sync-operation.ts'
import { workloadHealth } from './workload.ts'

type Attempt = { kind: 'succeeded' | 'failed'; message: string }

/** Carries out the requested operation of an application, retries included, and writes its state as it goes. */
export async function runOperation(context: ControllerContext, managed: ManagedApplication): Promise<void> {
  const operation = context.read(managed.key)?.operation
  if (!operation) return
  const startedAt = kubernetesTime(controllerNow(context))
  const run = createRun(context, managed, operation, startedAt)
  run.write({ phase: 'Running' })
  const { endWithoutResult } = context.faults
  const error = endWithoutResult.get(keyOf(managed.key))
  if (error !== undefined) {
    endWithoutResult.delete(keyOf(managed.key))
    return run.finish('Error', error, 0)
  }
  for (let retries = 0; ; retries++) {
    const attempt = await run.attempt()
    if (managed.isGone) return
    if (managed.isTerminating) return run.finish('Failed', 'Operation terminated', retries)
    if (attempt.kind === 'succeeded') return run.finish('Succeeded', attempt.message, retries)
    const limit = operation.retry.limit ?? 0
    if (limit >= 0 && retries >= limit) {
      const suffix = retries > 0 ? ` (retried ${retries} times).` : ''
      return run.finish('Failed', `${attempt.message}${suffix}`, retries)
    }
    await run.waitForRetry(attempt.message, retries + 1)
    if (managed.isGone) return
  }
}

function createRun(context: ControllerContext, managed: ManagedApplication, operation: Operation, startedAt: string) {
  const { clock, store, times, random } = context
  const results = new Map<string, ResourceResult>()
  let state: OperationState = { operation, phase: 'Running', startedAt }

  function write(changes: Partial<OperationState>, more: (current: Application) => Application = (same) => same): void {
    store.update(managed.key, (current) => {
      state = { ...state, ...changes }
      const { phase, message, syncResult, finishedAt, retryCount } = state
      const operationState = { operation, phase, message, syncResult, startedAt, finishedAt, retryCount }
      return more({ ...current, status: { ...current.status, operationState } })
    })
  }

  function writeProgress(message: string, revisions: readonly string[]): void {
    const application = context.read(managed.key)
    if (application) write({ message, syncResult: syncResultFor(application, revisions, [...results.values()]) })
  }

  async function attempt(): Promise<Attempt> {
    results.clear()
    const application = context.read(managed.key)
    if (!application) return { kind: 'failed', message: 'application is gone' }
    const revisions = operationRevisions(operation)
    const target = await targetAt(context, managed, application, revisions, false)
    await wait(clock, pickFrom(random, times().sync))
    if (managed.isGone || managed.isTerminating) return { kind: 'failed', message: '' }
    if (!target.manifests) return { kind: 'failed', message: `ComparisonError: ${target.failure ?? ''}` }
    if (operation.sync.prune) await untilConfirmed(toConfirm(managed.cluster.list(), target.manifests), revisions)
    if (managed.isGone || managed.isTerminating) return { kind: 'failed', message: '' }
    const outcome = await apply(target.manifests.filter(isSelected), revisions)
    // The result must be complete before the phase says so, because both are written together.
    state = { ...state, syncResult: syncResultFor(application, revisions, [...results.values()]) }
    if (outcome.kind === 'succeeded') {
      managed.appliedRevisions = revisions
      if (operation.sync.prune) prune(target.manifests)
    }
    return outcome
  }

  /** What is deleted goes first, so nothing of the commit is applied before a person agrees. */
  async function untilConfirmed(manifests: readonly Manifest[], revisions: readonly string[]): Promise<void> {
    if (manifests.length === 0) return
    writeProgress(confirmationMessage(manifests), revisions)
    await until(managed, () => isPruningApproved(context.read(managed.key), startedAt))
  }

  function isSelected({ kind, name, group }: Manifest): boolean {
    const { resources } = operation.sync
    if (!resources) return true
    return resources.some((one) => one.kind === kind && one.name === name && (one.group ?? '') === group)
  }

  async function apply(manifests: readonly Manifest[], revisions: readonly string[]): Promise<Attempt> {
    const injected = context.faults.failSync.get(`${managed.key.namespace}/${managed.key.name}`)
    if (injected) return failEverything(manifests, injected)
    const unknown = manifests.find((manifest) => !isServedKind(manifest))
    if (unknown) return failUnknownKind(unknown)
    const isSimple = manifests.every(({ hook, wave }) => hook === undefined && wave === 0)
    if (isSimple) return applyTogether(manifests)
    return applyInSteps(manifests, revisions)
  }

  function record(manifest: Manifest, result: Pick<ResourceResult, 'status' | 'message' | 'hookPhase'>): void {
    const { group, version, kind, namespace, name, hook } = manifest
    const images = imagesOf({ ...manifest, initContainers: [] })
    results.set(manifestKey(manifest), {
      group,
      version,
      kind,
      namespace,
      name,
      status: result.status,
      message: result.message,
      hookType: hook,
      hookPhase: result.hookPhase,
      syncPhase: hook ?? 'Sync',
      images: images.length > 0 ? images : undefined,
    })
  }

  function failEverything(manifests: readonly Manifest[], message: string): Attempt {
    for (const manifest of manifests) record(manifest, { status: 'SyncFailed', message, hookPhase: 'Failed' })
    const isWhole = message.startsWith('one or more ')
    return { kind: 'failed', message: isWhole ? message : `one or more objects failed to apply, reason: ${message}` }
  }

  function failUnknownKind(manifest: Manifest): Attempt {
    const groupVersion = `${manifest.group === '' ? '' : `${manifest.group}/`}${manifest.version}`
    const message = `failed to discover server resources for group version ${groupVersion}: the server could not find the requested resource`
    record(manifest, { status: 'SyncFailed', message, hookPhase: 'Failed' })
    return { kind: 'failed', message: `one or more synchronization tasks are not valid: ${message}` }
  }

  /** Applies one object; the live cache follows at once or, now and then, only after the next comparison. */
  function applyOne(manifest: Manifest): string | undefined {
    const key = manifestKey(manifest)
    const live = managed.cluster.get(key)
    if (live && manifest.kind === 'Deployment' && live.manifest.selector !== manifest.selector) {
      const selector = JSON.stringify({ matchLabels: { app: manifest.selector } })
      const message = `error when patching "/dev/shm/${Math.floor(random() * 1e9)}": Deployment.apps "${manifest.name}" is invalid: spec.selector: Invalid value: ${selector}: field is immutable`
      record(manifest, { status: 'SyncFailed', message, hookPhase: 'Failed' })
      return message
    }
    const done = managed.cluster.apply(manifest)
    record(manifest, { status: 'Synced', message: `${kubectlLabel(manifest)} ${done}`, hookPhase: 'Running' })
    if (done !== 'unchanged') observeLater(manifest)
    return undefined
  }

  function observeLater(manifest: Manifest): void {
    const isLate = random() < context.staleLiveCache
    const see = () => {
      if (managed.isGone || managed.cluster.get(manifestKey(manifest))?.manifest !== manifest) return
      managed.observed.set(manifestKey(manifest), manifest)
      context.requestRefresh(managed, 1)
    }
    if (isLate) clock.setTimer(times().step[1] * 2 + times().compare[1] + times().liveCacheLag, see)
    else see()
  }

  function applyTogether(manifests: readonly Manifest[]): Attempt {
    const failures = manifests.flatMap((manifest) => applyOne(manifest) ?? [])
    if (failures.length > 0) {
      return { kind: 'failed', message: `one or more objects failed to apply, reason: ${failures.join(',')}` }
    }
    return { kind: 'succeeded', message: 'successfully synced (all tasks run)' }
  }

  async function applyInSteps(manifests: readonly Manifest[], revisions: readonly string[]): Promise<Attempt> {
    for (const hook of ['PreSync', undefined, 'PostSync'] as const) {
      const inPhase = manifests.filter((manifest) => manifest.hook === hook)
      const waves = [...new Set(inPhase.map(({ wave }) => wave))].sort((a, b) => a - b)
      for (const wave of waves) {
        const members = inPhase.filter((manifest) => manifest.wave === wave)
        const failure = hook ? await runHooks(members, revisions) : await runWave(members, revisions)
        if (managed.isGone || managed.isTerminating) return { kind: 'failed', message: '' }
        if (failure !== undefined) return { kind: 'failed', message: failure }
        await wait(clock, times().wave)
      }
    }
    return { kind: 'succeeded', message: 'successfully synced (no more tasks)' }
  }

  async function runWave(members: readonly Manifest[], revisions: readonly string[]): Promise<string | undefined> {
    const applied = applyTogether(members)
    if (applied.kind === 'failed') return applied.message
    const unhealthy = () => members.filter((manifest) => !isHealthy(manifest))
    const first = unhealthy().length > 0 ? unhealthy() : members.slice(0, 1)
    writeProgress(`waiting for healthy state of ${resourceLabels(first, 'resources')}`, revisions)
    await until(managed, () => unhealthy().length === 0)
    for (const manifest of members) {
      const message = results.get(manifestKey(manifest))?.message ?? ''
      record(manifest, { status: 'Synced', message, hookPhase: 'Succeeded' })
    }
    return undefined
  }

  function isHealthy(manifest: Manifest): boolean {
    const workload = managed.cluster.get(manifestKey(manifest))
    const health = workload && workloadHealth(workload)
    return workload !== undefined && (health === undefined || health.status === 'Healthy')
  }

  async function runHooks(members: readonly Manifest[], revisions: readonly string[]): Promise<string | undefined> {
    for (const manifest of members) {
      const key = manifestKey(manifest)
      if (managed.cluster.get(key)) {
        managed.cluster.remove(key)
        writeProgress(`waiting for deletion of hook ${resourceLabels([manifest], 'hooks')}`, revisions)
        await until(managed, () => managed.cluster.get(key) === undefined)
      }
      if (managed.isGone || managed.isTerminating) return undefined
      managed.cluster.apply(manifest)
      managed.observed.set(key, manifest)
      record(manifest, { status: 'Synced', message: `${kubectlLabel(manifest)} created`, hookPhase: 'Running' })
    }
    writeProgress(`waiting for completion of hook ${resourceLabels(members, 'hooks')}`, revisions)
    await until(managed, () => members.every(isHookOver))
    return hookFailure(members)
  }

  function isHookOver(manifest: Manifest): boolean {
    const workload = managed.cluster.get(manifestKey(manifest))
    if (!workload) return true
    return manifest.kind === 'Job' ? workload.pods.some(isFinished) : isHealthy(manifest)
  }

  function hookFailure(members: readonly Manifest[]): string | undefined {
    let failed = false
    for (const manifest of members) {
      const workload = managed.cluster.get(manifestKey(manifest))
      const health = workload && workloadHealth(workload)
      const isBad = health?.status === 'Degraded'
      failed ||= isBad
      record(manifest, { status: 'Synced', message: health?.message ?? '', hookPhase: isBad ? 'Failed' : 'Succeeded' })
    }
    return failed ? 'one or more synchronization tasks completed unsuccessfully' : undefined
  }

  function prune(wanted: readonly Manifest[]): void {
    const keys = new Set(wanted.map(manifestKey))
    for (const { manifest } of managed.cluster.list()) {
      if (keys.has(manifestKey(manifest)) || manifest.hook !== undefined) continue
      managed.cluster.remove(manifestKey(manifest))
      managed.observed.delete(manifestKey(manifest))
    }
  }

  /** A retry waits in phase Running, with `finishedAt` set; just before it the application is compared again. */
  async function waitForRetry(message: string, retryCount: number): Promise<void> {
    const delay = retryDelay(operation, retryCount, times().retryBackoff)
    const at = kitchenTime(controllerNow(context) + delay)
    write({
      message: `${message}. Retrying attempt #${retryCount} at ${at}.`,
      finishedAt: kubernetesTime(controllerNow(context)),
      retryCount,
    })
    let isOver = false
    clock.setTimer(delay, () => {
      isOver = true
      wakeWaiters(managed)
    })
    await until(managed, () => isOver)
    if (managed.isGone || managed.isTerminating) return
    await refresh(context, managed, 2)
    if (managed.isGone) return
    write({ message: `Retrying operation. Attempt #${retryCount}`, finishedAt: undefined })
  }

  async function finish(phase: OperationState['phase'], message: string, retries: number): Promise<void> {
    if (phase === 'Succeeded') writeHistory()
    await wait(clock, pickFrom(random, times().step))
    if (managed.isGone) return
    const finishedAt = kubernetesTime(controllerNow(context))
    write({ phase, message, finishedAt, retryCount: retries || undefined }, (current) => ({
      ...current,
      operation: undefined,
    }))
    const revision = operationRevisions(operation).join(', ')
    const how = phase === 'Succeeded' ? 'succeeded' : `failed: ${message}`
    const what = operation.sync.resources ? 'Partial sync operation' : 'Sync operation'
    managed.events.push({ atMs: clock.now(), reason: 'OperationCompleted', message: `${what} to ${revision} ${how}` })
  }

  /** Only a full sync makes history. */
  function writeHistory(): void {
    if (operation.sync.resources || operation.sync.dryRun) return
    const revisions = operationRevisions(operation)
    store.update(managed.key, (current) => {
      const { source, sources } = comparedToFor(current)
      const history = current.status.history ?? []
      const entry = {
        revision: sources ? undefined : revisions[0],
        deployedAt: kubernetesTime(controllerNow(context)),
        id: (history.at(-1)?.id ?? -1) + 1,
        source,
        deployStartedAt: startedAt,
        sources,
        revisions: sources ? revisions : undefined,
        initiatedBy: operation.initiatedBy,
      }
      return { ...current, status: { ...current.status, history: [...history, entry].slice(-10) } }
    })
  }

  return { write, attempt, waitForRetry, finish }
}
