import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { systemClock } from '../model/clock.ts'
import { createDeliveryController } from '../model/delivery-controller.ts'
import { chartFiles } from '../model/example-repository.ts'
import { createMemoryGit } from '../model/memory-git.ts'
import { seededRandom } from '../model/random.ts'
import { fastTimes } from '../model/simulator-times.ts'
import { createAccounts } from './accounts.ts'
import { startArgoCdServer } from './argo-cd-server.ts'

const git = createMemoryGit()
git.push('repo', chartFiles('app'))
const controller = createDeliveryController({ clock: systemClock, random: seededRandom(1), git, times: fastTimes })
const accounts = createAccounts(systemClock.now)
const account = accounts.add('watcher', [{ action: 'get', object: '*/*' }])
let server: Awaited<ReturnType<typeof startArgoCdServer>>
const key = { namespace: 'argocd', name: 'shop' }

beforeAll(async () => {
  server = await startArgoCdServer({ controller, accounts })
  await controller.createApplication({ name: 'shop', sources: [{ repoURL: 'repo', path: 'app' }] })
  await caughtUp()
})

beforeEach(() => eventually(() => expect(server.openStreams()).toBe(0)))

afterAll(async () => {
  await server.close()
  controller.close()
})

const caughtUp = () =>
  eventually(() => expect(controller.replicas[0]?.resourceVersion()).toBe(controller.store.resourceVersion()))

function label(value: string): void {
  controller.editApplication(key, (current) => ({ ...current, metadata: { ...current.metadata, labels: { value } } }))
}

/** A stream read by hand, so that the reader can stop reading. */
function openStream(query = '') {
  const fields =
    'fields=result.type,result.application.metadata.name,result.application.metadata.labels,result.application.metadata.resourceVersion'
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  let text = ''
  socket.on('data', (part) => {
    text += part.toString()
  })
  socket.on('error', () => {}) // the tests end streams rudely
  socket.write(
    `GET /api/v1/stream/applications?${fields}${query} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${account.token}\r\n\r\n`,
  )
  return {
    socket,
    text: () => text,
    has: (wanted: string) => eventually(() => expect(text.includes(wanted)).toBe(true)),
    [Symbol.dispose]: () => void socket.destroy(),
  }
}

describe('the application stream', () => {
  test('what happens between the burst and the subscription is lost', async () => {
    const endGap = server.holdBurstGap()
    using stream = openStream()
    await stream.has('"ADDED"')
    label('in-the-gap')
    await caughtUp()
    endGap()
    label('after-the-gap')
    await stream.has('after-the-gap')
    expect(stream.text()).not.toContain('in-the-gap')
  })

  test('older resource versions than asked for are left out, and nothing is replayed', async () => {
    const now = Number(controller.store.resourceVersion())
    using stream = openStream(`&resourceVersion=${now + 1}`)
    await eventually(() => expect(server.openStreams()).toBe(1)) // there is no byte to wait for
    label('replayed-or-not')
    await stream.has('replayed-or-not')
    expect(stream.text()).not.toContain('"ADDED"')
  })

  test('a reader that does not read loses events once 1,000 are waiting, and nobody tells it', async () => {
    using stream = openStream()
    await stream.has('"ADDED"')
    stream.socket.pause()
    const many = 5_000
    for (let count = 0; count < many; count++) label(`${'x'.repeat(6_000)}-${count}`)
    await caughtUp()
    stream.socket.resume()
    let tries = 0
    await eventually(() => {
      label(`read-again-${tries++}`) // lost too while 1,000 are waiting
      expect(stream.text().includes('read-again')).toBe(true)
    })
    expect(stream.text().split('"MODIFIED"').length - 1).toBeLessThan(many)
  })

  test('an expired token leaves a running stream alone, while other calls get 401', async () => {
    const brief = accounts.add('brief', [{ action: 'get', object: '*/*' }])
    const headers = { Authorization: `Bearer ${brief.token}`, Accept: 'text/event-stream' }
    const stop = new AbortController()
    const stream = await fetch(`${server.url}/api/v1/stream/applications`, { headers, signal: stop.signal })
    brief.expiresAtMs = 0
    expect(
      (await fetch(`${server.url}/api/v1/applications/shop`, { headers: { Authorization: headers.Authorization } }))
        .status,
    ).toBe(401)
    const reader = stream.body?.getReader()
    await reader?.read()
    label('still-here')
    let text = ''
    while (!text.includes('still-here')) text += Buffer.from((await reader?.read())?.value ?? []).toString()
    stop.abort()
  })

  test('stopped like on SIGTERM: no new connection, and the open stream lives on', async () => {
    using stream = openStream()
    await stream.has('"ADDED"')
    server.stopListening()
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow()
    label('after-the-signal')
    await stream.has('after-the-signal')
    server.endStreams('unfinished')
    await eventually(() => expect(stream.socket.readableEnded).toBe(true))
    expect(stream.text().endsWith('0\r\n\r\n')).toBe(false)
    await server.listenAgain()
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  })
})
