import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { quietHttpServer } from '../../test/support/quiet-http-server.ts'
import type { MetricSources } from './metric-sources.ts'
import { createAppLabels, createMetrics } from './metrics.ts'
import { metricsRoutes } from './routes.ts'

/** The value of a series, or undefined where the scrape has none. */
const figureOf = async (metrics: ReturnType<typeof createMetrics>, series: string) => {
  const line = (await metrics.render()).split('\n').find((text) => text.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

describe('the end of a task', () => {
  test('is counted by application and result', async () => {
    const metrics = createMetrics()
    metrics.taskAccepted()
    metrics.taskEnded({ app: 'shop', result: 'deployed', seconds: 3 })
    metrics.taskEnded({ app: 'shop', result: 'app not found', seconds: 3 })
    expect(await figureOf(metrics, 'accepted_deployments')).toBe(1)
    expect(await figureOf(metrics, 'deployments_total{app="shop",result="deployed"}')).toBe(1)
    expect(await figureOf(metrics, 'deployments_total{app="shop",result="app not found"}')).toBe(1)
    expect(await figureOf(metrics, 'deployment_duration_seconds_sum{app="shop"}')).toBe(3)
    expect(await figureOf(metrics, 'deployment_duration_seconds_count{app="shop"}')).toBe(1)
  })

  test('failed_deployment counts failures since the last success; a cancelled task is none', async () => {
    const metrics = createMetrics()
    const failures = () => figureOf(metrics, 'failed_deployment{app="shop"}')
    metrics.taskEnded({ app: 'shop', result: 'failed', seconds: 1 })
    metrics.taskEnded({ app: 'shop', result: 'aborted', seconds: 1 })
    metrics.taskEnded({ app: 'shop', result: 'cancelled', seconds: 1 })
    expect(await failures()).toBe(2)
    metrics.taskEnded({ app: 'shop', result: 'deployed', seconds: 1 })
    expect(await failures()).toBe(0)
  })

  test('of an application that was never confirmed gets no label', async () => {
    const metrics = createMetrics()
    metrics.taskEnded({ app: undefined, result: 'app not found', cause: 'app_not_found', seconds: 1 })
    const before = (await metrics.render()).split('\n').length
    for (let index = 0; index < 1_000; index++)
      metrics.taskEnded({ app: undefined, result: 'app not found', cause: 'app_not_found', seconds: 1 })
    expect(await figureOf(metrics, 'watcher_deployment_failures_total{cause="app_not_found"}')).toBe(1_001)
    metrics.taskEnded({ app: undefined, result: 'cancelled', seconds: 1 })
    expect(await figureOf(metrics, 'unconfirmed_deployment_failures')).toBe(1_001)
    expect((await metrics.render()).split('\n').length).toBe(before)
  })
})

test('reads without a credential are counted by route, and by application once it is confirmed', async () => {
  const metrics = createMetrics()
  metrics.unauthenticatedRead('/api/v1/tasks/:id', 'shop')
  metrics.unauthenticatedRead('/api/v1/tasks/:id', undefined)
  expect(await figureOf(metrics, 'unauthenticated_reads{path="/api/v1/tasks/:id",app="shop"}')).toBe(1)
  expect(await figureOf(metrics, 'unauthenticated_reads{path="/api/v1/tasks/:id",app="unknown"}')).toBe(1)
})

test('histograms have labels for fewer applications than counters', async () => {
  const metrics = createMetrics()
  for (let index = 0; index < 600; index++) metrics.taskEnded({ app: `app-${index}`, result: 'deployed', seconds: 1 })
  expect(await figureOf(metrics, 'deployments_total{app="app-599",result="deployed"}')).toBe(1)
  expect(await figureOf(metrics, 'deployment_duration_seconds_count{app="app-499"}')).toBe(1)
  expect(await figureOf(metrics, 'deployment_duration_seconds_count{app="other"}')).toBe(100)
})

test('labels stop at the cap, then all else is other', () => {
  const labelOf = createAppLabels(2)
  expect(['a', 'b', 'c', 'a', 'd'].map(labelOf)).toEqual(['a', 'b', 'other', 'a', 'other'])
})

test('write-backs and refreshes are timed', async () => {
  const metrics = createMetrics()
  metrics.writeBackBegan('shop', 0.5)
  metrics.writeBackEnded('shop', 1.5)
  metrics.writeBackSkipped('shop')
  metrics.pushed(3)
  metrics.refreshEnded('shop', 0.2)
  expect(await figureOf(metrics, 'gitops_lock_wait_duration_seconds_sum{app="shop"}')).toBe(0.5)
  expect(await figureOf(metrics, 'gitops_writeback_duration_seconds_sum{app="shop"}')).toBe(1.5)
  expect(await figureOf(metrics, 'gitops_writeback_skipped_unvalidated{app="shop"}')).toBe(1)
  expect(await figureOf(metrics, 'gitops_batch_size_sum')).toBe(3)
  expect(await figureOf(metrics, 'argocd_refresh_duration_seconds_count{app="shop"}')).toBe(1)
})

const sources: MetricSources = {
  inProgressTasks: () => 7,
  isControllerUnavailable: () => false,
  isDatabaseUnavailable: async () => true,
  streamState: () => 'live',
  isJwtSecretWeak: () => false,
  wasLastConfigGood: () => true,
  oldestDueDeliverySeconds: () => 0,
  ownedTasks: () => 6,
  openWriteBacks: async () => ({ count: 3, oldestSeconds: 4.5 }),
  openEventStreams: () => 2,
  lockSource: () => 'schedule',
  waitingForConnection: () => ({ main: 1, readers: 0 }),
  version: '1.2.3',
}

describe('what is read at each scrape', () => {
  test('gauges follow their sources', async () => {
    const metrics = createMetrics()
    let state = 'connecting'
    metrics.readFrom({ ...sources, streamState: () => state })
    expect(await figureOf(metrics, 'in_progress_tasks')).toBe(7)
    expect(await figureOf(metrics, 'argocd_unavailable')).toBe(0)
    expect(await figureOf(metrics, 'state_unavailable')).toBe(1)
    expect(await figureOf(metrics, 'watcher_application_stream_state{state="connecting"}')).toBe(1)
    expect(await figureOf(metrics, 'watcher_owned_tasks')).toBe(6)
    expect(await figureOf(metrics, 'watcher_write_backs_open')).toBe(3)
    expect(await figureOf(metrics, 'watcher_write_backs_oldest_seconds')).toBe(4.5)
    expect(await figureOf(metrics, 'watcher_event_streams_open')).toBe(2)
    expect(await figureOf(metrics, 'watcher_deploy_lock_active{source="schedule"}')).toBe(1)
    expect(await figureOf(metrics, 'watcher_deploy_lock_active{source="manual"}')).toBe(0)
    expect(await figureOf(metrics, 'watcher_database_connections_waiting{pool="main"}')).toBe(1)
    expect(await figureOf(metrics, 'watcher_build_info{version="1.2.3"}')).toBe(1)
    state = 'live'
    expect(await figureOf(metrics, 'watcher_application_stream_state{state="live"}')).toBe(1)
    expect(await figureOf(metrics, 'watcher_application_stream_state{state="connecting"}')).toBeUndefined()
  })

  test('a source that fails loses its own series only', async () => {
    const metrics = createMetrics()
    const fails = async () => {
      throw new Error('database away')
    }
    metrics.readFrom({ ...sources, inProgressTasks: fails, lockSource: fails })
    expect(await figureOf(metrics, 'watcher_deploy_lock_active{source="manual"}')).toBeUndefined()
    expect(await figureOf(metrics, 'in_progress_tasks')).toBeUndefined()
    expect(await figureOf(metrics, 'state_unavailable')).toBe(1)
  })
})

test('docs/metrics.md names every metric', async () => {
  const metrics = createMetrics()
  metrics.readFrom(sources)
  const kinds = [...(await metrics.render()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, kind]) => [name, kind])
  const documented = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8')
  const rows = [...documented.matchAll(/^\| `([a-z_]+)` \| (counter|gauge|histogram) \|/gm)]
  expect(rows.map(([, name, kind]) => [name, kind]).sort()).toEqual(
    kinds.filter(([name]) => !/^(?:nodejs|process)_/.test(name ?? '')).sort(),
  )
})

test('/metrics answers in the format of Prometheus', async () => {
  const app = quietHttpServer()
  app.register(metricsRoutes(createMetrics()))
  const answer = await app.inject('/metrics')
  expect(answer.statusCode).toBe(200)
  expect(answer.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/)
  expect(answer.body).toContain('process_resident_memory_bytes')
  await app.close()
})
