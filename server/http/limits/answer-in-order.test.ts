import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { expect, test } from 'vitest'
import { quietHttpServer } from '../../../test/support/quiet-http-server.ts'

async function aServer() {
  const app = quietHttpServer()
  const begun: string[] = []
  const waiting = new Map<string, () => void>()
  app.get('/api/v1/wait/:name', async ({ params }) => {
    const { name } = params as { name: string } // the route has it
    begun.push(name)
    await new Promise<void>((resolve) => waiting.set(name, resolve))
    return { name }
  })
  app.get('/api/v1/now', async () => ({ name: 'now' }))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo // a TCP server has no other kind of address
  return {
    begun,
    end: (name: string) => waiting.get(name)?.(),
    open: () => connect(port, '127.0.0.1'),
    ask: (path: string) => fetch(`http://127.0.0.1:${port}/api/v1${path}`).then((answer) => answer.json()),
    [Symbol.asyncDispose]: () => app.close(),
  }
}

const get = (path: string) => `GET /api/v1${path} HTTP/1.1\r\nHost: x\r\n\r\n`

test('requests that come before the answers are begun one after another, each after the answer before it', async () => {
  await using server = await aServer()
  const socket = server.open()
  socket.write(get('/wait/first') + get('/wait/second') + get('/now'))
  await expect.poll(() => server.begun).toEqual(['first'])
  expect(await server.ask('/now')).toEqual({ name: 'now' }) // another connection does not wait
  expect(server.begun).toEqual(['first'])
  server.end('first')
  await expect.poll(() => server.begun).toEqual(['first', 'second'])
  let answers = ''
  socket.on('data', (bytes) => {
    answers += bytes
  })
  server.end('second')
  await expect.poll(() => answers.match(/"name":"\w+"/g)).toEqual(['"name":"first"', '"name":"second"', '"name":"now"'])
  socket.destroy()
})

test('a connection with more than sixteen requests that wait is closed, and the others go on', async () => {
  await using server = await aServer()
  const patient = server.open()
  patient.write(get('/wait/patient') + get('/now').repeat(16))
  await expect.poll(() => server.begun).toEqual(['patient'])
  const flood = server.open()
  flood.on('error', () => undefined)
  flood.write(get('/wait/flood') + get('/now').repeat(17))
  await once(flood, 'close')
  expect(patient.closed).toBe(false)
  let answers = ''
  patient.on('data', (bytes) => {
    answers += bytes
  })
  server.end('patient')
  await expect.poll(() => answers.match(/"name":"now"/g)?.length).toBe(16)
  patient.destroy()
})

test('what a client had sent before it went away is not begun', async () => {
  await using server = await aServer()
  const socket = server.open()
  socket.write(get('/wait/first') + get('/wait/second'))
  await expect.poll(() => server.begun).toEqual(['first'])
  socket.destroy()
  await once(socket, 'close')
  await server.ask('/now')
  server.end('first')
  await server.ask('/now')
  expect(server.begun).toEqual(['first'])
})
