import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { aRawApplication } from '../../../test/support/application-builder.ts'
import { aWatchedTask, rolloutDeps } from '../../../test/support/rollout-builder.ts'
import { createArgoCdClient } from '../../argo-cd/argo-cd-client.ts'
import { systemClock } from '../../concurrency/clock.ts'
import { createCallLimiter, maxRunningCalls } from './call-limiter.ts'
import { createRolloutWatcher } from './rollout-watcher.ts'

const resumedApps = Array.from({ length: 4 * maxRunningCalls }, (_, at) => `resumed-${at}`)

/** Argo CD that answers what is asked about `shop`, and nothing else. */
async function answeringForShop() {
  let unanswered = 0
  let version = 10
  let isFull = () => {}
  const full = new Promise<void>((resolve) => {
    isFull = resolve
  })
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/api/v1/applications/shop')) {
      if (request.url.includes('refresh=')) version += 2
      response.setHeader('content-type', 'application/json')
      return response.end(JSON.stringify(aRawApplication({ version })))
    }
    unanswered += 1
    if (unanswered === maxRunningCalls) isFull()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // The server listens on TCP, so its address is of this type.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    full,
    unanswered: () => unanswered,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('a verdict is confirmed while Argo CD owes answers to as many calls as may only explain', async () => {
  await using argo = await answeringForShop()
  await using controller = createArgoCdClient({
    url: argo.url,
    urlAlias: undefined,
    token: () => 'a.b.c',
    apiTimeoutMs: 60_000,
    apiRetries: 0,
    projects: [],
    selector: undefined,
    caFile: undefined,
    skipTlsVerify: false,
  })
  const limiter = createCallLimiter(systemClock, () => 1)
  const ended = Promise.withResolvers<string>()
  await using watcher = createRolloutWatcher({
    ...rolloutDeps,
    controller,
    clock: systemClock,
    limiter,
    settings: { ...rolloutDeps.settings, settleMs: 0 },
    records: {
      ...rolloutDeps.records,
      async finish(_, { status }) {
        ended.resolve(status)
      },
    },
    onError: () => {},
  })
  const claim = (taskId: string) => ({ taskId, owner: 'replica', fence: '2' })
  watcher.watch(resumedApps.map((app) => aWatchedTask(app, { app, mayWrite: false, claim: claim(app) })))
  await argo.full
  watcher.watch([aWatchedTask('new', { app: 'shop', mayWrite: false })])
  expect(await ended.promise).toBe('deployed')
  expect(argo.unanswered()).toBe(maxRunningCalls)
})
