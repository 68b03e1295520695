import type { Clock } from './clock.ts'
import type { RolloutStep } from './manifest.ts'
import type { Pod } from './pod.ts'
import { type Random, randomUuid } from './random.ts'
import { type AbortForm, abortForms, failedAnalysis, freshRollout, invalidSpec } from './rollout-state.ts'
import type { SimulatorTimes } from './simulator-times.ts'
import { currentSet, podCounts, templateHash, type Workload } from './workload.ts'

type RolloutDeps = {
  clock: Clock
  random: Random
  times: () => SimulatorTimes
  startPod: (workload: Workload, hash: string) => boolean
  terminate: (workload: Workload, pod: Pod) => void
  /** Whether the analysis of this template fails. */
  isAnalysisFailing: (workload: Workload) => boolean
  reconcile: (workload: Workload) => void
  onChange: () => void
}

/** Argo Rollouts, with a traffic router: the stable Pods stay complete until the new template is promoted. */
export function createRolloutController(deps: RolloutDeps) {
  const { clock, random, times } = deps

  /** Goes through the steps as far as possible. Returns whether all are done, so that every Pod may be replaced. */
  function goOn(workload: Workload): boolean {
    const { manifest, rollout } = workload
    if (invalidSpec(manifest) !== undefined) return false
    if (rollout.abort !== undefined) {
      serveStable(workload)
      return false
    }
    if (rollout.stableHash === undefined || rollout.stableHash === templateHash(manifest)) return true
    watchInBackground(workload)
    while (rollout.step < manifest.steps.length) {
      const step = manifest.steps[rollout.step]
      if (step && !isDone(workload, step)) return false
      rollout.step++
      rollout.pausedAtMs = undefined
    }
    return !isHeldByAnalysis(workload)
  }

  function isDone(workload: Workload, step: RolloutStep): boolean {
    if ('setWeight' in step) return hasWeight(workload, step.setWeight)
    return 'pause' in step ? isPauseOver(workload, step.pause.duration) : isAnalysed(workload)
  }

  function hasWeight(workload: Workload, weight: number): boolean {
    const wanted = Math.ceil((workload.manifest.replicas * weight) / 100)
    const hash = templateHash(workload.manifest)
    for (let { updated } = podCounts(workload); updated < wanted; updated++) if (!deps.startPod(workload, hash)) break
    return podCounts(workload).updatedReady >= wanted
  }

  function isPauseOver(workload: Workload, seconds: number | undefined): boolean {
    const { rollout } = workload
    if (rollout.pausedAtMs === undefined) {
      rollout.pausedAtMs = clock.now()
      if (seconds !== undefined) clock.setTimer(seconds * 1_000, () => deps.reconcile(workload))
    }
    return seconds !== undefined && clock.now() >= rollout.pausedAtMs + seconds * 1_000
  }

  function isAnalysed(workload: Workload): boolean {
    const { rollout } = workload
    if (!rollout.isAnalysing) analyse(workload, 'step-analysis')
    return rollout.analysisRuns.at(-1)?.health.status === 'Healthy'
  }

  const hasBackgroundAnalysis = (workload: Workload) =>
    deps.isAnalysisFailing(workload) && !workload.manifest.steps.some((step) => 'analysis' in step)

  /** An analysis beside the steps begins as soon as a new Pod serves. */
  function watchInBackground(workload: Workload): void {
    if (workload.rollout.isAnalysing || !hasBackgroundAnalysis(workload)) return
    if (podCounts(workload).updatedReady > 0) analyse(workload, 'background-analysis')
  }

  /** An analysis that fails needs one new Pod, and ends before everything is replaced. */
  function isHeldByAnalysis(workload: Workload): boolean {
    if (!hasBackgroundAnalysis(workload)) return false
    hasWeight(workload, 1)
    return true
  }

  function analyse(workload: Workload, form: AbortForm): void {
    const { manifest, rollout } = workload
    const run = addRun(workload, form === 'step-analysis' ? `-${rollout.step}` : '')
    rollout.isAnalysing = true
    clock.setTimer(times().job, () => {
      if (workload.rollout !== rollout || workload.manifest !== manifest || rollout.abort !== undefined) return
      if (deps.isAnalysisFailing(workload)) return abort(workload, form)
      endRun(workload, run.name, { status: 'Healthy', message: 'Analysis run completed successfully' })
      deps.reconcile(workload)
    })
  }

  function addRun(workload: Workload, suffix: string) {
    const { manifest, rollout } = workload
    const name = `${manifest.name}-${templateHash(manifest)}-${currentSet(workload)?.revision ?? 1}${suffix}`
    const same = rollout.analysisRuns.filter((run) => run.name.startsWith(name)).length
    const run = {
      name: same === 0 ? name : `${name}.${same}`,
      uid: randomUuid(random),
      createdAt: clock.now(),
      health: { status: 'Progressing', message: 'Analysis run is running' },
    } as const
    rollout.analysisRuns = [...rollout.analysisRuns, run]
    return run
  }

  function endRun({ rollout }: Workload, name: string, health: typeof failedAnalysis): void {
    rollout.analysisRuns = rollout.analysisRuns.map((run) => (run.name === name ? { ...run, health } : run))
  }

  /** Where nothing is being updated there is nothing to abort. */
  function abort(workload: Workload, form: AbortForm): void {
    const { rollout } = workload
    if (rollout.stableHash === templateHash(workload.manifest)) return
    if (form !== 'person') {
      if (!rollout.isAnalysing) addRun(workload, '')
      endRun(workload, rollout.analysisRuns.at(-1)?.name ?? '', failedAnalysis)
    }
    rollout.abort = abortForms[form](currentSet(workload)?.revision ?? 1)
    rollout.pausedAtMs = undefined
    deps.reconcile(workload)
    deps.onChange()
  }

  /** The new Pods go, and the stable ones are complete again. */
  function serveStable(workload: Workload): void {
    const { manifest, rollout } = workload
    const { stableHash } = rollout
    const alive = workload.pods.filter((pod) => !pod.isTerminating)
    if (stableHash === undefined) return
    for (const pod of alive) if (pod.hash !== stableHash) deps.terminate(workload, pod)
    const missing = manifest.replicas - alive.filter(({ hash }) => hash === stableHash).length
    for (let count = 0; count < missing; count++) if (!deps.startPod(workload, stableHash)) break
  }

  /** From a pause to the next step; else, or `isFull`, past all of them. */
  function promote({ rollout, manifest }: Workload, isFull: boolean): void {
    const isPaused = rollout.pausedAtMs !== undefined
    Object.assign(rollout, {
      step: isPaused && !isFull ? rollout.step + 1 : manifest.steps.length,
      pausedAtMs: undefined,
      abort: undefined,
    })
  }

  function retry(workload: Workload): void {
    workload.rollout = freshRollout(workload.rollout)
  }

  return { goOn, abort, promote, retry }
}
