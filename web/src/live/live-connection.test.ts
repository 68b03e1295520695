import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createLiveConnection, type Source } from './live-connection.ts'

type Message = { data: string; lastEventId: string }

/** A stream by hand. */
function aSource(after: number | undefined) {
  const listeners = new Map<string, (message: Message) => void>()
  return {
    after,
    isClosed: false,
    close() {
      this.isClosed = true
    },
    addEventListener: (name: string, listener: (message: Message) => void) => void listeners.set(name, listener),
    tell: (name: string, data: unknown = {}, lastEventId = '') =>
      listeners.get(name)?.({ data: JSON.stringify(data), lastEventId }),
  }
}

function start(random = () => 1) {
  const sources: (ReturnType<typeof aSource> & Source)[] = []
  const frames: (() => void)[] = []
  const connection = createLiveConnection({
    open: (after) => {
      const source = aSource(after)
      sources.push(source)
      return source
    },
    nextFrame: (work) => void frames.push(work),
    nowMs: Date.now,
    random,
  })
  const read = vi.fn()
  connection.on('read', read)
  connection.connect()
  const newest = () => {
    const source = sources.at(-1)
    if (source === undefined) throw new Error('no stream was opened')
    return source
  }
  const paint = () => {
    for (const frame of frames.splice(0)) frame()
  }
  return { connection, sources, newest, read, paint }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('read what is shown once the stream is open, since the page was read before', () => {
  const { connection, newest, read } = start()
  expect([connection.state().kind, read.mock.calls.length]).toEqual(['connecting', 0])
  newest().tell('open')
  expect([connection.state().kind, read.mock.calls.length]).toEqual(['live', 1])
})

test('deliver the events of a frame together', () => {
  const { connection, newest, paint } = start()
  const tasks = vi.fn()
  connection.on('tasks', tasks)
  for (const id of [1, 2, 3]) newest().tell('message', { id }, String(id))
  expect(tasks).not.toHaveBeenCalled()
  paint()
  expect(tasks.mock.calls).toEqual([[[{ id: 1 }, { id: 2 }, { id: 3 }]]])
})

describe('a stream that was cut', () => {
  test('is tried again after 1, 2, 4 and for two minutes 5 s, then 30 s, with a read every 15 s', () => {
    const { connection, sources, newest, read } = start()
    newest().tell('open')
    read.mockClear()
    const waits = [1, 2, 4, ...Array<number>(23).fill(5), 30, 30]
    const waited = waits.map((seconds) => {
      newest().tell('error')
      const before = sources.length
      vi.advanceTimersByTime(seconds * 1_000 - 1)
      const early = sources.length - before
      vi.advanceTimersByTime(1)
      return [early, sources.length - before]
    })
    expect(waited).toEqual(waited.map(() => [0, 1]))
    expect(read.mock.calls.length).toBe(1 + Math.floor(182 / 15)) // the first at once: no position was known
    expect(connection.state()).toMatchObject({ kind: 'cut', attempts: waits.length })
    newest().tell('open')
    expect(connection.state().kind).toBe('live')
    const count = read.mock.calls.length
    vi.advanceTimersByTime(16_000)
    expect(read.mock.calls.length).toBe(count)
  })

  test('is tried again up to half earlier, so that many pages do not come at the same time', () => {
    const { sources, newest } = start(() => 0)
    newest().tell('open')
    newest().tell('error')
    vi.advanceTimersByTime(499)
    expect(sources.length).toBe(1)
    vi.advanceTimersByTime(1)
    expect(sources.length).toBe(2)
  })

  test('is tried again at once where something says that the service may be back, at most each second', () => {
    const { connection, sources, newest } = start()
    connection.hurry() // it is being opened
    newest().tell('open')
    connection.hurry()
    expect(sources.length).toBe(1)
    newest().tell('error')
    vi.advanceTimersByTime(1_000)
    newest().tell('error') // the next attempt is after 2 s
    vi.advanceTimersByTime(999)
    connection.hurry()
    expect(sources.length).toBe(2)
    vi.advanceTimersByTime(1)
    connection.hurry()
    connection.hurry()
    expect(sources.length).toBe(3)
  })

  test('is resumed after the last event, without a read', () => {
    const { newest, read } = start()
    newest().tell('open')
    newest().tell('lock', { active: false }, '7')
    newest().tell('message', { id: 8 }, '8')
    newest().tell('error')
    vi.advanceTimersByTime(1_000)
    expect(newest().after).toBe(8)
    newest().tell('open')
    expect(read.mock.calls.length).toBe(1)
  })

  test('begins with a read after 15 s: what is missing may be long', () => {
    const { newest, read } = start()
    newest().tell('open')
    newest().tell('message', { id: 8 }, '8')
    newest().tell('error')
    for (let seconds = 0; seconds < 20; seconds += 1) {
      vi.advanceTimersByTime(1_000)
      newest().tell('error')
    }
    expect(newest().after).toBe(undefined)
    const before = read.mock.calls.length
    vi.advanceTimersByTime(14_000) // the next attempt is 31 s after the cut
    const reads = read.mock.calls.length - before
    newest().tell('open')
    expect(read.mock.calls.length).toBe(before + reads + 1)
  })
})

test('a stream is dead once it was silent for 20 s', () => {
  const { connection, sources, newest } = start()
  newest().tell('open')
  for (let times = 0; times < 4; times += 1) {
    vi.advanceTimersByTime(15_000)
    newest().tell('alive')
  }
  expect(connection.state().kind).toBe('live')
  vi.advanceTimersByTime(20_000)
  expect(connection.state().kind).toBe('cut')
  expect(sources.map(({ isClosed }) => isClosed)).toEqual([true])
})

test('`reset` reads again and goes on from the named position', () => {
  const { newest, read } = start()
  newest().tell('open')
  newest().tell('reset', {}, '3')
  expect(read.mock.calls.length).toBe(2)
  newest().tell('error')
  vi.advanceTimersByTime(1_000)
  expect(newest().after).toBe(3)
})

test('after a pause a new stream begins with a read', () => {
  const { connection, sources, newest, read } = start()
  newest().tell('open')
  newest().tell('message', { id: 8 }, '8')
  connection.pause()
  expect(sources.map(({ isClosed }) => isClosed)).toEqual([true])
  vi.advanceTimersByTime(60_000)
  connection.connect()
  expect(newest().after).toBe(undefined)
  newest().tell('open')
  expect(read.mock.calls.length).toBe(2)
})

test('tell the deploy lock, and Argo CD only while it is unavailable', () => {
  const { connection, newest } = start()
  const lock = vi.fn()
  connection.on('lock', lock)
  newest().tell('open')
  newest().tell('lock', { active: true })
  expect(lock.mock.calls).toEqual([[{ active: true }]])
  const late = vi.fn()
  connection.on('lock', late)
  expect(late.mock.calls).toEqual([[{ active: true }]])
  newest().tell('service', { argo_cd: { available: false, since: 5 } })
  expect(connection.argoCd()).toEqual({ available: false, since: 5 })
  newest().tell('service', { argo_cd: { available: true, since: 9 } })
  expect(connection.argoCd()).toBe(undefined)
  newest().tell('service', { argo_cd: { available: false, since: 10 } })
  newest().tell('error')
  vi.advanceTimersByTime(1_000)
  newest().tell('open')
  expect(connection.argoCd()).toBe(undefined)
})
