import type { Clock } from './clock.ts'
import { isFinished, type Pod, type PodBehaviour } from './pod.ts'
import { pickFrom, type Random } from './random.ts'
import type { SimulatorTimes } from './simulator-times.ts'
import type { Workload } from './workload.ts'

/** `workload`: an applied object or its health changed; `pod`: only Pods came, went or changed. */
type ClusterChange = 'workload' | 'pod'

export type ClusterDeps = {
  clock: Clock
  random: Random
  times: () => SimulatorTimes
  nextResourceVersion: () => string
  behaviourOf: (image: string) => PodBehaviour
  onChange: (change: ClusterChange) => void
}

type PodLifeDeps = ClusterDeps & { onProgress: (workload: Workload) => void; reconcile: (workload: Workload) => void }

/** What happens to one Pod between its creation and its end. */
export function createPodLife(deps: PodLifeDeps) {
  const { clock, random, times } = deps

  function change(workload: Workload, pod: Pod, changes: Partial<Pick<Pod, 'phase' | 'isReady' | 'restarts'>>): void {
    if (pod.isTerminating || !workload.pods.includes(pod)) return
    const becameReady = changes.isReady === true && !pod.isReady
    Object.assign(pod, changes, { resourceVersion: deps.nextResourceVersion() })
    if (becameReady) deps.onProgress(workload)
    deps.onChange('pod')
    deps.reconcile(workload)
  }

  function isOneShot(workload: Workload): boolean {
    return workload.manifest.kind === 'Job' || workload.manifest.kind === 'CronJob'
  }

  function start(workload: Workload, pod: Pod): void {
    const startUp = pickFrom(random, times().podReady)
    const after = (ms: number, changes: Parameters<typeof change>[2]) =>
      clock.setTimer(ms, () => change(workload, pod, changes))
    switch (pod.behaviour) {
      case 'image-pull-error':
        after(startUp * 0.3, { phase: 'ErrImagePull' })
        after(startUp * 0.6, { phase: 'ImagePullBackOff' })
        return
      case 'pulled-late':
        after(startUp * 0.3, { phase: 'ErrImagePull' })
        after(startUp * 0.6, { phase: 'ImagePullBackOff' })
        clock.setTimer(times().latePull, () => runWell(workload, pod, startUp))
        return
      case 'invalid-image-name':
        after(startUp * 0.1, { phase: 'InvalidImageName' })
        return
      case 'config-error':
        after(startUp * 0.3, { phase: 'CreateContainerConfigError' })
        return
      case 'crashes':
        after(startUp * 0.5, { phase: 'CrashLoopBackOff', restarts: 1 })
        return
      case 'flaps':
        clock.setTimer(startUp, () => flap(workload, pod))
        return
      case 'never-ready':
      case 'held':
        after(startUp * 0.5, { phase: 'Running' })
        return
      default:
        runWell(workload, pod, startUp)
    }
  }

  function runWell(workload: Workload, pod: Pod, startUp: number): void {
    if (!isOneShot(workload)) {
      clock.setTimer(startUp, () => change(workload, pod, { phase: 'Running', isReady: true }))
      return
    }
    const end = pod.behaviour === 'fails' ? 'Error' : 'Completed'
    clock.setTimer(startUp * 0.3, () => change(workload, pod, { phase: 'Running' }))
    clock.setTimer(startUp * 0.3 + times().job, () => change(workload, pod, { phase: end, isReady: false }))
  }

  /** Ready for half a start-up time, then in back-off for seven halves, and so on: never two Pods ready at once. */
  function flap(workload: Workload, pod: Pod): void {
    if (pod.isTerminating || !workload.pods.includes(pod)) return
    const [startUp] = times().podReady
    change(workload, pod, { phase: 'Running', isReady: true })
    clock.setTimer(startUp * 0.5, () =>
      change(workload, pod, { phase: 'CrashLoopBackOff', isReady: false, restarts: pod.restarts + 1 }),
    )
    clock.setTimer(startUp * 4, () => flap(workload, pod))
  }

  function terminate(workload: Workload, pod: Pod): void {
    if (pod.isTerminating) return
    pod.isTerminating = true
    deps.onChange('pod')
    const { terminationSeconds } = workload.manifest
    const grace = terminationSeconds === undefined ? times().termination : terminationSeconds * 1_000
    clock.setTimer(isFinished(pod) ? 0 : grace, () => {
      workload.pods = workload.pods.filter((other) => other !== pod)
      deps.onChange('pod')
      deps.reconcile(workload)
    })
  }

  /** Lets Pods that were held become ready, those of today and those that are still starting. */
  function release(workload: Workload): void {
    for (const pod of workload.pods.filter(({ behaviour }) => behaviour === 'held')) {
      pod.behaviour = 'runs'
      change(workload, pod, { phase: 'Running', isReady: true })
    }
  }

  /** Only `* * * * *` runs by itself; any other schedule waits to be run by hand. */
  function schedule(workload: Workload, run: () => void): void {
    const { manifest } = workload
    if (manifest.schedule !== '* * * * *') return
    clock.setTimer(60_000 - (clock.now() % 60_000), () => {
      if (workload.isDeleting || workload.manifest !== manifest) return
      run()
      schedule(workload, run)
    })
  }

  return { start, terminate, schedule, release }
}
