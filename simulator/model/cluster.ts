import { imagesOf, type Manifest, manifestKey, sameManifest, sortedUnique } from './manifest.ts'
import { newPod, newPodName } from './new-pod.ts'
import type { Pod } from './pod.ts'
import { isWell, type PodBehaviour, worstOf } from './pod-behaviours.ts'
import { type ClusterDeps, createPodLife } from './pod-life.ts'
import { pickFrom, randomUuid } from './random.ts'
import { isRefused, noteRefusal, refusalOf } from './refused-pods.ts'
import { createRolloutController } from './rollout-controller.ts'
import { type AbortForm, freshRollout } from './rollout-state.ts'
import {
  currentSet,
  hasRollingPods,
  highestRevision,
  isRolledOut,
  type PodSet,
  podCounts,
  templateHash,
  type Workload,
} from './workload.ts'

export type Cluster = ReturnType<typeof createCluster>

export type RolloutDecision = 'promoted' | 'fully-promoted' | 'aborted' | 'retried' | { readonly aborted: AbortForm }

/** The destination of one application: its applied objects and the Pods that the cluster's controllers make of them. */
export function createCluster(deps: ClusterDeps) {
  const { clock, random, nextResourceVersion } = deps
  const workloads = new Map<string, Workload>()
  const deadlines = new Map<string, () => void>()
  const life = createPodLife({
    ...deps,
    onProgress: (workload) => progressed(workload),
    reconcile: (workload) => soon(workload),
  })

  const rollouts = createRolloutController({
    ...deps,
    startPod: (workload, hash) =>
      startPod(
        workload,
        workload.sets.find((set) => set.hash === hash),
      ),
    terminate: life.terminate,
    isAnalysisFailing: ({ manifest }) => behaviourOf(manifest) === 'analysis-fails',
    reconcile: (workload) => soon(workload),
    onChange: () => deps.onChange('workload'),
  })

  function soon(workload: Workload): void {
    clock.setTimer(pickFrom(random, deps.times().react), () => reconcile(workload))
  }

  function setFor(workload: Workload): PodSet {
    const known = currentSet(workload)
    if (known) return known
    const hash = templateHash(workload.manifest)
    const set: PodSet = {
      hash,
      template: workload.manifest,
      name: `${workload.manifest.name}-${hash}`,
      uid: randomUuid(random),
      revision: highestRevision(workload) + 1,
      createdAt: clock.now(),
      resourceVersion: nextResourceVersion(),
      refusal: undefined,
      refusedEvents: [],
    }
    workload.sets.push(set)
    return set
  }

  /** The worst behaviour of its images; while a claim has no volume, no Pod of the application finds a node. */
  function behaviourOf(manifest: Manifest): PodBehaviour {
    const isClaimPending = [...workloads.values()].some(
      (other) => other.isPending && other.manifest.kind === 'PersistentVolumeClaim',
    )
    return worstOf([...imagesOf(manifest).map(deps.behaviourOf), ...(isClaimPending ? ['claim-pending' as const] : [])])
  }

  function addPod(workload: Workload, set = setFor(workload), behaviour = behaviourOf(set.template)): Pod {
    const pod = newPod(deps, set.template, set, behaviour)
    workload.pods.push(pod)
    return pod
  }

  /** A Pod that has long been running; one that cannot run is still trying. */
  function settlePod(workload: Workload): Pod {
    const pod = addPod(workload)
    if (isWell(pod.behaviour)) life.settle(workload, pod)
    else life.start(workload, pod)
    return pod
  }

  /** Returns whether the API server admits a new Pod. */
  function startPod(workload: Workload, set = setFor(workload)): boolean {
    const behaviour = behaviourOf(set.template)
    const isAdmitted = !isRefused(behaviour)
    if (isAdmitted) {
      set.refusal = undefined
      life.start(workload, addPod(workload, set, behaviour))
    } else refuse(workload, set, behaviour)
    deps.onChange('pod')
    return isAdmitted
  }

  function refuse(workload: Workload, set: PodSet, behaviour: PodBehaviour): void {
    const { manifest } = workload
    const podName = newPodName(set, random)
    const message = refusalOf(behaviour, { podName, container: manifest.containers[0], because: deps.because() })
    const attempts = (set.refusal?.attempts ?? 0) + 1
    set.refusal = { message: set.refusal?.message ?? message, attempts }
    noteRefusal(set.refusedEvents, manifest, { podName, message }, clock.now())
    tryAgain(workload, set, attempts)
  }

  /** After a refusal, twice as late each time. */
  function tryAgain(workload: Workload, set: PodSet, attempts: number): void {
    clock.setTimer(deps.times().react[1] * 2 ** Math.min(attempts, 14), () => {
      if (set.refusal?.attempts !== attempts || workload.isDeleting || set !== setFor(workload)) return
      if (hasRollingPods(workload.manifest.kind)) reconcile(workload)
      else startPod(workload)
    })
  }

  /** One step of the workload's own controller: towards the wanted Pods, within the limits of its strategy. */
  function reconcile(workload: Workload): void {
    if (workload.isDeleting || workloads.get(manifestKey(workload.manifest)) !== workload) return
    const wasObserved = workload.observedGeneration === workload.generation
    workload.observedGeneration = workload.generation
    if (hasRollingPods(workload.manifest.kind)) rollOn(workload)
    if (!wasObserved) armDeadline(workload)
    if (isRolledOut(workload)) {
      disarmDeadline(workload)
      Object.assign(workload.rollout, { stableHash: templateHash(workload.manifest), pausedAtMs: undefined })
    }
    deps.onChange('workload')
  }

  function rollOn(workload: Workload): void {
    const { manifest } = workload
    if (manifest.kind === 'StatefulSet' || manifest.kind === 'DaemonSet') {
      replaceInPlace(workload)
      return
    }
    if (manifest.kind === 'Rollout' && !rollouts.goOn(workload)) return
    const hash = templateHash(manifest)
    const surge = Math.ceil(manifest.replicas * 0.25)
    const leastAvailable = manifest.replicas - Math.floor(manifest.replicas * 0.25)
    let { total, updated } = podCounts(workload)
    while (updated < manifest.replicas && total < manifest.replicas + surge) {
      if (!startPod(workload)) break
      updated++
      total++
    }
    trimNew(workload, hash)
    removeOld(workload, hash, leastAvailable)
  }

  function trimNew(workload: Workload, hash: string): void {
    const extra = workload.pods
      .filter((pod) => pod.hash === hash && !pod.isTerminating)
      .slice(workload.manifest.replicas)
    for (const pod of extra) life.terminate(workload, pod)
  }

  function removeOld(workload: Workload, hash: string, leastAvailable: number): void {
    const old = workload.pods.filter((pod) => pod.hash !== hash && !pod.isTerminating)
    for (const pod of old.filter(({ isReady }) => !isReady)) life.terminate(workload, pod)
    let { available } = podCounts(workload)
    for (const pod of old.filter(({ isReady }) => isReady)) {
      if (available <= leastAvailable) break
      life.terminate(workload, pod)
      available--
    }
  }

  /** StatefulSets and DaemonSets make room first: one Pod goes, then its successor comes. */
  function replaceInPlace(workload: Workload): void {
    const hash = templateHash(workload.manifest)
    const { replicas, updateStrategy } = workload.manifest
    while (workload.pods.length < replicas && startPod(workload));
    const alive = workload.pods.filter((pod) => !pod.isTerminating)
    for (const pod of alive.slice(replicas)) life.terminate(workload, pod)
    if (updateStrategy === 'OnDelete' || workload.pods.some((pod) => pod.isTerminating)) return
    const broken = alive.find((pod) => pod.hash !== hash && !pod.isReady)
    const next = broken ?? (alive.every((pod) => pod.isReady) ? alive.findLast((pod) => pod.hash !== hash) : undefined)
    if (next) life.terminate(workload, next)
  }

  function armDeadline(workload: Workload): void {
    const key = manifestKey(workload.manifest)
    deadlines.get(key)?.()
    workload.deadlineExceeded = false
    const seconds = workload.manifest.progressDeadlineSeconds
    const ms = seconds === undefined ? deps.times().progressDeadline : seconds * 1_000
    deadlines.set(
      key,
      clock.setTimer(ms, () => {
        const isWaiting = workload.rollout.pausedAtMs !== undefined || workload.rollout.abort !== undefined
        if (isRolledOut(workload) || isWaiting || workload.isDeleting) return
        workload.deadlineExceeded = true
        deps.onChange('workload')
      }),
    )
  }

  function disarmDeadline(workload: Workload): void {
    deadlines.get(manifestKey(workload.manifest))?.()
    workload.deadlineExceeded = false
  }

  /** Every Pod that becomes ready gives the rollout its full deadline again. */
  function progressed(workload: Workload): void {
    if (!isRolledOut(workload)) armDeadline(workload)
  }

  function create(manifest: Manifest): Workload {
    const workload: Workload = {
      manifest,
      uid: randomUuid(random),
      createdAt: clock.now(),
      resourceVersion: nextResourceVersion(),
      generation: 1,
      observedGeneration: 0,
      sets: [],
      pods: [],
      deadlineExceeded: false,
      isDeleting: false,
      isPending: manifest.pending,
      rollout: freshRollout(),
    }
    workloads.set(manifestKey(manifest), workload)
    return workload
  }

  function apply(manifest: Manifest): 'created' | 'configured' | 'unchanged' {
    const key = manifestKey(manifest)
    const known = workloads.get(key)
    if (known && sameManifest(known.manifest, manifest)) return 'unchanged'
    const workload = known ?? create(manifest)
    if (known) changeTemplate(known, manifest)
    deps.onChange('workload')
    const lag = manifest.kind === 'Widget' && known ? deps.times().customResourceLag : 0
    clock.setTimer(lag, () => soon(workload))
    if (manifest.kind === 'Job' && !known) startPod(workload)
    if (manifest.kind === 'CronJob') life.schedule(workload, () => runCronJob(key))
    return known ? 'configured' : 'created'
  }

  function changeTemplate(workload: Workload, manifest: Manifest): void {
    workload.manifest = manifest
    workload.isPending = manifest.pending
    workload.generation++
    workload.rollout = freshRollout(workload.rollout)
    const known = currentSet(workload)
    if (known) known.revision = Math.max(known.revision, highestRevision(workload, known) + 1)
    workload.deadlineExceeded = false
    workload.resourceVersion = nextResourceVersion()
  }

  function runCronJob(key: string): void {
    const workload = workloads.get(key)
    if (workload) startPod(workload)
  }

  function remove(key: string): void {
    const workload = workloads.get(key)
    if (!workload || workload.isDeleting) return
    workload.isDeleting = true
    disarmDeadline(workload)
    for (const pod of [...workload.pods]) life.terminate(workload, pod)
    deps.onChange('workload')
    const gone =
      workload.pods.length === 0 ? pickFrom(random, deps.times().react) : terminationOf(workload.manifest) + 1
    clock.setTimer(gone, () => {
      if (workloads.get(key) === workload) workloads.delete(key)
      deps.onChange('workload')
    })
  }

  function terminationOf(manifest: Manifest): number {
    return manifest.terminationSeconds === undefined ? deps.times().termination : manifest.terminationSeconds * 1_000
  }

  return {
    apply,
    remove,
    runCronJob,
    get: (key: string) => workloads.get(key),
    list: (): readonly Workload[] => [...workloads.values()],
    /** The state long after a rollout: what can run does, and nothing is under way. */
    settle(manifests: readonly Manifest[]): void {
      for (const manifest of manifests) {
        const workload = create(manifest)
        workload.observedGeneration = 1
        workload.rollout.stableHash = templateHash(manifest)
        if (hasRollingPods(manifest.kind)) while (workload.pods.length < manifest.replicas) settlePod(workload)
        if (manifest.kind === 'Job') settlePod(workload)
        if (manifest.kind === 'CronJob') life.schedule(workload, () => runCronJob(manifestKey(manifest)))
      }
    },
    /** What a person decides about a Rollout, or an analysis. */
    decideRollout(name: string, decision: RolloutDecision): void {
      for (const workload of workloads.values()) {
        if (workload.manifest.name !== name || workload.manifest.kind !== 'Rollout') continue
        if (decision === 'retried') rollouts.retry(workload)
        else if (decision === 'promoted' || decision === 'fully-promoted')
          rollouts.promote(workload, decision === 'fully-promoted')
        else rollouts.abort(workload, decision === 'aborted' ? 'person' : decision.aborted)
        armDeadline(workload)
        soon(workload)
        deps.onChange('workload')
      }
    },
    /** Pods that wait for something outside of them get it. */
    releasePods(): void {
      for (const workload of workloads.values()) life.release(workload)
    },
    /** An Ingress, a Service or a claim loses or gets what it waits for; with its volume the Pods start. */
    setPending(kind: string, name: string, isPending: boolean): void {
      for (const workload of workloads.values())
        if (workload.manifest.kind === kind && workload.manifest.name === name) workload.isPending = isPending
      if (kind === 'PersistentVolumeClaim' && !isPending)
        for (const workload of workloads.values()) life.release(workload, new Set(['claim-pending']))
      deps.onChange('workload')
    },
    /** Images of all Pods, whatever state they are in. */
    images: (): readonly string[] =>
      sortedUnique([...workloads.values()].flatMap(({ pods }) => pods.flatMap(imagesOf))),
    /** Images of Pods that serve: ready, or finished as they should. */
    runningImages: (): readonly string[] =>
      sortedUnique(
        [...workloads.values()].flatMap(({ pods }) =>
          pods.filter((pod) => !pod.isTerminating && (pod.isReady || pod.phase === 'Completed')).flatMap(imagesOf),
        ),
      ),
    isRolledOut: () => [...workloads.values()].every((workload) => isRolledOut(workload)),
    close(): void {
      for (const cancel of deadlines.values()) cancel()
      for (const workload of workloads.values()) workload.isDeleting = true
      workloads.clear()
    },
  }
}
