import { expect, test } from 'vitest'
import { createVirtualClock } from '../../test/support/virtual-clock.ts'
import { createApplicationStream } from './application-stream.ts'
import type { StreamOpening } from './argo-cd-client.ts'
import { parseApplication } from './parse/parse-application.ts'

const application = (name: string, version = 1) => ({
  metadata: { name, namespace: 'argocd', uid: `uid-${name}`, resourceVersion: String(version) },
})
const frame = (name: string) =>
  `data: ${JSON.stringify({ result: { type: 'ADDED', application: application(name) } })} \n\n\n`

/** A stream that the test feeds. */
function aBody(signal: AbortSignal) {
  let feed: (chunk: Uint8Array | undefined) => void = () => {}
  const chunks: (Uint8Array | undefined)[] = []
  async function* read() {
    for (;;) {
      if (chunks.length === 0) {
        await new Promise<void>((resolve, reject) => {
          feed = (chunk) => {
            chunks.push(chunk)
            resolve()
          }
          signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
        })
      }
      const chunk = chunks.shift()
      if (chunk === undefined) return
      yield chunk
    }
  }
  return { body: read(), send: (text: string) => feed(Buffer.from(text)), end: () => feed(undefined) }
}

function aStream(openings: readonly ('open' | 'unauthorized' | 'unreachable')[] = []) {
  const clock = createVirtualClock()
  const bodies: ReturnType<typeof aBody>[] = []
  const told = {
    opened: [] as number[],
    liveOnly: [] as boolean[],
    listedAt: [] as number[],
    readAt: [] as number[],
    seen: [] as string[],
    reachabilityChecks: 0,
  }
  const stream = createApplicationStream({
    clock,
    random: () => 0.5,
    async openStream({ liveOnly, signal }): Promise<StreamOpening> {
      const kind = openings[told.opened.length] ?? 'open'
      told.opened.push(clock.nowMs())
      told.liveOnly.push(liveOnly)
      if (kind !== 'open') return { kind, why: 'no' }
      const body = aBody(signal)
      bodies.push(body)
      return { kind: 'open', body: body.body }
    },
    async listApplications() {
      told.listedAt.push(clock.nowMs())
      return { kind: 'read', value: { version: 1, applications: [] } }
    },
    watchedApps: () => 1,
    readWatched: () => told.readAt.push(clock.nowMs()),
    readLargeFrame: async () => ({ kind: 'unreadable' }),
    isUnreachable: () => false,
    checkReachability: () => {
      told.reachabilityChecks += 1
    },
    onUpdate: (_, { name }) => {
      if (name === 'poison') throw new Error('a listener fails')
      told.seen.push(name)
    },
    onListed: () => {},
    onError: () => {},
    onEnded: () => {},
  })
  return { clock, stream, told, body: () => bodies.at(-1) }
}

test('a List follows a connect once the burst has been quiet for 500 ms, then one every minute', async () => {
  const { clock, stream, told, body } = aStream()
  await using _ = stream
  await clock.advanceTo(10)
  body()?.send(frame('shop'))
  await clock.advanceTo(400)
  body()?.send(frame('cart'))
  await clock.advanceTo(1_000)
  expect(told.seen).toEqual(['shop', 'cart'])
  expect(told.listedAt).toEqual([900])
  for (let at = 10_000; at <= 61_000; at += 10_000) {
    await clock.advanceTo(at)
    body()?.send(':\n')
  }
  await clock.advanceTo(61_000)
  expect(told.listedAt).toEqual([900, 60_900])
  expect(stream.streamState().state).toBe('live')
  expect(told.readAt).toEqual([])
})

test('a List that is asked for soon comes once after 100 ms, but not above 500 applications', async () => {
  const { clock, stream, told, body } = aStream()
  await using _ = stream
  await clock.advanceTo(2_000)
  told.listedAt.length = 0
  stream.listSoon()
  await clock.advanceTo(2_050)
  stream.listSoon()
  await clock.advanceTo(10_000)
  expect(told.listedAt).toEqual([2_150])
  body()?.send(Array.from({ length: 501 }, (_, index) => frame(`app-${index}`)).join(''))
  await clock.advanceTo(11_000)
  stream.listSoon()
  await clock.advanceTo(12_000)
  expect(told.listedAt).toEqual([2_150])
  expect(told.readAt).toEqual([])
})

test('a stream without a byte for 20 s is not live: applications are read directly every 15 s', async () => {
  const { clock, stream, told, body } = aStream()
  await using _ = stream
  await clock.advanceTo(10)
  body()?.send(frame('shop'))
  await clock.advanceTo(46_000)
  expect(told.readAt).toEqual([30_000, 45_000])
})

test('a stream without a byte for 45 s is opened anew', async () => {
  const { clock, stream, told, body } = aStream()
  await using _ = stream
  await clock.advanceTo(10)
  body()?.send(frame('shop'))
  await clock.advanceTo(46_000)
  expect(told.opened).toHaveLength(2)
})

test('a stream that has brought nothing for 20 s, over all its connections, is silent since the last byte', async () => {
  const { clock, stream, body } = aStream(['open', 'unreachable', 'unreachable', 'open'])
  await using _ = stream
  await clock.advanceTo(1_000)
  body()?.send(frame('shop'))
  await clock.advanceTo(10_000)
  body()?.end()
  await clock.advanceTo(20_999)
  expect(stream.silentSinceMs()).toBeUndefined()
  await clock.advanceTo(30_000)
  expect(stream.silentSinceMs()).toBe(1_000)
  body()?.send(frame('shop'))
  await clock.advanceTo(30_001)
  expect(stream.silentSinceMs()).toBeUndefined()
})

test('reconnects come later and later, up to 30 s, and a List follows when one works', async () => {
  const { clock, stream, told } = aStream(Array(9).fill('unreachable'))
  await using _ = stream
  await clock.advanceTo(100_000)
  const waits = told.opened.slice(1).map((at, index) => at - (told.opened[index] ?? 0))
  expect(waits.slice(0, 4)).toEqual([375, 750, 1_500, 3_000])
  expect(Math.max(...waits)).toBeLessThanOrEqual(30_000)
  expect(told.listedAt.length).toBeLessThanOrEqual(2)
})

test('a refused token is tried again slowly and shown', async () => {
  const { clock, stream, told } = aStream(['unauthorized', 'open'])
  await using _ = stream
  await clock.advanceTo(7_900)
  expect(stream.streamState().state).toBe('refused')
  expect(told.opened).toHaveLength(1)
  await clock.advanceTo(8_100)
  expect(stream.streamState().state).toBe('open')
})

test('an error frame and a clean end lead to a reconnect', async () => {
  const { clock, stream, told, body } = aStream()
  await using _ = stream
  await clock.advanceTo(10)
  body()?.send('data: {"error":{"message":"context deadline exceeded"}} \n\n')
  await clock.advanceTo(2_000)
  expect(told.opened).toHaveLength(2)
  body()?.end()
  await clock.advanceTo(4_000)
  expect(told.opened).toHaveLength(3)
})

test('a listener that throws does not end the stream', async () => {
  const { clock, stream, told, body } = aStream()
  await using _ = stream
  await clock.advanceTo(10)
  body()?.send(frame('poison') + frame('shop'))
  await clock.advanceTo(100)
  expect(told.seen).toEqual(['shop'])
})

test('above 500 applications the List is replaced by direct reads, and a reconnect asks for no burst', async () => {
  const { clock, stream, told, body } = aStream()
  await using _ = stream
  await clock.advanceTo(10)
  body()?.send(Array.from({ length: 501 }, (__, index) => frame(`app-${index}`)).join(''))
  await clock.advanceTo(1_000)
  expect(told.listedAt).toEqual([])
  expect(told.readAt).toHaveLength(1)
  body()?.end()
  await clock.advanceTo(3_000)
  expect(told.liveOnly).toEqual([false, true])
})

test('applications that a List does not have are counted no more', async () => {
  const { clock, stream, told, body } = aStream()
  await using _ = stream
  const see = (first: number) =>
    body()?.send(Array.from({ length: 300 }, (__, index) => frame(`app-${first + index}`)).join(''))
  await clock.advanceTo(10)
  see(0)
  await clock.advanceTo(1_000)
  expect(told.listedAt).toHaveLength(1) // an empty one
  see(300)
  await clock.advanceTo(61_000)
  expect(told.listedAt).toHaveLength(2)
})

test('nothing is left running after the end', async () => {
  const { clock, stream, body } = aStream()
  await clock.advanceTo(10)
  body()?.send(frame('shop'))
  await stream[Symbol.asyncDispose]()
  await clock.advanceTo(100)
  expect(clock.timerCount()).toBe(0)
  expect(parseApplication(application('shop'))?.name).toBe('shop')
})
