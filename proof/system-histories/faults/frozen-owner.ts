import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Fault } from './fault.ts'
import {
  countViolations,
  deployment,
  startFaultWorld,
  submitUntilAccepted,
  trySubmit,
  untilAllEnded,
} from './fault-world.ts'

/** So many applications freeze their owners at once, each with another replica as its owner. */
const maxFreezeDelayMs = 1_500

/** F37: the owner of a task is stopped for 15 s and goes on, while a newer task supersedes the one it works on. */
export const frozenOwner: Fault = async ({ times = 20, seconds = 15 }) => {
  await using world = await startFaultWorld({ applications: ['shop'], replicas: 3 })
  await world.untilDatabaseHasSettled()
  const accepted: string[] = []
  const endings = new Map<string, string>()
  let rewritten = 0
  let older = 0
  for (let round = 0; round < times; round += 1) {
    const owner = world.replica(round)
    const answer = await trySubmit(owner, deployment('shop', `v${round}-old`), randomUUID())
    if (answer?.status !== 202) throw new Error(`not accepted: ${answer?.status}`)
    accepted.push((answer.body as { id: string }).id)
    await delay((maxFreezeDelayMs * round) / times) // before, inside of and after the push
    await owner.kill('SIGSTOP')
    const frozenMs = performance.now()
    const newest = await submitUntilAccepted(world, deployment('shop', `v${round}-new`), randomUUID(), round + 1)
    accepted.push(newest)
    await delay(Math.max(0, seconds * 1_000 - (performance.now() - frozenMs)))
    for (const { id, status } of await ended()) endings.set(id, status)
    await owner.kill('SIGCONT')
    await untilAllEnded(world, 60_000)
    await untilRegistered(owner.url)
    for (const { id, status } of await ended()) if ((endings.get(id) ?? status) !== status) rewritten += 1
    const file = await world.simulator.git.readFile('gitops', 'apps/shop/.argocd-source-shop.yaml')
    if (!String(file).includes(`v${round}-new`)) older += 1
  }
  const { lost, ends } = await countViolations(world, accepted)
  return {
    figure: `${times} stops of ${seconds} s, ${rewritten} statuses rewritten, ${older} branches on an older tag, ${lost} lost, ${ends} with other than one end`,
    bar: '0, 0, 0, 0',
    isMet: rewritten + older + lost + ends === 0,
  }

  async function ended() {
    return world.rows<{ id: string; status: string }>('SELECT id, status FROM watcher.tasks WHERE ended IS NOT NULL')
  }

  /** The thawed one has noticed by then what became of its tasks. */
  async function untilRegistered(url: string): Promise<void> {
    for (const end = performance.now() + 30_000; performance.now() < end; await delay(100)) {
      const [row] = await world.rows<{ alive: number }>('SELECT count(*)::integer AS alive FROM watcher.replicas')
      const isReady = await fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
      if (row?.alive === 3 && isReady) return
    }
  }
}
