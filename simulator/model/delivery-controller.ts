import {
  type Application,
  type ApplicationKey,
  type ApplicationSpec,
  keyOf,
  type Operation,
  refreshAnnotation,
  resourcesFinalizer,
} from './application.ts'
import { type Clock, kubernetesTime } from './clock.ts'
import { createCluster } from './cluster.ts'
import type { ControllerContext, ControllerFaults, ControllerVersion } from './controller-context.ts'
import type { CommitFiles, GitView } from './git-view.ts'
import { hydrate, settleHydration } from './hydrator.ts'
import { type ManagedApplication, nextChange, type RefreshLevel, wakeWaiters } from './managed-application.ts'
import { manifestKey } from './manifest.ts'
import { type NewApplicationSpec, newApplication } from './new-application.ts'
import { createObjectStore, type StoreEvent } from './object-store.ts'
import { runOperation } from './operation-worker.ts'
import { behaviourByTag, type PodBehaviour } from './pod-behaviours.ts'
import { deletionApprovedAnnotation } from './prune-confirmation.ts'
import { pickFrom, type Random } from './random.ts'
import { refresh, targetAt, withRefresh } from './refresh-worker.ts'
import { createReplica, type Replica } from './replica.ts'
import { createLsRemote, resolveRevisions } from './resolve-target.ts'
import { withSettledStatus } from './settled-status.ts'
import type { SimulatorTimes } from './simulator-times.ts'
import { manualOperation } from './sync-operation.ts'
import type { SyncWindow } from './sync-window.ts'
import { type Truth, truthOf } from './truth.ts'
import { workloadHealth } from './workload.ts'

export type DeliveryControllerOptions = {
  clock: Clock
  random: Random
  git: GitView
  /** For the hydrator; absent: there is none, and nothing is hydrated. */
  commit?: CommitFiles
  times: SimulatorTimes
  version?: ControllerVersion
  namespace?: string
  replicas?: number
  /** How often a comparison after an operation still sees the old live objects, from 0 to 1; the recordings say 0.3. */
  staleLiveCache?: number
}

/** How new Pods of an application behave, whatever their tag says. */
export type PodOverride = {
  newPods: PodBehaviour
  /** Images that stay as they are. */
  except?: readonly string[]
  /** The lines in the logs of all its Pods. */
  says?: readonly string[]
  /** Words in place of the usual reason why they do not run, such as the scheduler's about a taint. */
  because?: string | undefined
}

export type DeliveryController = ReturnType<typeof createDeliveryController>

/** The delivery controller's whole world: objects, caches, workers and clusters. No sockets, no Git, no real time. */
export function createDeliveryController(options: DeliveryControllerOptions) {
  const { clock, random, git } = options
  const namespace = options.namespace ?? 'argocd'
  let times = options.times
  let clockSkewMs = 0
  let isClosed = false
  const store = createObjectStore({ clock, random })
  const managedByUid = new Map<string, ManagedApplication>()
  const windows = new Map<string, readonly SyncWindow[]>()
  const podOverrides = new Map<string, PodOverride>()
  const log: { atMs: number; event: StoreEvent }[] = []
  const faults: ControllerFaults = {
    hangRefresh: new Set(),
    refreshDelayMs: new Map(),
    failSync: new Map(),
    endWithoutResult: new Map(),
    betweenLookUps: new Map(),
    hangHydration: new Set(),
    failHydration: new Map(),
    olderRevision: new Map(),
    repositoryErrors: new Map(),
  }
  const context: ControllerContext = {
    clock,
    random,
    store,
    git,
    commit: options.commit,
    lsRemote: createLsRemote({ git, now: clock.now, timeToLive: () => times.lsRemoteCache }),
    times: () => times,
    version: options.version ?? '3.5',
    namespace,
    faults,
    windowsOf: (project) => windows.get(project) ?? [],
    staleLiveCache: options.staleLiveCache ?? 0.3,
    clockSkewMs: () => clockSkewMs,
    requestRefresh,
    requestHydration: (managed, level) => untilClosed(hydrate(context, managed, level)),
    renderingOf: (application) => ({
      spec: application.spec,
      instance: {
        name: application.metadata.name,
        instanceName: instanceName(application.metadata, namespace),
        destinationNamespace: application.spec.destination.namespace ?? '',
      },
      annotations: application.metadata.annotations ?? {},
    }),
    read: (key) => store.get(key),
  }
  store.subscribe((event) => {
    log.push({ atMs: clock.now(), event })
    notice(event)
  })
  const replicas: readonly Replica[] = Array.from({ length: options.replicas ?? 1 }, () =>
    createReplica({ store, clock, random, lag: () => times.informerLag }),
  )

  function react(run: () => void): void {
    clock.setTimer(pickFrom(random, times.react), () => {
      if (!isClosed) run()
    })
  }

  /** What is under way when everything closes may find Git gone. */
  function untilClosed(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (!isClosed) throw error
    })
  }

  /** The controller's informer: new objects, refresh annotations, changed specs and requested operations wake its workers. */
  function notice({ type, application }: StoreEvent): void {
    const managed = managedByUid.get(application.metadata.uid)
    if (!managed || type === 'DELETED') return
    if (application.metadata.annotations?.[deletionApprovedAnnotation]) wakeWaiters(managed)
    if (application.metadata.annotations?.[refreshAnnotation]) react(() => lookForAnnotation(managed))
    if (application.operation && !managed.isOperating) {
      managed.isOperating = true
      clock.setTimer(pickFrom(random, times.step), () => untilClosed(operate(managed)))
    }
  }

  /** A refresh that is under way answers the annotation if it saw it at its start; otherwise the next one does. */
  function lookForAnnotation(managed: ManagedApplication): void {
    const isAnnotated = store.get(managed.key)?.metadata.annotations?.[refreshAnnotation] !== undefined
    if (isAnnotated && !managed.isRefreshing) requestRefresh(managed, 3)
  }

  async function operate(managed: ManagedApplication): Promise<void> {
    managed.isTerminating = false
    const operation = store.get(managed.key)?.operation
    await runOperation(context, managed)
    managed.isOperating = false
    managed.isTerminating = false
    if (managed.isGone || isClosed) return
    recordTruth(managed)
    const next = store.get(managed.key)
    if (next?.operation) notice({ type: 'MODIFIED', application: next })
    requestRefresh(managed, operation?.initiatedBy.automated && context.version !== '2.14' ? 2 : 3)
  }

  function requestRefresh(managed: ManagedApplication, level: RefreshLevel): void {
    if (isClosed || managed.isGone) return
    const isIdle = managed.wantedLevel === undefined
    managed.wantedLevel = Math.max(level, managed.wantedLevel ?? 0) as RefreshLevel
    if (isIdle) react(() => untilClosed(work(managed)))
  }

  async function work(managed: ManagedApplication): Promise<void> {
    if (managed.isRefreshing || managed.isGone || managed.wantedLevel === undefined) return
    managed.isRefreshing = true
    const level = managed.wantedLevel
    managed.wantedLevel = undefined
    try {
      await refresh(context, managed, level)
    } finally {
      managed.isRefreshing = false
      lookForAnnotation(managed)
      if (managed.wantedLevel !== undefined && !isClosed) react(() => untilClosed(work(managed)))
    }
  }

  function poll(managed: ManagedApplication): void {
    clock.setTimer(times.poll + random() * times.pollJitter, () => {
      if (managed.isGone || isClosed) return
      requestRefresh(managed, 2)
      poll(managed)
    })
  }

  function manage(application: Application): ManagedApplication {
    const key = { namespace: application.metadata.namespace, name: application.metadata.name }
    const managed: ManagedApplication = {
      key,
      uid: application.metadata.uid,
      cluster: createCluster({
        clock,
        random,
        times: () => times,
        nextResourceVersion: () => String(Number(store.resourceVersion()) + 1),
        behaviourOf: (image) => behaviourIn(podOverrides.get(keyOf(key)), image),
        because: () => podOverrides.get(keyOf(key))?.because,
        onChange: () => react(() => assess(managed)),
      }),
      observed: new Map(),
      target: undefined,
      rendered: new Map(),
      wantedLevel: undefined,
      isRefreshing: false,
      isHydrating: false,
      isOperating: false,
      isTerminating: false,
      isGone: false,
      selfHeal: { attempts: 0, lastAtMs: 0 },
      lastSeen: '',
      lastGoodComparisonMs: clock.now(),
      appliedRevisions: [],
      events: [],
      truth: [],
      waiters: new Set(),
    }
    managedByUid.set(managed.uid, managed)
    return managed
  }

  /** A change in the cluster: level 1 if an object or its health changed, level 0 if only Pods did. */
  function assess(managed: ManagedApplication): void {
    if (managed.isGone) return
    recordTruth(managed)
    const seen = seenOf(managed)
    const images = JSON.stringify(managed.cluster.images())
    const listed = JSON.stringify(store.get(managed.key)?.status.summary.images ?? [])
    if (seen !== managed.lastSeen) requestRefresh(managed, 1)
    else if (images !== listed) requestRefresh(managed, 0)
    managed.lastSeen = seen
    wakeWaiters(managed)
  }

  function recordTruth(managed: ManagedApplication): void {
    const moment = {
      running: managed.cluster.runningImages(),
      appliedRevisions: managed.appliedRevisions,
      isRolledOut: managed.cluster.isRolledOut(),
    }
    const { atMs: _, ...last } = managed.truth.at(-1) ?? { atMs: 0 }
    if (JSON.stringify(last) !== JSON.stringify(moment)) managed.truth.push({ atMs: clock.now(), ...moment })
  }

  function managedAt(key: ApplicationKey): ManagedApplication | undefined {
    const uid = store.get(key)?.metadata.uid
    return uid === undefined ? undefined : managedByUid.get(uid)
  }

  async function createApplication(wanted: NewApplicationSpec): Promise<Application> {
    const created = newApplication(wanted, namespace)
    if (wanted.start === 'empty') {
      const managed = manage(store.create(created))
      requestRefresh(managed, 3)
      poll(managed)
      return mustRead(managed.key)
    }
    return createSettled(created)
  }

  /** An application that was created, synced and became healthy before anybody looked. */
  async function createSettled(created: Parameters<typeof store.create>[0]): Promise<Application> {
    const draft = {
      ...created,
      metadata: { ...created.metadata, uid: '', resourceVersion: '', generation: 1, creationTimestamp: '' },
    }
    const settledAt = kubernetesTime(clock.now() - 60_000)
    const sourceHydrator = await settleHydration(context, draft, settledAt)
    const resolved = await resolveRevisions(created.spec, context.lsRemote, 3)
    const revisions = resolved.kind === 'revisions' ? resolved.revisions : []
    const managed = manage(store.create(created))
    const target = await targetAt(context, managed, draft, revisions, false)
    managed.target =
      resolved.kind === 'revisions'
        ? target
        : { ...target, revisions: [], manifests: undefined, failure: resolved.message }
    managed.cluster.settle((managed.target.manifests ?? []).filter(({ hook }) => hook === undefined))
    for (const { manifest } of managed.cluster.list()) managed.observed.set(manifestKey(manifest), manifest)
    managed.appliedRevisions = revisions
    store.update(managed.key, (current) => withSettledStatus(current, managed, settledAt, namespace))
    store.update(managed.key, (current) => ({ ...current, status: { ...current.status, sourceHydrator } }))
    recordTruth(managed)
    managed.lastSeen = seenOf(managed)
    poll(managed)
    return mustRead(managed.key)
  }

  function mustRead(key: ApplicationKey): Application {
    const application = store.get(key)
    if (!application) throw new Error(`Application ${keyOf(key)} is gone`)
    return application
  }

  return {
    namespace,
    version: context.version,
    store,
    replicas,
    faults,
    createApplication,

    /** Changes metadata or spec as a person with kubectl does; a changed source is compared at once. */
    editApplication(key: ApplicationKey, change: (current: Application) => Application): Application | undefined {
      const before = store.get(key)
      const after = store.update(key, change)
      const managed = managedAt(key)
      const isNewSource =
        JSON.stringify([before?.spec.source, before?.spec.sources]) !==
        JSON.stringify([after?.spec.source, after?.spec.sources])
      if (managed && isNewSource) requestRefresh(managed, 3)
      return after
    },

    /** With its finalizer an application goes together with its resources; without, only the object goes. */
    async deleteApplication(key: ApplicationKey): Promise<void> {
      const managed = managedAt(key)
      const application = store.get(key)
      if (!managed || !application) return
      if (!application.metadata.finalizers?.includes(resourcesFinalizer)) return forget(managed)
      store.update(key, (current) => ({
        ...current,
        metadata: {
          ...current.metadata,
          deletionTimestamp: kubernetesTime(clock.now()),
          deletionGracePeriodSeconds: 0,
        },
      }))
      for (const { manifest } of managed.cluster.list()) managed.cluster.remove(manifestKey(manifest))
      requestRefresh(managed, 1)
      while (managed.cluster.list().length > 0 && !managed.isGone) {
        await nextChange(managed)
      }
      await untilIdle(managed)
      forget(managed)
    },

    /** What GET with `refresh` and the webhook do; on an application that already carries the annotation it changes nothing. */
    annotateRefresh(key: ApplicationKey, kind: 'normal' | 'hard'): Application | undefined {
      const after = store.update(key, (current) => ({
        ...current,
        metadata: withRefresh(current.metadata, kind, context.version),
      }))
      const managed = managedAt(key)
      // From 3.6 on a request that comes while another is under way is remembered.
      if (managed?.isRefreshing && context.version === '3.6') requestRefresh(managed, 3)
      return after
    },

    /** Resolves without the cache, as the API does before it writes the operation. */
    resolve: (spec: ApplicationSpec) => resolveRevisions(spec, context.lsRemote, 3),

    requestSync(
      key: ApplicationKey,
      request: { username: string; revisions: readonly string[]; prune: boolean; dryRun: boolean },
    ) {
      return requestOperation(key, (current) => manualOperation(current, request))
    },

    terminate(key: ApplicationKey): boolean {
      const managed = managedAt(key)
      const state = store.get(key)?.status.operationState
      if (!managed || !store.get(key)?.operation || state?.phase !== 'Running') return false
      store.update(key, (current) => ({
        ...current,
        status: {
          ...current.status,
          operationState: { ...state, phase: 'Terminating', message: 'operation is terminating.' },
        },
      }))
      managed.isTerminating = true
      wakeWaiters(managed)
      return true
    },

    managedAt,
    refreshNow: (key: ApplicationKey, level: RefreshLevel) => {
      const managed = managedAt(key)
      if (managed) requestRefresh(managed, level)
    },
    windowsOf: context.windowsOf,
    setSyncWindows: (project: string, list: readonly SyncWindow[]) => void windows.set(project, list),
    overridePods(key: ApplicationKey, override: PodOverride | undefined): void {
      if (override) podOverrides.set(keyOf(key), override)
      else podOverrides.delete(keyOf(key))
    },
    logOf: (key: ApplicationKey): readonly string[] | undefined => podOverrides.get(keyOf(key))?.says,

    /** What a person does to let the running operation delete what it waits for. */
    approvePruning(key: ApplicationKey): void {
      const approval = { [deletionApprovedAnnotation]: kubernetesTime(clock.now() + clockSkewMs) }
      store.update(key, (current) => ({
        ...current,
        metadata: { ...current.metadata, annotations: { ...current.metadata.annotations, ...approval } },
      }))
    },

    /** Ends the override, and Pods that wait for something outside of them get it: a node, a volume, a word. */
    releasePods(key: ApplicationKey): void {
      podOverrides.delete(keyOf(key))
      managedAt(key)?.cluster.releasePods()
    },
    setTimes(changes: Partial<SimulatorTimes>): void {
      times = { ...times, ...changes }
    },
    times: () => times,
    setClockSkew(ms: number): void {
      clockSkewMs = ms
    },
    truthOf(key: ApplicationKey): Promise<Truth | undefined> {
      const managed = managedAt(key)
      const application = store.get(key)
      return managed && application ? truthOf(context, managed, application) : Promise.resolve(undefined)
    },
    /** Every write since the start, in order. */
    eventLog: (): readonly { atMs: number; event: StoreEvent }[] => log,
    close(): void {
      isClosed = true
      for (const replica of replicas) replica.close()
      for (const managed of managedByUid.values()) forgetQuietly(managed)
    },
  }

  function requestOperation(key: ApplicationKey, make: (current: Application) => Operation): Application | undefined {
    return store.update(key, (current) => ({
      ...current,
      operation: make(current),
      status: { ...current.status, operationState: undefined },
    }))
  }

  function forgetQuietly(managed: ManagedApplication): void {
    managed.isGone = true
    managed.cluster.close()
    wakeWaiters(managed)
  }

  function forget(managed: ManagedApplication): void {
    forgetQuietly(managed)
    managedByUid.delete(managed.uid)
    store.remove(managed.key)
  }

  function untilIdle(managed: ManagedApplication): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (managed.isGone || isClosed || (!managed.isRefreshing && managed.wantedLevel === undefined)) resolve()
        else clock.setTimer(times.step[1] + 1, look)
      }
      requestRefresh(managed, 1)
      look()
    })
  }
}

function instanceName({ name, namespace }: ApplicationKey, controlPlaneNamespace: string): string {
  return namespace === controlPlaneNamespace ? name : `${namespace}_${name}`
}

function behaviourIn(override: PodOverride | undefined, image: string): PodBehaviour {
  return override && !override.except?.includes(image) ? override.newPods : behaviourByTag(image)
}

/** What a change of an object or of its health changes. */
function seenOf({ cluster }: ManagedApplication): string {
  const workloads = cluster
    .list()
    .map((workload) => [
      manifestKey(workload.manifest),
      workload.generation,
      workloadHealth(workload),
      workload.isDeleting,
    ])
  return JSON.stringify(workloads)
}
