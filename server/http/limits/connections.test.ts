import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { eventually } from '../../../test/support/eventually.ts'
import { quietHttpServer } from '../../../test/support/quiet-http-server.ts'
import { inPieces } from './answer-in-pieces.ts'
import { closeStalledConnections, dropDestroyedConnections, limitConnections } from './connections.ts'

/** More than the buffers of the system take. */
const answerBytes = 32 * 1024 * 1024
const maxStalledMs = 400

async function aServer(limits: Parameters<typeof closeStalledConnections>[1] = {}) {
  const server = createServer((_request, response) => inPieces(Buffer.alloc(answerBytes)).pipe(response))
  closeStalledConnections(server, { maxStalledMs, intervalMs: 50, ...limits })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // a TCP server has no other kind
  const sockets: Socket[] = []
  return {
    server,
    /** A reader that takes nothing unless it is told to. */
    ask() {
      const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined)
      sockets.push(socket)
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
      return socket
    },
    answered: () => once(server, 'request') as Promise<[unknown, ServerResponse]>,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('one address holds at most a tenth of all connections, and a trusted proxy as many as it likes', async () => {
  const held = async (isTrustedProxy: (address: string) => boolean) => {
    const server = createServer()
    limitConnections(server, 20, isTrustedProxy)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo // a TCP server has no other kind
    const sockets = await Promise.all(
      ['127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.2'].map(async (localAddress) => {
        const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined)
        await once(socket, 'connect')
        return socket
      }),
    )
    const open = () => promisify(server.getConnections.bind(server))()
    await expect.poll(open, { timeout: 10_000 }).toBe(isTrustedProxy('127.0.0.1') ? 4 : 3)
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  await held(() => false)
  await held(() => true)
})

test('a connection whose reader takes nothing is closed', async () => {
  await using server = await aServer()
  const answered = server.answered()
  server.ask()
  const [, response] = await answered
  const askedMs = performance.now()
  await once(response, 'close')
  expect(response.writableFinished).toBe(false)
  expect(performance.now() - askedMs).toBeGreaterThan(maxStalledMs)
})

test('a reader that takes a little at a time gets all of it, however long that lasts', async () => {
  const maxStalledMs = 2_000 // a busy machine may keep this process waiting for a second
  await using server = await aServer({ maxStalledMs })
  const beganMs = performance.now()
  const socket = server.ask()
  let readBytes = 0
  for await (const part of socket) {
    readBytes += part.length
    if (readBytes >= answerBytes) break
    await delay(5) // the pace of a slow reader, not a wait for anything
  }
  expect(readBytes).toBeGreaterThanOrEqual(answerBytes)
  expect(performance.now() - beganMs).toBeGreaterThan(maxStalledMs)
})

test('where too much waits for all readers together, who has taken nothing for longest is closed first', async () => {
  await using server = await aServer({ maxStalledMs: 60_000, maxUnsentBytes: 1.5 * answerBytes })
  const closed: string[] = []
  for (const name of ['first', 'second', 'third']) {
    const answered = server.answered()
    server.ask()
    const [, response] = await answered
    response.once('close', () => closed.push(name))
    await delay(100) // so that each has waited longer than the next
  }
  await expect.poll(() => closed, { timeout: 50_000 }).toEqual(['first', 'second'])
})

test('a connection on which nothing is to be sent stays open', async () => {
  await using server = await aServer()
  server.server.removeAllListeners('request')
  const answered = server.answered()
  const socket = server.ask()
  const [, response] = await answered
  await delay(2 * maxStalledMs) // that nothing happens can only be waited for
  response.end('done')
  const [part] = await once(socket, 'data')
  expect(String(part)).toContain('done')
})

test('a connection on which no request has come does not keep the server from closing', async () => {
  const http = quietHttpServer()
  await http.listen({ host: '127.0.0.1', port: 0 })
  const address = http.server.address()
  if (typeof address !== 'object' || !address) throw new Error('the server has no port')
  const silent = connect(address.port, '127.0.0.1')
  const halfway = connect(address.port, '127.0.0.1')
  await Promise.all([once(silent, 'connect'), once(halfway, 'connect')])
  halfway.write('GET /livez HTTP/1.1\r\nHost: ')
  const answered = await fetch(`http://127.0.0.1:${address.port}/nowhere`) // later than both on the same port
  expect(answered.status).toBe(404)
  const ended = [silent, halfway].map(
    (socket) => new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve)),
  )
  await http.close()
  await Promise.all(ended)
})

test('a connection whose answer is under way is closed after it, also if its client would keep it', async () => {
  const http = quietHttpServer()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  http.get('/slow', async () => {
    ask()
    await released
    return 'done'
  })
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  const answer = fetch(`${url}/slow`)
  await asked
  const closed = http.close()
  await eventually(() => expect(http.server.listening).toBe(false))
  release()
  expect(await (await answer).text()).toBe('done')
  await closed
}, 30_000)

test('an answer that is written and not yet sent is sent whole', async () => {
  const http = quietHttpServer()
  const body = 'x'.repeat(20_000_000)
  http.get('/large', async () => body)
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  const answer = await fetch(`${url}/large`) // its head
  const closed = http.close()
  expect(answer.headers.get('content-length')).toBe(String(body.length))
  expect((await answer.text()).length).toBe(body.length)
  await closed
})

test('what else came in one piece on a connection that was destroyed reaches no listener', async () => {
  const server = createServer()
  let seen = 0
  server.on('request', ({ socket }) => {
    seen += 1
    socket.destroy()
  })
  dropDestroyedConnections(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // a TCP server has no other kind
  const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(500))
  await once(socket, 'close')
  expect(seen).toBe(1)
  await new Promise((resolve) => server.close(resolve))
})
