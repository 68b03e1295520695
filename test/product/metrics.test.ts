import { afterAll, expect, test } from 'vitest'
import { version } from '../../server/health/version.ts'
import { claimPort } from '../support/claim-port.ts'
import { aTask, startService } from '../support/service.ts'
import { startWorld } from '../support/world.ts'

const METRICS_PORT = String(await claimPort())
const world = await startWorld({ settings: { METRICS_PORT, SUBMISSIONS_PER_MINUTE: '30' } })
afterAll(() => world[Symbol.asyncDispose]())

const metricsUrl = `http://127.0.0.1:${METRICS_PORT}/metrics`

/** Each line of a metric, by its labels. */
async function seriesOf(name: string, address = metricsUrl): Promise<Record<string, number>> {
  const lines = (await textAt(address)).matchAll(new RegExp(`^${name}(?:{(.*)})? (\\S+)$`, 'gm'))
  return Object.fromEntries([...lines].map(([, labels = '', figure]) => [labels, Number(figure)]))
}
const textAt = async (address: string) => (await fetch(address)).text()

test('METRICS_PORT moves the metrics and answers the probes, too', async () => {
  const statusAt = async (pathname: string) => (await fetch(new URL(pathname, metricsUrl))).status
  expect(await Promise.all(['/metrics', '/livez', '/readyz', '/healthz'].map(statusAt))).toEqual([200, 200, 200, 200])
  expect(await statusAt('/api/v1/tasks')).toBe(404)
  expect((await world.service.request('/metrics')).status).toBe(404)
  expect((await world.service.request('/readyz')).status).toBe(200)
})

test('a deployment shows in calls, verdict latency and write-backs, a failure by its cause', async () => {
  const { service } = world
  expect(await service.waitForEnd(await world.deploy('shop', 'v2'))).toMatchObject({ status: 'deployed' })
  expect(await service.waitForEnd(await world.announce('nowhere', 'v1'))).toMatchObject({ status: 'app not found' })
  expect(await seriesOf('watcher_verdict_latency_seconds_count')).toEqual({ '': 1 })
  expect((await seriesOf('watcher_verdict_latency_seconds_sum'))['']).toBeLessThan(60)
  const calls = await seriesOf('watcher_argocd_calls_total')
  expect(calls['kind="application",result="read"']).toBeGreaterThan(0)
  expect(calls['kind="stream",result="open"']).toBe(1)
  expect(await seriesOf('watcher_deployment_failures_total')).toEqual({ 'cause="app_not_found"': 1 })
  expect(await seriesOf('watcher_write_backs_open')).toEqual({ '': 0 })
  expect(await seriesOf('watcher_owned_tasks')).toEqual({ '': 0 })
  expect(await seriesOf('watcher_build_info')).toEqual({ [`version="${version}"`]: 1 })
  expect(await seriesOf('watcher_database_connections_waiting')).toEqual({ 'pool="main"': 0, 'pool="readers"': 0 })
})

test('names and paths that callers invent add no series (T9)', async () => {
  const visit = async (round: number) => {
    await world.service.request(`/api/v1/invented-${round}`)
    await world.service.request(`/api/v1/tasks/invented-${round}?wait=1`)
    await world.service.request(`/api/v1/tasks?search=invented-${round}`)
    await world.service.request(`/assets/invented-${round}.js`)
    await world.service.submitTask(aTask({ app: `invented-${round}` }))
  }
  const names = async () =>
    (await textAt(metricsUrl))
      .split('\n')
      .filter((line) => !/^(?:nodejs|process)_/.test(line))
      .map((line) => line.replace(/ \S+$/, ''))
      .toSorted()
  await visit(0)
  const before = await names()
  for (let round = 1; round <= 20; round += 1) await visit(round)
  expect(await names()).toEqual(before)
  const requests = await seriesOf('watcher_http_requests_total')
  expect(requests['route="/api/v1/tasks/:id",method="GET",status="404"']).toBe(21)
})

test('submissions are counted by the reason of their rejection', async () => {
  const { service, database } = world
  await service.submitTask({})
  await service.submitTask(aTask(), { 'Watcher-Deploy-Token': 'wrong' })
  await database.query('UPDATE watcher.deploy_lock SET is_set = true')
  await service.submitTask()
  expect(await seriesOf('watcher_deploy_lock_active')).toEqual({ 'source="manual"': 1, 'source="schedule"': 0 })
  await database.query('UPDATE watcher.deploy_lock SET is_set = false')
  while ((await service.submitTask({})).status !== 429);
  expect(await seriesOf('watcher_submissions_rejected_total')).toEqual({
    'reason="validation"': expect.any(Number),
    'reason="credential"': 1,
    'reason="lock"': 1,
    'reason="limit"': 1,
  })
})

test('an open event stream and a task that another replica takes over are counted', async () => {
  const port = await claimPort()
  const settings = { ...world.settings, METRICS_PORT: String(port) }
  const closing = new AbortController()
  await using other = await startService({ databaseUrl: world.databaseUrl, settings })
  const stream = await fetch(`${other.url}/api/v1/events`, {
    headers: { accept: 'text/event-stream' },
    signal: closing.signal,
  })
  const ofOther = (name: string) => seriesOf(name, `http://127.0.0.1:${port}/metrics`)
  expect(await ofOther('watcher_event_streams_open')).toEqual({ '': 1 })
  closing.abort()
  await stream.body?.cancel().catch(() => undefined)
  await other.submitTask(aTask({ app: 'shop', images: [{ image: 'registry.example/shop', tag: 'never' }] }))
  expect(await ofOther('watcher_owned_tasks')).toEqual({ '': 1 })
  await other.kill('SIGTERM')
  await expect.poll(() => seriesOf('watcher_task_takeovers_total')).toEqual({ '': 1 })
})
