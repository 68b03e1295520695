import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { claimPort } from '../../../test/support/claim-port.ts'
import { readEvents } from '../../../test/support/event-reader.ts'
import { reserveIdentityProvider } from '../../../test/support/identity-provider.ts'
import { withToken } from '../../../test/support/world.ts'
import type { Fault } from './fault.ts'
import { countViolations, deployment, startFaultWorld, untilAllEnded } from './fault-world.ts'

const perSecond = 50
const streams = 5
const stopBarMs = 25_000
const applications = Array.from({ length: 40 }, (_, at) => `app-${at}`)

/** Rolling restarts of three replicas behind HAProxy, with requests and open streams all the time. */
export const rollingRestarts: Fault = async ({ times = 10 }) => {
  await using identity = await reserveIdentityProvider()
  await using world = await startFaultWorld({
    applications,
    settings: { ...identity.settings, DRAIN_DELAY: '5s', TRUST_PROXY: 'loopback' },
  })
  await identity.start('http://127.0.0.1:1')
  await using balancer = await startHaproxy(world.running.map(({ url }) => url))
  const accepted: string[] = []
  const failed: string[] = []
  let requests = 0
  let isOver = false
  const request = async (turn: number): Promise<void> => {
    requests += 1
    try {
      const id = accepted.at(-1)
      if (turn % 5 === 0 || id === undefined) {
        const app = applications[turn % applications.length] ?? ''
        const answer = await fetch(`${balancer.url}/api/v1/tasks`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID(), ...withToken },
          body: JSON.stringify(deployment(app, `v${turn}`)),
        })
        const body = (await answer.json()) as { id: string }
        if (answer.status === 202) accepted.push(body.id)
        else failed.push(`${answer.status} ${JSON.stringify(body)}`)
      } else {
        const answer = await fetch(`${balancer.url}/api/v1/${turn % 2 === 0 ? `tasks/${id}` : 'tasks?limit=20'}`)
        await answer.arrayBuffer()
        if (answer.status !== 200) failed.push(String(answer.status))
      }
    } catch (error) {
      failed.push(error instanceof Error ? `${error.message}: ${String(error.cause)}` : String(error))
    }
  }
  const load = async () => {
    const all: Promise<void>[] = []
    for (const began = performance.now(); !isOver; ) {
      all.push(request(all.length))
      await delay(Math.max(0, began + (all.length * 1_000) / perSecond - performance.now()))
    }
    await Promise.all(all)
  }
  const followers = Array.from({ length: streams }, () => followThrough(balancer.url, () => isOver))
  const loading = load()
  let slowestStopMs = 0
  for (let round = 0; round < times; round += 1) {
    for (const replica of world.running) {
      await delay(1_000)
      const began = performance.now()
      const code = await replica.kill('SIGTERM')
      slowestStopMs = Math.max(slowestStopMs, performance.now() - began)
      if (code !== 0) failed.push(`a stop ended with ${code}`)
      await replica.restart()
      await balancer.untilAllAreUp(world.running.length)
    }
  }
  isOver = true
  await loading
  const left = await untilAllEnded(world, 120_000)
  const { lost, ends } = await countViolations(world, accepted)
  const [newest] = await world.rows<{ last: string }>('SELECT last FROM watcher.event_counter')
  const expected = (
    await world.rows<{ position: string }>('SELECT position FROM watcher.task_events ORDER BY position')
  ).map(({ position }) => Number(position))
  let missed = 0
  for (const follower of followers) {
    const { from, ids } = await follower.until(Number(newest?.last))
    const seen = new Set(ids)
    missed += expected.filter((id) => id > from && !seen.has(id)).length + (ids.length - seen.size)
  }
  return {
    figure: `${times} rolling restarts, ${requests} requests, ${failed.length} failed${failed[0] ? ` (${failed[0]})` : ''}, ${accepted.length} tasks, ${lost} lost, ${ends} with other than one end, ${left} unfinished, ${missed} events lost or doubled on ${streams} streams, slowest stop ${(slowestStopMs / 1_000).toFixed(1)} s`,
    bar: '0 failed, 0 lost, 0 events, <= 25 s',
    isMet: failed.length + lost + ends + left + missed === 0 && slowestStopMs <= stopBarMs,
  }
}

/** Reads all events as a page does: comes back after the last one when its stream ends. */
function followThrough(url: string, isOver: () => boolean) {
  const ids: number[] = []
  let from: number | undefined
  let last: number | undefined
  let isDone = false
  let current: Awaited<ReturnType<typeof readEvents>> | undefined
  const follow = async () => {
    while (!isDone) {
      const reader = await readEvents(`${url}/api/v1/events`, { lastEventId: last }).catch(() => undefined)
      if (reader === undefined || reader.status !== 200) {
        await delay(200)
        continue
      }
      current = reader
      await reader.ended
      ids.push(...reader.events.map(({ id }) => id))
      from ??= reader.events[0] === undefined ? reader.position() : reader.events[0].id - 1
      last = reader.position() ?? last
      current = undefined
      await delay(100) // a stopping replica ends it at once
    }
  }
  const following = follow()
  return {
    async until(newest: number) {
      for (const end = performance.now() + 30_000; performance.now() < end && isOver(); await delay(50))
        if ((current?.position() ?? last ?? 0) >= newest) break
      isDone = true
      current?.close()
      await following
      return { from: from ?? 0, ids }
    },
  }
}

async function startHaproxy(urls: readonly string[]) {
  const program = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy'].find((file) => existsSync(file))
  if (program === undefined) throw new Error('haproxy is not installed: apt-get install haproxy')
  const folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-haproxy-'))
  const [port, statistics] = [await claimPort(), await claimPort()]
  const file = path.join(folder, 'haproxy.cfg')
  const servers = urls.map((url, at) => `  server replica-${at} ${new URL(url).host} check inter 1s`)
  await writeFile(
    file,
    [
      'defaults',
      '  mode http',
      '  timeout connect 2s',
      '  timeout client 120s',
      '  timeout server 120s',
      'frontend clients',
      `  bind 127.0.0.1:${port}`,
      '  default_backend replicas',
      'backend replicas',
      '  option httpchk GET /readyz',
      '  option redispatch',
      ...servers,
      'frontend statistics',
      `  bind 127.0.0.1:${statistics}`,
      '  stats enable',
      '  stats uri /',
      '',
    ].join('\n'),
  )
  const child = spawn(program, ['-f', file, '-db'], { stdio: 'ignore' })
  const countUp = async () => {
    const text = await fetch(`http://127.0.0.1:${statistics}/;csv`).then(
      (answer) => answer.text(),
      () => '',
    )
    return text.split('\n').filter((line) => /^replicas,replica-\d/.test(line) && line.split(',')[17] === 'UP').length
  }
  const untilAllAreUp = async (count: number) => {
    for (const end = performance.now() + 30_000; (await countUp()) < count; await delay(100))
      if (performance.now() > end) throw new Error('a replica did not come back behind HAProxy')
  }
  await untilAllAreUp(urls.length)
  return {
    url: `http://127.0.0.1:${port}`,
    untilAllAreUp,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await new Promise((resolve) => child.once('exit', resolve))
      await rm(folder, { recursive: true, force: true })
    },
  }
}
