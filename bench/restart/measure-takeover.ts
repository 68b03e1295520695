import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { aTask, startService } from '../../test/support/service.ts'
import { inTurns } from '../support/in-turns.ts'
import type { startInstallation } from '../support/start-installation.ts'
import { waitForEnd, waitingAgent } from '../support/wait-for-end.ts'
import { busiestSecond } from './busiest-second.ts'

/** Until the survivor has listed the applications, and PostgreSQL runs for longer than the dead are spared (10 s). */
const settlesMs = 12_000
const releasedOverMs = 4_000

type Scenario = {
  readonly remote: Awaited<ReturnType<typeof startInstallation>>['remote']
  readonly databaseUrl: string
  readonly settings: Readonly<Record<string, string>>
  readonly count: number
  readonly isBusy: boolean
}

/** Two replicas, of which one owns all tasks and is killed when their Pods begin to start. */
export async function measureTakeover({ remote, databaseUrl, settings, count, isBusy }: Scenario) {
  const prefix = isBusy ? 'busy' : 'quiet'
  const apps = Array.from({ length: count }, (_, at) => `${prefix}-app-${at}`)
  await remote.createApplications(apps, prefix)
  await remote.hold(apps, 'v1')
  await remote.commitTags(apps, `${prefix}-0`, 'v1')
  await using owner = await startService({ databaseUrl, settings })
  const ids = await inTurns(apps, 16, async (app) => {
    const task = aTask({ app, images: [{ image: `registry.example/${app}`, tag: 'v1' }], timeout: 3_600 })
    const { status, body } = await owner.submitTask(task)
    if (status !== 202) throw new Error(`not accepted: ${JSON.stringify(body)}`)
    return (body as { id: string }).id // checked by the status
  })
  await using survivor = await startService({ databaseUrl, settings })
  await remote.untilWaiting(apps)
  await delay(settlesMs)
  const spinning = isBusy ? spawn(process.execPath, ['-e', 'for (;;);']) : undefined
  try {
    await remote.clearCallLog()
    await owner.kill('SIGKILL')
    const killedAtMs = Date.now()
    const agent = waitingAgent()
    const known = Promise.all(ids.map((id) => waitForEnd(survivor.url, id, agent)))
    known.catch(() => {}) // awaited below
    for (const app of apps) {
      await remote.release([app])
      await delay(releasedOverMs / count)
    }
    const knownAtMs = await known
    await agent.close()
    const calls = (await remote.callLog()).filter(({ kind }) => kind !== 'stream')
    return {
      lastKnownMs: Math.max(...knownAtMs) - killedAtMs,
      lastCompleteMs: Math.max(...(await remote.completions(apps))) - killedAtMs,
      calls: calls.length,
      busiest: busiestSecond(calls.map(({ atMs }) => atMs)),
    }
  } finally {
    await ended(spinning)
  }
}

async function ended(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined) return
  const over = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await over
}
