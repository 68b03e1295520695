import { type EventWords, kubeletEvent } from './noted-event.ts'
import type { EndedRun, Pod, PodPhase } from './pod.ts'
import type { PodBehaviour } from './pod-behaviours.ts'
import type { SimulatorTimes } from './simulator-times.ts'

/**
 * The time before a moment: a share of the Pod's start-up, or of the shortest start-up; one of the simulator's times; or
 * what is left of a time that began with the Pod.
 */
export type Delay =
  | number
  | { readonly ofLeast: number }
  | { readonly time: 'crashRun' | 'probePeriod' | 'job' | 'backOff' }
  | { readonly sinceCreation: 'latePull' | 'slowStart' }

/** One change in the life of a Pod. The phase stays if none is named; the Pod is ready only in moments that say so. */
export type Moment = {
  readonly after: Delay
  readonly phase?: PodPhase
  readonly isReady?: true
  /** The container's run is over. */
  readonly ends?: Pick<EndedRun, 'exitCode' | 'reason'>
  readonly isRestart?: true
  /** The init containers are done. */
  readonly isInitialized?: true
  readonly events?: (pod: Pod) => readonly EventWords[]
}

/** The moments of a Pod in their order; from `repeatsFrom` on they come again and again. */
export type Story = { readonly moments: readonly Moment[]; readonly repeatsFrom?: number }

const failure = { exitCode: 1, reason: 'Error' } as const
const killed = { exitCode: 137, reason: 'Error' } as const
const outOfMemory = { exitCode: 137, reason: 'OOMKilled' } as const
const cannotStart = { exitCode: 128, reason: 'StartError' } as const

const runs = (after: Delay): Moment => ({ after, phase: 'Running' })
const ready = (after: Delay): Moment => ({ after, phase: 'Running', isReady: true })
const backsOff = (after: Delay): Moment => ({ after, phase: 'CrashLoopBackOff', isRestart: true })
const crash = (after: Delay): readonly Moment[] => [{ after, phase: 'Error', ends: failure }, backsOff(1)]
const afterBackOff = { time: 'backOff' } as const
const untilCrash = { time: 'crashRun' } as const
const nextProbe = { time: 'probePeriod' } as const

const unhealthy = (probe: string, message: string) => (pod: Pod) => [
  kubeletEvent(pod, 'Warning', 'Unhealthy', `${probe} probe failed: ${pod.because ?? message}`),
]
const notReady = unhealthy('Readiness', 'HTTP probe failed with statuscode: 503')
const notAlive = unhealthy('Liveness', 'HTTP probe failed with statuscode: 503')
const killing = (pod: Pod) => [
  kubeletEvent(pod, 'Normal', 'Killing', `Container ${pod.container.name} failed liveness probe, will be restarted`),
]
const probesFail: readonly Moment[] = [
  { after: nextProbe, events: notAlive },
  { after: nextProbe, events: notAlive },
  { after: nextProbe, events: (pod) => [...notAlive(pod), ...killing(pod)] },
]
/** The first restarts of a killed container come without a back-off. */
const restartsImmediately: Moment = { after: 0.2, phase: 'Running', ends: killed, isRestart: true }

const unschedulable =
  (message: string) =>
  (pod: Pod): readonly EventWords[] => [
    {
      type: 'Warning',
      reason: 'FailedScheduling',
      message: pod.because ?? message,
      by: 'default-scheduler',
      action: 'Scheduling',
    },
  ]
const noCpu =
  '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.'
const unboundClaim = '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found'

const noVolume =
  (reason: string, message: string, by: EventWords['by']) =>
  (pod: Pod): readonly EventWords[] => [{ type: 'Warning', reason, message: pod.because ?? message, by }]
const notMounted = noVolume(
  'FailedMount',
  'MountVolume.SetUp failed for volume "files" : configmap "shop-files-v2" not found',
  'kubelet',
)
const notAttached = noVolume(
  'FailedAttachVolume',
  'AttachVolume.Attach failed for volume "pvc-5d1c9a52" : rpc error: code = Internal desc = Could not attach volume "vol-0a1b2c3d" to node "fake-node-1": volume is attached to another node',
  'attachdetach-controller',
)

/** Nothing changes, but each attempt notes the same again. */
const keepsSaying = (events: NonNullable<Moment['events']>): Story => ({
  moments: [
    { after: 0.1, events },
    { after: nextProbe, events },
  ],
  repeatsFrom: 1,
})

const well: Story = { moments: [ready(1)] }

/** The moments of each behaviour, as a real Argo CD showed them. */
const stories: Readonly<Record<PodBehaviour, Story>> = {
  runs: well,
  fails: well,
  'analysis-fails': well,
  'quota-exceeded': well,
  'pod-security-violation': well,
  'webhook-denial': well,
  unschedulable: keepsSaying(unschedulable(noCpu)),
  'claim-pending': { moments: [{ after: 0.1, events: unschedulable(unboundClaim) }] },
  'volume-missing': keepsSaying(notMounted),
  'volume-attach-error': keepsSaying(notAttached),
  'invalid-image-name': { moments: [{ after: 0.1, phase: 'InvalidImageName' }] },
  'config-error': { moments: [{ after: 0.3, phase: 'CreateContainerConfigError' }] },
  'create-container-error': {
    moments: [
      { after: 0.3, phase: 'CreateContainerError' },
      { after: nextProbe, phase: 'CreateContainerError' },
    ],
    repeatsFrom: 1,
  },
  'run-container-error': {
    moments: [
      { after: 0.3, phase: 'RunContainerError', ends: cannotStart },
      backsOff(1),
      { after: afterBackOff, phase: 'RunContainerError', ends: cannotStart },
    ],
    repeatsFrom: 1,
  },
  'image-pull-error': {
    moments: [
      { after: 0.3, phase: 'ErrImagePull' },
      { after: 0.3, phase: 'ImagePullBackOff' },
    ],
  },
  'pulled-late': {
    moments: [
      { after: 0.3, phase: 'ErrImagePull' },
      { after: 0.3, phase: 'ImagePullBackOff' },
      ready({ sinceCreation: 'latePull' }),
    ],
  },
  'init-waits': { moments: [runs(0.3)] },
  'init-crashes': { moments: [runs(0.3), ...crash(0.3), runs(afterBackOff)], repeatsFrom: 1 },
  'initializes-slowly': {
    moments: [
      runs(0.3),
      { after: 1, phase: 'PodInitializing', isInitialized: true },
      ready({ sinceCreation: 'slowStart' }),
    ],
  },
  crashes: { moments: [{ after: 0.5, phase: 'CrashLoopBackOff', isRestart: true, ends: failure }] },
  'crashes-again': { moments: [runs(0.3), ...crash(untilCrash), runs(afterBackOff)], repeatsFrom: 1 },
  'oom-killed': {
    moments: [runs(0.3), { after: 1, phase: 'OOMKilled', ends: outOfMemory }, backsOff(1), runs(afterBackOff)],
    repeatsFrom: 1,
  },
  'liveness-killed': {
    moments: [
      ...[runs(0.3), ...probesFail, restartsImmediately, ...probesFail, restartsImmediately],
      ...([
        ...probesFail,
        { after: 0.2, phase: 'Error', ends: killed },
        backsOff(1),
        runs(afterBackOff),
      ] satisfies Moment[]),
    ],
    repeatsFrom: 9,
  },
  /** Ready for half a start-up, then in back-off for seven halves: never two Pods ready at the same time. */
  flaps: {
    moments: [
      ready(1),
      { after: { ofLeast: 0.5 }, phase: 'CrashLoopBackOff', isRestart: true, ends: failure },
      ready({ ofLeast: 3.5 }),
    ],
    repeatsFrom: 1,
  },
  'crashes-thrice': {
    moments: [
      ...[runs(0.3), ...crash(1), runs(afterBackOff), ...crash(1), runs(afterBackOff), ...crash(1)],
      ...[runs(afterBackOff), ready(1)],
    ],
  },
  'never-ready': { moments: [runs(0.5), { after: nextProbe, events: notReady }], repeatsFrom: 1 },
  'starts-slowly': {
    moments: [runs(0.3), { after: nextProbe, events: notReady }, ready({ sinceCreation: 'slowStart' })],
  },
  held: { moments: [runs(0.5)] },
}

const ends = (phase: PodPhase, how: NonNullable<Moment['ends']>): Moment => ({
  after: { time: 'job' },
  phase,
  ends: how,
})
const completes = ends('Completed', { exitCode: 0, reason: 'Completed' })
const endsAs = (moment: Moment): Story => ({ moments: [runs(0.3), moment] })

/** Of the Pods of Jobs, which are not restarted. */
const jobStories: Readonly<Partial<Record<PodBehaviour, Story>>> = {
  fails: endsAs(ends('Error', failure)),
  'crashes-again': endsAs(ends('Error', failure)),
  'crashes-thrice': endsAs(ends('Error', failure)),
  'liveness-killed': endsAs(ends('Error', killed)),
  'oom-killed': endsAs(ends('OOMKilled', outOfMemory)),
}

/** Where another Pod becomes ready, that of a Job does its work. */
const asJob = ({ moments }: Story): Story => ({
  moments: moments.flatMap((moment) => (moment.isReady ? [runs(moment.after), completes] : [moment])),
})

export function storyOf({ behaviour, restartPolicy }: Pick<Pod, 'behaviour' | 'restartPolicy'>): Story {
  const story = stories[behaviour]
  if (restartPolicy === 'Always') return story
  if (story === well) return jobStories[behaviour] ?? endsAs(completes)
  return jobStories[behaviour] ?? (story.repeatsFrom === undefined ? asJob(story) : story)
}

/** Milliseconds before a moment; `startUp` is how long this Pod takes to become ready. */
export function delayOf(after: Delay, pod: Pod, startUp: number, nowMs: number, times: SimulatorTimes): number {
  if (typeof after === 'number') return after * startUp
  if ('ofLeast' in after) return after.ofLeast * times.podReady[0]
  if ('sinceCreation' in after) return pod.createdAt + times[after.sinceCreation] + startUp - nowMs
  if (after.time !== 'backOff') return times[after.time]
  return times.backOff * Math.min(2 ** (Math.max(1, pod.backOffs) - 1), 30)
}
