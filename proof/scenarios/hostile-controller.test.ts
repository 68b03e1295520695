import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { quantilesOf } from '../../bench/support/quantiles.ts'
import type { TaskRecord } from '../../contract/task.ts'
import { seededRandom } from '../../simulator/model/random.ts'
import { limitBeside, timeOfAnswer } from '../../test/security/answer-times.ts'
import { aRawApplication } from '../../test/support/application-builder.ts'
import { evils, finished, seen, startHostileArgoCd } from '../../test/support/hostile-argo-cd.ts'
import { aTask, type Service, startService } from '../../test/support/service.ts'

const settings = { ARGO_API_TIMEOUT: '2s', ARGO_API_RETRIES: '0' }

async function watch(service: Service, app: string, timeout = 900): Promise<string> {
  const images = [{ image: `registry.example/${app}`, tag: 'v2' }]
  return service.acceptTask(aTask({ app, images, timeout }))
}

/** A server that only notes whether anybody comes. */
async function startElsewhere() {
  const visits: string[] = []
  const server = createServer((request, response) => {
    visits.push(`${request.url} ${request.headers.authorization ?? ''}`)
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on TCP
  return {
    url: `http://127.0.0.1:${port}`,
    visits,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  }
}

/** Direct reads of `shop` are honest: the state that the test says. All other applications are in the hands of evil. */
async function startHostileWorld() {
  const shop = { state: {} as object }
  await using started = new AsyncDisposableStack()
  const elsewhere = started.use(await startElsewhere())
  const names = Object.keys(evils)
  const argo = started.use(
    await startHostileArgoCd((app, response) => {
      if (app === 'shop') return argo.json(response, shop.state)
      evils[names[Number(app.split('-').at(-1))] ?? '']?.(response, app, elsewhere.url)
    }),
  )
  const service = started.use(await startService({ settings: { ...settings, ARGO_URL: argo.url } }))
  const stack = started.move()
  return { argo, elsewhere, service, names, shop, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

test.concurrent('whatever answers in the place of Argo CD: no crash, no wrong "deployed", and the token goes nowhere else', async ({
  expect,
}) => {
  await using world = await startHostileWorld()
  const { argo, service, names, elsewhere, shop } = world
  expect(names.length).toBeGreaterThanOrEqual(25)
  await expect.poll(argo.streams).toBe(1)
  // Of the second half the stream tells that all is well; only the direct reads are evil.
  const apps = names.flatMap((_, index) => [`unseen-${index}`, `shown-${index}`])
  const ids = await Promise.all(apps.map((app) => watch(service, app, 6)))
  for (const index of names.keys()) argo.send(seen(finished(`shown-${index}`)))
  const ends = await Promise.all(ids.map((id) => service.waitForEnd(id)))
  const wrong = ends.filter(({ status }) => status !== 'failed' && status !== 'aborted')
  expect(wrong.map(({ app, status }) => [names[Number(app.split('-').at(-1))], status])).toEqual([])
  expect(ends.filter((task) => task.updated - task.created > 6 + 10)).toEqual([])
  expect(elsewhere.visits).toEqual([])
  expect(service.logs()).not.toContain('token-of-the-test')

  shop.state = finished('shop', { metadata: { resourceVersion: '20' } })
  const id = await watch(service, 'shop')
  argo.send(seen(shop.state))
  await service.waitForTask(id, ({ progress }) => progress !== undefined)
  shop.state = finished('shop', { metadata: { resourceVersion: '21' } })
  argo.send(seen(shop.state))
  expect(await service.waitForEnd(id)).toMatchObject({ status: 'deployed' })
})

test.concurrent('five hundred mutated events end nothing, and the true one after them does', async ({ expect }) => {
  await using world = await startHostileWorld()
  const { argo, service, shop } = world
  await expect.poll(argo.streams).toBe(1)
  const random = seededRandom(7)
  const before = (version: number) =>
    aRawApplication({
      version,
      images: ['registry.example/shop:v1'],
      metadata: { annotations: { 'watcher/managed': 'true' } },
      operationState: {
        phase: 'Succeeded',
        message: 'done',
        startedAt: '2026-11-21T15:00:05Z',
        finishedAt: '2026-11-21T15:00:08Z',
      },
    })
  shop.state = before(10)
  const id = await watch(service, 'shop')
  for (let version = 11; version <= 510; version += 1) argo.send(mutated(before(version), random))
  await service.waitForTask(id, ({ progress }) => progress !== undefined)
  expect((await service.getTask(id)).status).toBe('in progress')
  shop.state = finished('shop', { metadata: { resourceVersion: '1000' } })
  argo.send(seen(shop.state))
  expect(await service.waitForEnd(id)).toMatchObject({ status: 'deployed' })
})

const junk: readonly unknown[] = [
  null,
  '',
  0,
  -1,
  true,
  [],
  {},
  [null],
  'x\0\ud800',
  1e308,
  { status: {} },
  'Synced',
  ['Healthy'],
]

/** One event with a part replaced by something else, a piece cut out, or the end cut off. The version stays. */
function mutated(application: object, random: () => number): string {
  const kind = random()
  if (kind < 0.6) return seen(withJunk(application, random))
  const text = seen(application)
  const at = Math.floor(random() * text.length)
  if (kind < 0.8) return text.slice(0, at)
  return text.slice(0, at) + text.slice(at + 1 + Math.floor(random() * 20))
}

function withJunk(value: unknown, random: () => number): unknown {
  const isInner = typeof value === 'object' && value !== null && Object.keys(value).length > 0
  if (!isInner || random() < 0.15) return junk[Math.floor(random() * junk.length)]
  const entries = Object.entries(value)
  const chosen = Math.floor(random() * entries.length)
  const changed = entries.map(([key, inner], index): [string, unknown] => [
    key,
    index === chosen && key !== 'resourceVersion' ? withJunk(inner, random) : inner,
  ])
  return Array.isArray(value) ? changed.map(([, inner]) => inner) : Object.fromEntries(changed)
}

test('a burst of 5,000 applications and 50 MB, and an event above 16 MiB, leave the service answering', async () => {
  await using world = await startHostileWorld()
  await using untouched = await startService() // whose answers tell how busy the machine is
  const { argo, service, shop } = world
  await expect.poll(argo.streams).toBe(1)
  shop.state = aRawApplication({ version: 10, images: ['registry.example/shop:v1'] })
  const id = await watch(service, 'shop')
  const padding = { annotations: { padding: 'x'.repeat(10_000) } }
  await service.waitForTask(id, ({ progress }) => progress?.includes('waiting for') === true)
  for (let index = 0; index < 5_000; index += 1)
    argo.send(seen(aRawApplication({ uid: `uid-${index}`, metadata: { name: `other-${index}`, ...padding } })))
  argo.send(`{"padding":"${'x'.repeat(16 * 1024 * 1024)}"}`)
  argo.send(
    seen(finished('shop', { metadata: { resourceVersion: '30', annotations: { padding: 'y'.repeat(2_000_000) } } })),
  )
  shop.state = finished('shop', { metadata: { resourceVersion: '30' } })
  const waits: number[] = []
  const untouchedWaits: number[] = []
  for (let isOver = false; !isOver; ) {
    untouchedWaits.push(await timeOfAnswer(untouched, '/api/v1/version'))
    const startMs = performance.now()
    const { status, body } = await service.request(`/api/v1/tasks/${id}`)
    waits.push(performance.now() - startMs)
    expect([200, 503]).toContain(status) // 503 where the machine is too busy to read
    isOver = status === 200 && (body as TaskRecord).status !== 'in progress'
  }
  expect(await service.getTask(id)).toMatchObject({ status: 'deployed' })
  const metrics = String((await service.request('/metrics')).body)
  const lagMs = Number(/^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(metrics)?.[1]) * 1_000
  const [p99, untouchedP99] = [quantilesOf(waits).p99, quantilesOf(untouchedWaits).p99]
  console.info(
    `50 MB burst: ${waits.length} reads meanwhile, p99 ${Math.round(p99)} ms, at most ${Math.round(Math.max(...waits))} ms,`,
    `of an untouched service p99 ${Math.round(untouchedP99)} ms;`,
    `event loop delay p99 ${Math.round(lagMs)} ms`,
  )
  expect(p99).toBeLessThan(limitBeside(untouchedP99, 2_000))
})
