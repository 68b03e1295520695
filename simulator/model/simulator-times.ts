import type { Range } from './random.ts'

/** How long the simulated world takes, in milliseconds. */
export type SimulatorTimes = {
  /** Period of the comparison without a request, and what is added to it at random. */
  poll: number
  pollJitter: number
  /** Resolving and rendering a commit. */
  refresh: Range
  /** A comparison that needs no new manifests. */
  compare: Range
  /** From the start of an operation to the applied manifests. */
  sync: Range
  /** Between two waves or phases of one operation. */
  wave: number
  /** Between two writes of one worker. */
  step: Range
  /** A controller of the cluster noticing a change. */
  react: Range
  podReady: Range
  /** How much later an image comes that the registry did not have at first. */
  latePull: number
  /** How long a container that starts slowly takes. */
  slowStart: number
  /** How long a container runs that crashes again and again. */
  crashRun: number
  /** How long the kubelet waits after the first crash; then twice as long each time, up to thirty times. */
  backOff: number
  /** Between two probes of a container. */
  probePeriod: number
  termination: number
  job: number
  progressDeadline: number
  /** How long the operator of a custom resource takes to notice a change. */
  customResourceLag: number
  /** How long the live state that comparisons read may lag behind the cluster. */
  liveCacheLag: number
  informerLag: Range
  lsRemoteCache: number
  repositoryErrorGrace: number
  retryBackoff: number
  keepalive: number
}

export const demoTimes: SimulatorTimes = {
  poll: 120_000,
  pollJitter: 60_000,
  refresh: [300, 600],
  compare: [15, 40],
  sync: [300, 600],
  wave: 2_000,
  step: [3, 20],
  react: [5, 30],
  podReady: [800, 1_300],
  latePull: 150_000,
  slowStart: 100_000,
  crashRun: 30_000,
  backOff: 10_000,
  probePeriod: 10_000,
  termination: 3_000,
  job: 2_000,
  progressDeadline: 600_000,
  customResourceLag: 3_000,
  liveCacheLag: 60,
  informerLag: [10, 30],
  lsRemoteCache: 120_000,
  repositoryErrorGrace: 180_000,
  retryBackoff: 5_000,
  keepalive: 15_000,
}

/** For tests on the wall clock: a rollout takes well under a second. */
export const fastTimes: SimulatorTimes = {
  ...demoTimes,
  refresh: [20, 40],
  compare: [2, 6],
  sync: [30, 60],
  wave: 30,
  step: [1, 4],
  react: [1, 5],
  podReady: [60, 120],
  latePull: 2_000,
  slowStart: 1_500,
  crashRun: 300,
  backOff: 100,
  probePeriod: 100,
  termination: 80,
  job: 60,
  customResourceLag: 100,
  liveCacheLag: 15,
  informerLag: [1, 4],
  retryBackoff: 50,
}
