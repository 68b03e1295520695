import type { Clock } from './clock.ts'
import { noteEvent } from './noted-event.ts'
import { phaseEvents } from './phase-words.ts'
import { isFinished, type Pod, type PodPhase } from './pod.ts'
import { type PodBehaviour, waitingBehaviours } from './pod-behaviours.ts'
import { delayOf, type Moment, type Story, storyOf } from './pod-stories.ts'
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
  /** Words of the test in place of the usual reason why Pods do not run. */
  because: () => string | undefined
  onChange: (change: ClusterChange) => void
}

type PodLifeDeps = ClusterDeps & { onProgress: (workload: Workload) => void; reconcile: (workload: Workload) => void }

/** What happens to one Pod between its creation and its end. */
export function createPodLife(deps: PodLifeDeps) {
  const { clock, random, times } = deps

  function start(workload: Workload, pod: Pod): void {
    play(workload, pod, storyOf(pod), 0, pickFrom(random, times().podReady))
  }

  /** It became ready long ago. */
  function settle(workload: Workload, pod: Pod): void {
    changePod(pod, { after: 0, phase: 'Running', isReady: true }, clock.now())
    if (workload.manifest.kind === 'Job') changePod(pod, { after: 0, phase: 'Completed' }, clock.now())
  }

  /** One moment after the other, until the Pod goes or behaves differently. */
  function play(workload: Workload, pod: Pod, story: Story, index: number, startUp: number): void {
    const moment = story.moments[index]
    if (!moment) return
    const { behaviour } = pod
    const delay = delayOf(moment.after, pod, startUp, clock.now(), times())
    clock.setTimer(delay, () => {
      if (pod.isTerminating || !workload.pods.includes(pod) || pod.behaviour !== behaviour) return
      become(workload, pod, moment)
      const isLast = index + 1 === story.moments.length
      play(workload, pod, story, isLast ? (story.repeatsFrom ?? index + 1) : index + 1, startUp)
    })
  }

  function become(workload: Workload, pod: Pod, moment: Moment): void {
    const wasReady = pod.isReady
    const before = visibleState(pod)
    changePod(pod, moment, clock.now())
    if (visibleState(pod) === before) return
    pod.resourceVersion = deps.nextResourceVersion()
    if (pod.isReady && !wasReady) deps.onProgress(workload)
    deps.onChange('pod')
    deps.reconcile(workload)
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

  /** What the Pods have waited for is there: held ones become ready now, the others start. */
  function release(workload: Workload, behaviours: ReadonlySet<PodBehaviour> = waitingBehaviours): void {
    for (const pod of workload.pods.filter(({ behaviour }) => behaviours.has(behaviour))) {
      const isHeld = pod.behaviour === 'held'
      pod.behaviour = 'runs'
      if (pod.isInitializing) become(workload, pod, { after: 0, phase: 'PodInitializing', isInitialized: true })
      if (pod.phase === 'Pending') become(workload, pod, { after: 0, phase: 'ContainerCreating' })
      if (isHeld) become(workload, pod, { after: 0, phase: 'Running', isReady: true })
      else start(workload, pod)
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

  return { start, settle, terminate, schedule, release }
}

const endPhases: ReadonlySet<PodPhase> = new Set(['Error', 'OOMKilled', 'Completed'])

function changePod(pod: Pod, moment: Moment, nowMs: number): void {
  const { phase = pod.phase, ends } = moment
  const isSameRun = phase === 'Running' && pod.phase === 'Running' && !ends
  if (pod.phase === 'Pending' && phase !== 'Pending') noteEvent(pod.events, scheduled(pod), nowMs)
  const shown = ends && { startedAtMs: pod.startedAtMs, finishedAtMs: nowMs, ...ends }
  if (phase !== pod.phase || ends) Object.assign(pod, endsAfter(pod, phase, shown))
  if (phase === 'Running' && !isSameRun) pod.startedAtMs = nowMs
  if (phase === 'CrashLoopBackOff') pod.backOffs++
  if (moment.isRestart) pod.restarts++
  if (moment.isInitialized || (moment.isReady && pod.isInitializing))
    Object.assign(pod, { isInitializing: false, container: pod.containers[0] ?? pod.container })
  pod.isReady = moment.isReady ?? false
  pod.phase = phase
  const own = moment.phase === undefined || isSameRun ? [] : phaseEvents(pod)
  for (const words of [...own, ...(moment.events?.(pod) ?? [])]) noteEvent(pod.events, words, nowMs)
}

/** The end of a run is shown by its phase at first, and is the last one as soon as another phase begins. */
function endsAfter({ ended, lastEnded }: Pod, phase: PodPhase, shown: Pod['ended']): Pick<Pod, 'ended' | 'lastEnded'> {
  if (endPhases.has(phase)) return { ended: shown ?? ended, lastEnded }
  return { ended: undefined, lastEnded: shown ?? ended ?? lastEnded }
}

export function scheduled({ name, namespace }: Pick<Pod, 'name' | 'namespace'>) {
  return {
    type: 'Normal',
    reason: 'Scheduled',
    message: `Successfully assigned ${namespace}/${name} to fake-node-1`,
    by: 'default-scheduler',
    action: 'Binding',
  } as const
}

const visibleState = ({ phase, isReady, restarts, isInitializing, ended }: Pod) =>
  JSON.stringify([phase, isReady, restarts, isInitializing, ended])
