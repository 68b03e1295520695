import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../../simulator/model/random.ts'
import { anApplication, aRawApplication } from '../../../test/support/application-builder.ts'
import { aWatchedTask, forbiddenDiagnosis, rolloutDeps } from '../../../test/support/rollout-builder.ts'
import { createVirtualClock } from '../../../test/support/virtual-clock.ts'
import { createApplicationStream } from '../../argo-cd/application-stream.ts'
import type { StreamOpening } from '../../argo-cd/argo-cd-client.ts'
import type { TaskResult } from '../../deployments/task.ts'
import type { WatchedTask } from '../judge/input/watched-task.ts'
import type { DeliveryController, ReadOutcome } from '../observed/delivery-controller.ts'
import { createRolloutWatcher } from './rollout-watcher.ts'

const old = { images: ['registry.example/shop:v1'], version: 1 }
const slowAnswerMs = 30_000
const down = { kind: 'unreachable', why: 'connection refused' } as const

type Body = { readonly chunks: Uint8Array[]; wake(): void }

/** Stream and watcher together, on a delivery controller whose one application and whose line the test governs. */
function aWorld(seed = 1) {
  const random = seededRandom(seed)
  const clock = createVirtualClock()
  const calls: { kind: string; atMs: number }[] = []
  const line = { isDown: false, isSilent: false, loses: false, isBad: false }
  const ends = new Map<string, { end: TaskResult; atMs: number }>()
  const progress: string[] = []
  let shown = old
  let body: Body | undefined

  const answer = <Value>(kind: string, value: () => Value): Promise<ReadOutcome<Value>> => {
    calls.push({ kind, atMs: clock.nowMs() })
    const mood = line.isBad ? random() : 1
    if (line.isDown || mood < 0.5) return Promise.resolve(down)
    const read = (): ReadOutcome<Value> => ({ kind: 'read', value: value() })
    if (mood >= 0.75) return Promise.resolve(read())
    return new Promise((resolve) => clock.setTimer(slowAnswerMs, () => resolve(read())))
  }
  const send = (text: string) => {
    if (line.isDown || line.isSilent) return
    body?.chunks.push(Buffer.from(text))
    body?.wake()
  }
  const keepalive = () => {
    send(':\n')
    clock.setTimer(15_000, keepalive)
  }
  clock.setTimer(15_000, keepalive)

  const controller: DeliveryController = {
    readApplication: () => answer('read', () => anApplication(shown)),
    refreshApplication: () =>
      answer('refresh', () => {
        shown = { ...shown, version: shown.version + 1 }
        return anApplication(shown)
      }),
    listApplications: () => answer('list', () => ({ version: shown.version, applications: [anApplication(shown)] })),
    ...forbiddenDiagnosis,
    probe: () => answer('probe', () => ({})),
  }
  const watcher = createRolloutWatcher({
    ...rolloutDeps,
    controller,
    clock,
    records: {
      async saveProgress(_, change) {
        if (change.progress !== undefined) progress.push(change.progress)
        return true
      },
      async finish({ taskId }, end) {
        ends.set(taskId, { end, atMs: clock.nowMs() })
        return true
      },
    },
  })
  const stream = createApplicationStream({
    clock,
    random: () => 1,
    async openStream({ signal }): Promise<StreamOpening> {
      calls.push({ kind: 'stream', atMs: clock.nowMs() })
      if (line.isDown) return down
      const opened: Body = { chunks: [], wake: () => {} }
      body = opened
      send(frameOf(shown))
      return { kind: 'open', body: readAll(opened, signal) }
    },
    listApplications: () => controller.listApplications(),
    watchedApps: watcher.watchedApps,
    readWatched: watcher.readWatched,
    readLargeFrame: async () => ({ kind: 'unreadable' }),
    isUnreachable: () => watcher.unreachable() !== undefined,
    checkReachability: watcher.checkReachability,
    onUpdate: watcher.updated,
    onListed: watcher.listed,
    onError: (_message, error) => {
      throw error
    },
    onEnded: () => {},
  })

  return {
    clock,
    calls,
    line,
    ends,
    progress,
    watch: (id: string, fields: Partial<WatchedTask> = {}) =>
      watcher.watch([aWatchedTask(id, { mayWrite: false, ...fields })]),
    /** The application shows something new; subscribers hear of it unless the event is lost. */
    change(fields: object) {
      shown = { ...shown, ...fields, version: shown.version + 1 }
      if (!line.loses) send(frameOf(shown))
    },
    /** All connections break. */
    cut() {
      body?.chunks.push(Buffer.from('data: {"result":{"app'))
      body?.wake()
      body = undefined
    },
    async [Symbol.asyncDispose]() {
      await stream[Symbol.asyncDispose]()
      await watcher[Symbol.asyncDispose]()
    },
  }
}

const frameOf = (fields: object) =>
  `data: ${JSON.stringify({ result: { type: 'MODIFIED', application: aRawApplication(fields) } })} \n\n\n`

/** What was sent last when a connection broke is its end. */
async function* readAll(body: Body, signal: AbortSignal) {
  for (;;) {
    const chunk = body.chunks.shift()
    if (chunk !== undefined) {
      yield chunk
      if (chunk.at(-1) === '"'.charCodeAt(0) || String(Buffer.from(chunk)).endsWith('"app')) return
      continue
    }
    await new Promise<void>((resolve, reject) => {
      body.wake = resolve
      signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
    })
  }
}

const rolledOut = { images: ['registry.example/shop:v2'], reconciledAt: '2026-11-21T15:01:00Z' }

describe('Argo CD is refused for minutes in the middle of a rollout', () => {
  test('a task goes on after its return; one whose deadline passes meanwhile is aborted, "unreachable since"', async () => {
    const world = aWorld()
    await using _ = world
    world.watch('goes on')
    world.watch('too short', { deadlineMs: 120_000 })
    await world.clock.advanceTo(10_000)
    world.line.isDown = true
    world.cut()
    await world.clock.advanceTo(310_000)
    expect(world.ends.get('too short')).toMatchObject({
      end: {
        status: 'aborted',
        cause: 'controller_unreachable',
        reason: expect.stringMatching(/Argo CD is unreachable: connection refused/),
      },
      atMs: 120_000,
    })
    expect(world.ends.has('goes on')).toBe(false)
    expect(world.progress.at(-1)).toBe('Argo CD is unreachable: connection refused')
    world.change(rolledOut)
    world.line.isDown = false
    await world.clock.advanceTo(330_000)
    expect(world.ends.get('goes on')).toMatchObject({ end: { status: 'deployed' } })
  })

  test('all calls together are at most one every five seconds, and one more at the start', async () => {
    const world = aWorld()
    await using _ = world
    for (const id of ['1', '2', '3']) world.watch(id)
    await world.clock.advanceTo(10_000)
    world.line.isDown = true
    world.cut()
    world.calls.length = 0
    await world.clock.advanceTo(310_000)
    expect(world.calls.length).toBeLessThanOrEqual(300 / 5 + 2)
  })
})

test.for([0, 1, 7, 14, 15, 16, 19, 20])(
  'the stream falls silent %d s after its last byte with the socket open: the end is seen within 35 s',
  async (afterSeconds) => {
    const world = aWorld()
    await using _ = world
    world.watch('1')
    await world.clock.advanceTo(60_000 + afterSeconds * 1_000)
    world.line.isSilent = true
    world.change(rolledOut)
    await world.clock.advanceTo(100_000 + afterSeconds * 1_000)
    const { end, atMs } = world.ends.get('1') ?? {}
    expect(end?.status).toBe('deployed')
    expect(atMs).toBeLessThanOrEqual(60_000 + afterSeconds * 1_000 + 35_000)
  },
)

test.for([5, 30, 61, 69])(
  'an event lost %d s after the start is found by the shared List within 70 s',
  async (second) => {
    const world = aWorld()
    await using _ = world
    world.watch('1', { refresh: false })
    await world.clock.advanceTo(second * 1_000)
    world.line.loses = true
    world.change(rolledOut)
    const before = world.calls.length
    await world.clock.advanceTo(second * 1_000 + 75_000)
    const { end, atMs } = world.ends.get('1') ?? {}
    expect(end?.status).toBe('deployed')
    expect(atMs).toBeLessThanOrEqual(second * 1_000 + 72_000) // 70 s and the settle time
    const kinds = world.calls.slice(before).map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'list')).toHaveLength(1)
  },
)

describe('half of the calls fail, and half of the others take 30 s', () => {
  const mostIn10s = (calls: readonly { readonly atMs: number }[]) =>
    Math.max(...calls.map((call) => calls.filter(({ atMs }) => atMs >= call.atMs && atMs < call.atMs + 10_000).length))

  /** Five tasks of one application; the end of one comes after two minutes, the rollout after five. */
  async function watchFor10Minutes(isBad: boolean, seed?: number) {
    const world = aWorld(seed)
    await using _ = world
    world.line.isBad = isBad
    for (const id of ['1', '2', '3', '4']) world.watch(id)
    world.watch('too short', { deadlineMs: 120_000 })
    await world.clock.advanceTo(300_000)
    world.change(rolledOut)
    await world.clock.advanceTo(600_000)
    return world
  }

  const seeds = Array.from({ length: 20 }, (_, index) => index + 1)
  test.for(seeds)('at most twice the calls of a good day, no deadline overrun by 10 s, seed %d', async (seed) => {
    const good = await watchFor10Minutes(false)
    const bad = await watchFor10Minutes(true, seed)
    expect(mostIn10s(bad.calls)).toBeLessThanOrEqual(2 * mostIn10s(good.calls))
    expect(bad.ends.get('too short')?.atMs).toBeLessThanOrEqual(130_000)
    expect(good.ends.get('4')?.end.status).toBe('deployed')
    expect(bad.ends.get('4')?.end.status).toBe('deployed')
  })
})
