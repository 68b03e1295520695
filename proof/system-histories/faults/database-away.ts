import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Fault } from './fault.ts'
import { deployment, startFaultWorld, submitUntilAccepted, trySubmit, untilAllEnded } from './fault-world.ts'

const probesPerSecond = 10
const applications = ['one', 'two', 'three', 'four']

/** F3: PostgreSQL is away for a minute while rollouts go on. */
export const databaseAway: Fault = async ({ seconds = 60 }) => {
  await using world = await startFaultWorld({ applications, times: { podReady: [5_000, 6_000] } })
  for (const [at, app] of applications.entries())
    await submitUntilAccepted(world, deployment(app, 'v1'), randomUUID(), at)
  const pids = world.running.map((replica) => replica.pid())
  await world.killDatabase()
  const latenciesMs: number[] = []
  const wrong: string[] = []
  const probe = async (at: number) => {
    const replica = world.replica(at)
    const began = performance.now()
    const [expected, answer] =
      at % 3 === 0
        ? [200, await replica.request('/livez')]
        : at % 3 === 1
          ? [503, await replica.request('/api/v1/tasks')]
          : [503, await trySubmit(replica, deployment('one', 'v2'), randomUUID())]
    latenciesMs.push(performance.now() - began)
    if (answer?.status !== expected) wrong.push(`${answer?.status} in place of ${expected}`)
  }
  const probes: Promise<void>[] = []
  for (let at = 0; at < seconds * probesPerSecond; at += 1) {
    probes.push(probe(at))
    await delay(1_000 / probesPerSecond)
  }
  await Promise.all(probes)
  await world.startDatabase()
  const backMs = performance.now()
  const left = await untilAllEnded(world, 60_000)
  const endedSeconds = (performance.now() - backMs) / 1_000
  const restarts = world.running.filter((replica, at) => !replica.isRunning() || replica.pid() !== pids[at]).length
  const p99Ms = latenciesMs.toSorted((a, b) => a - b)[Math.ceil(latenciesMs.length * 0.99) - 1] ?? Number.NaN
  return {
    figure: `${latenciesMs.length} probes, p99 ${Math.round(p99Ms)} ms, ${wrong.length} wrong answers${wrong[0] ? ` (${wrong[0]})` : ''}, ${restarts} restarts, ${left} unfinished, all ended ${endedSeconds.toFixed(1)} s after`,
    bar: 'p99 <= 2500 ms, 0 wrong, 0 restarts, <= 20 s',
    isMet: p99Ms <= 2_500 && wrong.length === 0 && restarts === 0 && left === 0 && endedSeconds <= 20,
  }
}
