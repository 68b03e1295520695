import { afterAll, expect, test } from 'vitest'
import { version } from '../../server/health/version.ts'
import { claimPort } from '../support/claim-port.ts'
import { aTask, type Service, startService } from '../support/service.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld()
afterAll(() => world[Symbol.asyncDispose]())

const scrape = async ({ request }: Pick<Service, 'request'>) => String((await request('/metrics')).body)

/** Each line of a metric, by its labels. */
async function seriesOf(service: Pick<Service, 'request'>, name: string): Promise<Record<string, number>> {
  const lines = (await scrape(service)).matchAll(new RegExp(`^${name}(?:{(.*)})? (\\S+)$`, 'gm'))
  return Object.fromEntries([...lines].map(([, labels = '', figure]) => [labels, Number(figure)]))
}

test('METRICS_PORT moves the metrics and answers the probes besides', async () => {
  const port = await claimPort()
  await using service = await startService({ settings: { METRICS_PORT: String(port) } })
  const statusAt = async (pathname: string) => (await fetch(`http://127.0.0.1:${port}${pathname}`)).status
  expect(await Promise.all(['/metrics', '/livez', '/readyz', '/healthz'].map(statusAt))).toEqual([200, 200, 200, 200])
  expect(await statusAt('/api/v1/tasks')).toBe(404)
  expect((await service.request('/metrics')).status).toBe(404)
  expect((await service.request('/readyz')).status).toBe(200)
})

test('submissions are counted by the reason of their rejection', async () => {
  const everDay = 'Mon 00:00 - Sun 23:59, Sun 23:00 - Mon 01:00'
  await using locked = await startService({
    settings: { LOCKDOWN_SCHEDULE: everDay, SUBMISSIONS_PER_MINUTE: '1', WATCHER_DEPLOY_TOKEN: 'token' },
  })
  await locked.submitTask()
  await locked.submitTask()
  expect(await seriesOf(locked, 'watcher_submissions_rejected_total')).toEqual({
    'reason="lock"': 1,
    'reason="limit"': 1,
  })
  expect(await seriesOf(locked, 'watcher_deploy_lock_active')).toEqual({ 'source="manual"': 0, 'source="schedule"': 1 })
  await world.service.submitTask({})
  await world.service.submitTask(aTask(), { 'Watcher-Deploy-Token': 'wrong' })
  expect(await seriesOf(world.service, 'watcher_submissions_rejected_total')).toEqual({
    'reason="validation"': 1,
    'reason="credential"': 1,
  })
})

test('a deployment shows in calls, verdict latency and write-backs, a failure by its cause', async () => {
  const { service } = world
  expect(await service.waitForEnd(await world.deploy('shop', 'v2'))).toMatchObject({ status: 'deployed' })
  expect(await service.waitForEnd(await world.announce('nowhere', 'v1'))).toMatchObject({ status: 'app not found' })
  expect(await seriesOf(service, 'watcher_verdict_latency_seconds_count')).toEqual({ '': 1 })
  expect((await seriesOf(service, 'watcher_verdict_latency_seconds_sum'))['']).toBeLessThan(60)
  const calls = await seriesOf(service, 'watcher_argocd_calls_total')
  expect(calls['kind="application",result="read"']).toBeGreaterThan(0)
  expect(calls['kind="stream",result="open"']).toBe(1)
  expect(await seriesOf(service, 'watcher_deployment_failures_total')).toEqual({ 'cause="app_not_found"': 1 })
  expect(await seriesOf(service, 'watcher_write_backs_open')).toEqual({ '': 0 })
  expect(await seriesOf(service, 'watcher_owned_tasks')).toEqual({ '': 0 })
  expect(await seriesOf(service, 'watcher_build_info')).toEqual({ [`version="${version}"`]: 1 })
  expect(await seriesOf(service, 'watcher_database_connections_waiting')).toEqual({
    'pool="main"': 0,
    'pool="readers"': 0,
  })
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
    (await scrape(world.service))
      .split('\n')
      .filter((line) => !/^(?:nodejs|process)_/.test(line))
      .map((line) => line.replace(/ \S+$/, ''))
      .toSorted()
  await visit(0)
  const before = await names()
  for (let round = 1; round <= 20; round += 1) await visit(round)
  expect(await names()).toEqual(before)
  const requests = await seriesOf(world.service, 'watcher_http_requests_total')
  expect(requests['route="/api/v1/tasks/:id",method="GET",status="404"']).toBe(21)
})

test('an open event stream and a task that another replica takes over are counted', async () => {
  const settings = { ARGO_URL: world.simulator.argoUrl, ARGO_TOKEN: world.simulator.argoToken }
  const closing = new AbortController()
  await using other = await startService({ databaseUrl: world.service.databaseUrl, settings })
  const stream = await fetch(`${other.url}/api/v1/events`, {
    headers: { accept: 'text/event-stream' },
    signal: closing.signal,
  })
  expect(await seriesOf(other, 'watcher_event_streams_open')).toEqual({ '': 1 })
  closing.abort()
  await stream.body?.cancel().catch(() => undefined)
  await other.submitTask(aTask({ app: 'shop', images: [{ image: 'registry.example/never', tag: 'v1' }] }))
  expect(await seriesOf(other, 'watcher_owned_tasks')).toEqual({ '': 1 })
  await other.kill('SIGTERM')
  await expect.poll(() => seriesOf(world.service, 'watcher_task_takeovers_total')).toEqual({ '': 1 })
})
