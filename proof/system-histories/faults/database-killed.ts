import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Fault } from './fault.ts'
import { countViolations, deployment, startFaultWorld, trySubmit } from './fault-world.ts'

const clients = 20
const applications = 50
const betweenKillsMs = 2_000

/** F1: PostgreSQL is killed and started again while clients submit. */
export const databaseKilled: Fault = async ({ times = 20 }) => {
  await using world = await startFaultWorld({ applications: [] })
  const accepted: string[] = []
  let lastAcceptedMs = 0
  let isOver = false
  const client = async (_: unknown, index: number) => {
    for (let turn = 0; !isOver; turn += 1) {
      const task = deployment(`app-${(index * 7 + turn) % applications}`, `v${turn}`)
      const key = randomUUID()
      for (let attempt = 0; !isOver; attempt += 1) {
        const answer = await trySubmit(world.replica(index + attempt), task, key)
        if (answer?.status === 202) {
          accepted.push((answer.body as { id: string }).id)
          lastAcceptedMs = performance.now()
          break
        }
        await delay(50)
      }
    }
  }
  const running = Array.from({ length: clients }, client)
  let slowestMs = 0
  for (let kill = 0; kill < times; kill += 1) {
    await delay(betweenKillsMs)
    await world.killDatabase()
    await world.startDatabase()
    const upMs = performance.now()
    while (lastAcceptedMs < upMs) await delay(20)
    slowestMs = Math.max(slowestMs, lastAcceptedMs - upMs)
  }
  isOver = true
  await Promise.all(running)
  const { lost } = await countViolations(world, accepted)
  const doubles = accepted.length - new Set(accepted).size
  return {
    figure: `${times} kills, ${accepted.length} accepted, ${lost} lost, ${doubles} doubled, first accepted ${Math.round(slowestMs)} ms after a start`,
    bar: '0 lost, 0 doubled, <= 2000 ms',
    isMet: lost === 0 && doubles === 0 && slowestMs <= 2_000,
  }
}
