import { setTimeout as delay } from 'node:timers/promises'
import { pollUntilDeployed } from '../support/fifteen-second-poller.ts'
import { followVerdicts } from '../support/follow-verdicts.ts'
import { openTaskStreams } from '../support/open-task-streams.ts'
import type { BenchWorld } from '../support/start-bench-world.ts'
import { waitForEnd, waitingAgent } from '../support/wait-for-end.ts'

const pollIntervalMs = 15_000
/** Setting up thousands of rollouts at once keeps the machine busy for a while after the last of them waits. */
const settlesMsEach = 3
const imageOf = (app: string, tag: string) => `registry.example/${app}:${tag}`

export type Latencies = {
  /** Milliseconds from the write that made each application complete to whoever heard of it. */
  readonly wait: readonly number[]
  readonly stream: readonly number[]
  /** p99 of how late the simulator's event loop was meanwhile. */
  readonly simulatorDelayMs: number
}

export type Stage = {
  readonly world: BenchWorld
  readonly tag: string
  /** All that have an unfinished task; the first `measured` of them end, `apartMs` after one another. */
  readonly apps: readonly string[]
  readonly measured: number
  readonly apartMs: number
  /**
   * `committed`: by the service, before Pods that are held; `announced`: by somebody else, the same; `noticed`: by somebody
   * else, after the tasks came, and each application is rolled out as soon as Argo CD notices.
   */
  readonly kind: 'committed' | 'announced' | 'noticed'
  /** Repository of what somebody else commits. */
  readonly repository?: string
  /** How many task streams are open. */
  readonly taskStreams?: number
  /** Called with the place of each that is released. */
  onRelease?(at: number): Promise<unknown>
}

/** Lets tasks pile up before held Pods, or before a commit, releases some of them, and measures how soon their end is known. */
export async function measureStage(stage: Stage): Promise<Latencies> {
  const { world, apps, taskStreams = 0 } = stage
  const { installation, service } = world
  await using verdicts = await followVerdicts(service.url)
  const ids = await submitTasks(stage)
  const ending = apps.slice(0, stage.measured)
  await using _streams = await openTaskStreams(service.url, ids.slice(0, taskStreams))
  const agent = waitingAgent()
  // Pipelines wait from when their task is accepted, not all from the moment that the first rollout ends.
  const knownAtMs = Promise.all(ending.map((_, at) => waitForEnd(service.url, ids[at] ?? '', agent)))
  knownAtMs.catch(() => {}) // awaited below
  await untilReleasable(stage)
  await installation.resetLoopDelay()
  await releaseInTurn(stage, ending)
  const waited = await knownAtMs
  const simulatorDelayMs = await installation.loopDelayMs()
  await agent.close()
  const completed = await installation.completions(ending)
  const arrived = await untilArrived(verdicts, ids.slice(0, ending.length))
  return {
    wait: waited.map((atMs, at) => atMs - (completed[at] ?? Number.NaN)),
    stream: arrived.map((atMs, at) => atMs - (completed[at] ?? Number.NaN)),
    simulatorDelayMs,
  }
}

/** @returns the ids of the tasks, which wait for what the stage releases */
async function submitTasks({ world, tag, apps, kind, repository = '' }: Stage): Promise<readonly string[]> {
  const { installation } = world
  if (kind === 'noticed') await installation.expectRollout(apps, tag)
  else await installation.hold(apps, tag)
  if (kind === 'announced') await installation.commitTags(apps, repository, tag)
  return kind === 'committed' ? world.deploy(apps, tag) : world.announce(apps, tag)
}

async function untilReleasable({ world: { installation }, tag, apps, kind, repository = '' }: Stage): Promise<void> {
  if (kind !== 'noticed') await installation.untilWaiting(apps)
  await delay(settlesMsEach * apps.length)
  if (kind === 'noticed') await installation.commitTags(apps, repository, tag)
}

async function releaseInTurn({ world, kind, apartMs, onRelease }: Stage, apps: readonly string[]): Promise<void> {
  const { installation } = world
  const startMs = performance.now()
  for (const [at, app] of apps.entries()) {
    await delay(Math.max(0, startMs + at * apartMs - performance.now()))
    await (kind === 'noticed' ? installation.notice([app]) : installation.release([app]))
    await onRelease?.(at)
  }
}

/** The stream may be behind the waiting requests by a moment. */
async function untilArrived(
  verdicts: Awaited<ReturnType<typeof followVerdicts>>,
  ids: readonly string[],
): Promise<readonly number[]> {
  for (const limit = performance.now() + 10_000; ; await delay(20)) {
    const arrived = ids.map(verdicts.arrivedAtMs)
    if (!arrived.some(Number.isNaN)) return arrived
    if (performance.now() > limit) throw new Error('verdicts are missing in the stream', { cause: verdicts.failure() })
  }
}

/** Ends what still waits, so that the next stage starts from nothing. */
export async function endTheRest({ world, apps, measured }: Stage): Promise<void> {
  await world.installation.release(apps.slice(measured))
  while ((await world.metric('in_progress_tasks')) > 0) await delay(100)
}

/** Pollers of applications of their own, one each. */
export async function startPollers({ installation, argo }: BenchWorld, apps: readonly string[], tag: string) {
  await installation.hold(apps, tag)
  await installation.commitTags(apps, 'polled-0', tag)
  const knownAtMs = Promise.all(
    apps.map(async (app, at) => {
      await delay(((at * 0.618) % 1) * pollIntervalMs) // evenly spread, in no step with the order of the ends
      return pollUntilDeployed(argo, app, imageOf(app, tag))
    }),
  )
  knownAtMs.catch(() => {}) // awaited by whoever asks for the latencies
  await installation.untilWaiting(apps)
  await delay(1_000)
  return {
    release: (at: number) => installation.release(apps.slice(at, at + 1)),
    async latencies(): Promise<readonly number[]> {
      const known = await knownAtMs
      const completed = await installation.completions(apps)
      return known.map((atMs, at) => atMs - (completed[at] ?? Number.NaN))
    },
  }
}
