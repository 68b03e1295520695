import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runGit } from '../../simulator/git-host/run-git.ts'
import { reserveIdentityProvider } from '../../test/support/identity-provider.ts'
import type { Span } from '../../test/support/traffic-log.ts'
import { startWorld, type World } from '../../test/support/world.ts'
import { act } from './act.ts'
import { canaries, createClient } from './client.ts'
import { type Evidence, gatherEvidence } from './evidence.ts'
import { followEvents } from './follow-events.ts'
import { createHistoryWorld } from './history-world.ts'
import { observeTasks } from './observe-tasks.ts'
import { applications, type HistoryPlan, replicaCount } from './plan-history.ts'

/** How long after a heal and the window of the last task everything has to be over (invariant I14). */
const afterWindowMs = 10_000
/** Of two cores that other tests share. */
const slackMs = 3_000
const maxWindowMs = 8_000

/** Runs the choices of a plan against real processes, heals everything, waits for the end and gathers what happened. */
export async function runHistory(plan: HistoryPlan, databaseUrl: string): Promise<Evidence> {
  await using opened = new AsyncDisposableStack()
  // Named by the processes that git starts, so that none can be left behind unnoticed.
  const cacheFolder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-simulate-'))
  opened.defer(() => rm(cacheFolder, { recursive: true, force: true, maxRetries: 5 }))
  const identity = opened.use(await reserveIdentityProvider())
  identity.users.set('ada', {})
  await identity.start('http://127.0.0.1:1')
  const accessToken = await identity.issueOpaqueToken('ada')
  const replicas = opened.use(
    await startWorld({
      databaseUrl,
      parts: ['argo cd', 'lines'],
      replicas: replicaCount,
      applications,
      seed: plan.seed,
      settings: {
        ...identity.settings,
        REPO_CACHE_PATH: cacheFolder,
        GIT_OP_TIMEOUT: '5s',
        WATCHER_DEPLOY_TOKEN: canaries.deployToken,
        APP_GONE_GRACE: '3s',
        BAD_POD_GRACE: '3s',
      },
    }),
  )
  await observeTasks(replicas)
  await runGit(replicas.repositoryFolder, ['config', 'core.logAllRefUpdates', 'always'])
  const follower = followEvents(replicas.running)
  const world = createHistoryWorld(replicas, identity)
  const client = createClient(replicas.running, accessToken)
  const began = performance.now()
  const acting: Promise<unknown>[] = []
  let isHealed = false
  for (const step of plan.steps) {
    await delay(Math.max(0, step.atMs - (performance.now() - began)))
    if (!isHealed && step.atMs >= plan.healAtMs) {
      isHealed = true
      await world.heal()
    }
    acting.push(act(step, client, world))
  }
  await world.heal()
  await Promise.all(acting)
  const healedMs = Date.now()
  const isCalm = await untilCalm(replicas, maxWindowMs + afterWindowMs + slackMs)
  const lastPosition = await newestEvent(replicas)
  for (const limit = performance.now() + 10_000; !follower.hasReached(lastPosition); await delay(50)) {
    if (performance.now() > limit) break
  }
  return await gatherEvidence({
    plan,
    replicas,
    operations: client.history,
    streamed: await follower.stop(),
    truth: await world.truth(),
    isCalm,
    healedMs,
    deaths: world.deaths(),
    callsInTransactions: callsInTransactions(replicas, world.frozen),
    cacheFolder,
    secrets: [...Object.values(canaries), accessToken, ...(await secretsOf(replicas, databaseUrl))],
  })
}

function callsInTransactions({ running, gitCalls }: World, frozen: readonly (readonly Span[])[]) {
  return running.flatMap(({ traffic }, replica) =>
    traffic
      .callsInTransactions(gitCalls, frozen[replica])
      .map(({ fromMs, toMs }) => ({ replica, ms: Math.round(toMs - fromMs) })),
  )
}

/** @returns whether every task has ended and no write-back is open within the limit */
async function untilCalm({ rows, running }: World, limitMs: number): Promise<boolean> {
  const open = `SELECT (SELECT count(*) FROM watcher.tasks WHERE status = 'in progress')
    + (SELECT count(*) FROM watcher.pending_writes WHERE state IN ('queued', 'pushing'))
    + (SELECT count(*) FROM watcher.task_events WHERE position IS NULL)
    + abs((SELECT count(*) FROM watcher.replicas) - ${running.length}) AS open`
  for (const end = performance.now() + limitMs; performance.now() < end; await delay(100)) {
    const [row] = await rows<{ open: string }>(open)
    if (row?.open === '0') return true
  }
  return false
}

async function newestEvent({ rows }: World): Promise<number> {
  const [row] = await rows<{ last: string }>('SELECT last FROM watcher.event_counter')
  return Number(row?.last)
}

async function secretsOf({ simulator }: World, databaseUrl: string): Promise<readonly string[]> {
  const key = (await readFile(simulator.git.keyPath, 'utf8')).split('\n')[1]
  return [simulator.argoToken, new URL(databaseUrl).password, key ?? ''].filter((secret) => secret !== '')
}
