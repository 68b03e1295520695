import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { quietHttpServer } from '../../test/support/quiet-http-server.ts'
import { createClientQuota } from '../http/limits/client-quota.ts'
import { openEventStream } from './event-stream.ts'
import { type FramedEvent, renderEvent, renderNamed } from './framed-event.ts'
import type { LiveStates } from './live-states.ts'
import { timelineRoutes } from './routes.ts'

const anEvent = (id: number, detail = '') => renderEvent({ id, task_id: 'task', at: 1, kind: 'note', detail })

/** Waits for its next page; has asked for so many. */
type Follower = { asked: number; deliver: (page: readonly FramedEvent[]) => void }

/** The real routes over HTTP, of which `newest` waits until it is released, with one place for streams. */
async function streamServer() {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const http = quietHttpServer()
  const responses: ServerResponse[] = []
  const followers = new Set<Follower>()
  const tellState: Parameters<LiveStates['follow']>[0][] = []
  const stopping = new AbortController()
  const streams = createClientQuota(1, 5_000)
  const ada = { address: 'ada', weight: 1 }
  http.decorateRequest('reader', undefined)
  http.addHook('onRequest', async (_request, reply) => void responses.push(reply.raw))
  const routes = timelineRoutes({
    events: {
      after: async () => [],
      newest: () => released.then(() => 0),
      deletedTo: async () => 0,
      verdictOf: async () => undefined,
    },
    feed: {
      async *follow(_after, _taskId, signal) {
        const follower: Follower = { asked: 0, deliver: () => undefined }
        followers.add(follower)
        while (!signal.aborted) {
          follower.asked += 1
          yield await new Promise<readonly FramedEvent[]>((resolve) => {
            follower.deliver = resolve
            signal.addEventListener('abort', () => resolve([]), { once: true })
          })
        }
        followers.delete(follower)
      },
      isCurrent: () => true,
    },
    readTasks: async () => new Map(),
    canSeeTasksOf: () => true,
    states: {
      follow(listener) {
        tellState.push(listener)
        return () => void tellState.splice(tellState.indexOf(listener), 1)
      },
    },
    requireTask: async (_request, id) => ({ id }),
    recheckReadAccess: async () => undefined,
    streams,
    originOf: () => ada,
    stopping: stopping.signal,
  })
  http.register(routes)
  const url = new URL(await http.listen({ host: '127.0.0.1', port: 0 }))
  const open = () => {
    const socket = connect(Number(url.port), '127.0.0.1').on('error', () => undefined)
    socket.write('GET /events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n')
    return socket
  }
  const isPlaceFree = () => {
    const release = streams.acquire(ada)
    release?.()
    return release !== undefined
  }
  return {
    release,
    responses,
    followers,
    tellState,
    stop: () => stopping.abort(),
    open,
    isPlaceFree,
    [Symbol.asyncDispose]: () => http.close(),
  }
}

const until = (isSo: () => boolean) => expect.poll(isSo).toBe(true)

async function release(socket: Socket, response: ServerResponse | undefined): Promise<void> {
  socket.destroy()
  await until(() => response?.destroyed === true)
}

test('a reader that leaves before its stream begins takes no place', async () => {
  await using server = await streamServer()
  const socket = server.open()
  await until(() => server.responses.length === 1)
  await release(socket, server.responses[0])
  server.release()
  await delay(50)
  expect(server.followers.size).toBe(0)
  expect(server.isPlaceFree()).toBe(true)
})

test('a reader that leaves gives its place back', async () => {
  await using server = await streamServer()
  server.release()
  const socket = server.open()
  await until(() => server.followers.size === 1)
  expect(server.isPlaceFree()).toBe(false)
  await release(socket, server.responses[0])
  await until(() => server.followers.size === 0 && server.isPlaceFree())
})

/** A reader that reads nothing, of whose page of 40 MB no more goes into the connection. */
async function stuckReader(server: Awaited<ReturnType<typeof streamServer>>): Promise<Socket> {
  server.release()
  const socket = server.open().pause()
  await until(() => server.followers.size === 1)
  const [follower] = server.followers
  const detail = 'x'.repeat(1_000_000)
  follower?.deliver(Array.from({ length: 40 }, (_, index) => anEvent(index + 1, detail)))
  let times = 0
  await until(() => {
    times = server.responses[0]?.writableNeedDrain ? times + 1 : 0
    return times > 5
  })
  return socket
}

test('a reader that reads nothing is read no further for, and cut off at the second comment it has no room for', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  await using server = await streamServer()
  const socket = await stuckReader(server)
  const [response] = server.responses
  expect(response?.writableLength).toBeLessThan(2_000_000)
  vi.advanceTimersByTime(15_000)
  expect(response?.destroyed).toBe(false)
  vi.advanceTimersByTime(15_000)
  expect(response?.destroyed).toBe(true)
  vi.useRealTimers()
  await until(() => server.followers.size === 0 && server.isPlaceFree())
  socket.destroy()
})

test('of the states that a reader could not take it is told the newest only', async () => {
  await using server = await streamServer()
  const socket = await stuckReader(server)
  const [response] = server.responses
  const before = response?.writableLength ?? 0
  for (let count = 0; count <= 1_000; count++)
    for (const tell of server.tellState)
      tell('lock', renderNamed('lock', JSON.stringify({ count, x: 'x'.repeat(1_000) })))
  expect(response?.writableLength).toBe(before)
  let text = ''
  socket.on('data', (data) => {
    text = (text + String(data)).slice(-5_000_000)
  })
  socket.resume()
  await until(() => text.includes('event: lock'))
  expect(text.match(/event: lock\ndata: \{"count":\d+/g)).toEqual(['event: lock\ndata: {"count":1000'])
  await release(socket, response)
  await until(() => server.tellState.length === 0)
})

test('a reader that reads again is told the rest', async () => {
  await using server = await streamServer()
  const socket = await stuckReader(server)
  const [follower] = server.followers
  expect(follower?.asked).toBe(1)
  socket.resume()
  await until(() => follower?.asked === 2)
  socket.destroy()
})

test('a stream that ends while its reader reads nothing is closed after 5 s', async () => {
  await using server = await streamServer()
  const socket = await stuckReader(server)
  const [response] = server.responses
  if (response === undefined) throw new Error('no request came')
  const errors: unknown[] = []
  response.on('error', (error) => errors.push(error))
  server.stop()
  await once(response, 'close')
  await until(() => server.isPlaceFree())
  expect(errors).toEqual([])
  socket.destroy()
})

test('a stream in which nothing happens says something every 15 s', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const written = new PassThrough().setEncoding('utf8')
  const response = Object.assign(written, { writeHead: () => written })
  let isCurrent = true
  const reader = openEventStream(response as unknown as ServerResponse, {}, 7, () => isCurrent) // as far as a stream is concerned
  expect(written.read()).toBe(':\nid: 7\n\n')
  vi.advanceTimersByTime(30_000)
  isCurrent = false
  vi.advanceTimersByTime(15_000)
  vi.useRealTimers()
  expect(written.read()).toBe(`${'event: alive\ndata: {}\n\n'.repeat(2)}:\n\n`)
  written.destroy()
  await reader.closed
})
