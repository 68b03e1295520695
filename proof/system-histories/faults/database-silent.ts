import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Fault } from './fault.ts'
import { deployment, startFaultWorld, submitUntilAccepted, untilAllEnded } from './fault-world.ts'

/** F4: all lines of a replica to PostgreSQL swallow what is sent, and nobody is told; new lines work. */
export const databaseSilent: Fault = async ({ times = 5 }) => {
  await using world = await startFaultWorld({ applications: ['shop'] })
  await world.untilDatabaseHasSettled()
  let [slowestAnswerMs, slowestListenMs, left] = [0, 0, 0]
  for (let round = 0; round < times; round += 1) {
    const replica = world.replica(round)
    const before = await registered()
    // Over connections that stay open.
    await Promise.all(Array.from({ length: 4 }, () => replica.request('/api/v1/tasks')))
    replica.lines.database.strand()
    const began = performance.now()
    const answered = untilAnswered(() => replica.request('/api/v1/tasks'))
    const listening = untilAnswered(async () => ({ status: await reregistered(before) }))
    await submitUntilAccepted(world, deployment('shop', `v${round}`), randomUUID(), round)
    slowestAnswerMs = Math.max(slowestAnswerMs, (await answered) - began)
    slowestListenMs = Math.max(slowestListenMs, (await listening) - began)
    left += await untilAllEnded(world, 30_000)
  }
  return {
    figure: `${times} times, reads answered again after ${Math.round(slowestAnswerMs)} ms, LISTEN made again after ${Math.round(slowestListenMs)} ms, ${left} unfinished`,
    bar: '<= 5500 ms, <= 8000 ms, 0 unfinished',
    isMet: slowestAnswerMs <= 5_500 && slowestListenMs <= 8_000 && left === 0,
  }

  async function registered(): Promise<ReadonlySet<string>> {
    return new Set((await world.rows<{ id: string }>('SELECT id FROM watcher.replicas')).map(({ id }) => id))
  }

  /** A replica registers under a new id once its session is made again. */
  async function reregistered(before: ReadonlySet<string>): Promise<number> {
    return [...(await registered())].some((id) => !before.has(id)) ? 200 : 503
  }
}

async function untilAnswered(ask: () => Promise<{ readonly status: number }>): Promise<number> {
  for (const end = performance.now() + 60_000; performance.now() < end; await delay(50))
    if ((await ask().catch(() => undefined))?.status === 200) return performance.now()
  return Number.POSITIVE_INFINITY
}
