import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'

/** Opens a connection, says something, then one byte a second, and tells after how long the server ended it. */
export async function cutAfterMs(port: number, start: string, drop: string): Promise<number> {
  const began = performance.now()
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  socket.resume() // an end is only seen by who reads
  await once(socket, 'connect')
  socket.write(start)
  const dripping = setInterval(() => socket.writable && socket.write(drop), 1_000)
  await closeOf(socket)
  clearInterval(dripping)
  return performance.now() - began
}

/** Opens a connection, says nothing, and tells after how long the server ended it. */
export async function idleMs(port: number): Promise<number> {
  const began = performance.now()
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  socket.resume()
  await closeOf(socket)
  return performance.now() - began
}

/** Of a connection that may well be reset, which `once` would throw. */
const closeOf = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))

/** Opens event streams, at most 250 at once, and tells with which status each was answered. */
export async function openStreams(port: number, count: number, headers: string) {
  const sockets: Socket[] = []
  const statuses: number[] = []
  const open = async (): Promise<void> => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    sockets.push(socket)
    socket.write(`GET /api/v1/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n${headers}\r\n`)
    const [answer] = await once(socket, 'data')
    const status = Number(String(answer).split(' ', 2)[1])
    if (status === 503) return open() // the database of a busy machine did not answer in time: a reader asks again
    statuses.push(status)
    socket.resume()
  }
  while (statuses.length < count)
    await Promise.all(Array.from({ length: Math.min(250, count - statuses.length) }, open))
  return { statuses, leave: () => sockets.forEach((socket) => void socket.destroy()) }
}

/** Streams a body that never ends and tells how much was taken before the server closed. */
export async function streamWithoutEnd(port: number, head: string) {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  await once(socket, 'connect')
  let answer = ''
  socket.setEncoding('latin1').on('data', (text) => (answer += text))
  socket.write(head)
  const ended = closeOf(socket)
  const mebibyte = 1_048_576
  let sent = 0
  const chunk = Buffer.alloc(65_536, 32)
  while (!socket.destroyed && sent < 1024 * mebibyte) {
    sent += chunk.length
    if (!socket.write(chunk)) await Promise.race([drained(socket), ended])
  }
  await ended
  return { answer, sentBytes: sent }
}

const drained = (socket: Socket) => new Promise((resolve) => socket.once('drain', resolve))
