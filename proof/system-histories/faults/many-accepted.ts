import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Fault } from './fault.ts'
import { countViolations, deployment, startFaultWorld, trySubmit, untilAllEnded } from './fault-world.ts'

const clients = 32
/** Few, so that most tasks are superseded: what is shown is that none is lost, not that Argo CD is fast. */
const applications = Array.from({ length: 64 }, (_, at) => `app-${at}`)

/** Tasks are accepted while the database and the replicas are killed in turns. */
export const manyAccepted: Fault = async ({ tasks = 100_000, times = 20 }) => {
  await using world = await startFaultWorld({ applications: [] })
  const accepted: string[] = []
  let begun = 0
  const client = async (_: unknown, index: number) => {
    while (begun < tasks) {
      begun += 1
      const task = deployment(applications[begun % applications.length] ?? '', `v${begun}`)
      const key = randomUUID()
      for (let attempt = 0; ; attempt += 1) {
        const answer = await trySubmit(world.replica(index + attempt), task, key)
        if (answer?.status === 202) {
          accepted.push((answer.body as { id: string }).id)
          break
        }
        await delay(50)
      }
    }
  }
  const running = Promise.all(Array.from({ length: clients }, client))
  const kills = times * 2
  for (let kill = 0; kill < kills; kill += 1) {
    while (accepted.length < ((kill + 1) * tasks) / (kills + 1)) await delay(50)
    if (kill % 2 === 0) {
      await world.killDatabase()
      await world.startDatabase()
    } else {
      const replica = world.replica(kill)
      await replica.kill('SIGKILL')
      await replica.restart().catch(() => replica.restart()) // the database may just have been killed
    }
  }
  await running
  const left = await untilAllEnded(world, 120_000)
  const { lost, ends } = await countViolations(world, accepted)
  const doubled = accepted.length - new Set(accepted).size
  return {
    figure: `${accepted.length} accepted over ${times} database kills and ${times} replica kills, ${lost} lost, ${doubled} doubled, ${ends} with other than one end, ${left} unfinished`,
    bar: '0 lost, each ended once',
    isMet: lost + doubled + ends + left === 0,
  }
}
