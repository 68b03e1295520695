import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { quietHttpServer } from '../../test/support/quiet-http-server.ts'

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
}, 5_000)

test('an answer that is written and not yet sent is sent whole', async () => {
  const http = quietHttpServer()
  const body = 'x'.repeat(20_000_000)
  http.get('/large', async () => body)
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  const answer = await fetch(`${url}/large`) // its head
  const closed = http.close()
  expect((await answer.text()).length).toBe(body.length)
  await closed
})
