import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { FinalStatus } from '../../contract/task-status.ts'

type EndedTask = {
  /** The application, once the delivery controller has confirmed that it exists; else undefined: names are free text. */
  readonly app: string | undefined
  readonly result: FinalStatus
  readonly seconds: number
}

/** What is read at each scrape. A source that fails leaves its series out of that scrape. */
export type MetricSources = {
  readonly inProgressTasks: () => number | Promise<number>
  readonly isControllerUnavailable: () => boolean
  readonly isDatabaseUnavailable: () => boolean | Promise<boolean>
  /** One word of few, such as `live`: it becomes a label. */
  readonly streamState: () => string
  readonly isJwtSecretWeak: () => boolean
}

export type Metrics = ReturnType<typeof createMetrics>

const rolloutBuckets = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600]
const writeBackBuckets = [0.25, 0.5, 1, 2, 5, 10, 20, 40, 90, 300]
const batchBuckets = [1, 2, 5, 10, 20, 50, 100, 200, 500]
const refreshBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/**
 * The metrics of the service, by the names that argo-watcher's dashboards know where the meaning is the same. Only
 * confirmed applications become labels, 2,000 at most, and 500 of the histograms.
 */
export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const series = createSeries(registry)
  const labelOf = createAppLabels(2_000)
  // A histogram is a dozen series for each, to be kept and to be told at every scrape.
  const histogramLabelOf = createAppLabels(500)
  const labels: Labels = { labelOf, histogramLabelOf }
  return {
    taskAccepted: () => series.accepted.inc(),
    strayError: () => series.strayErrors.inc(),
    taskEnded: (task: EndedTask) => countEnd(series, task, labels),
    writeBackBegan: (app: string, waitedSeconds: number) =>
      series.writeBackWaits.observe({ app: histogramLabelOf(app) }, waitedSeconds),
    writeBackEnded: (app: string, seconds: number) =>
      series.writeBacks.observe({ app: histogramLabelOf(app) }, seconds),
    writeBackSkipped: (app: string) => series.writeBacksSkipped.inc({ app: labelOf(app) }),
    pushed: (commits: number) => series.batches.observe(commits),
    refreshEnded: (app: string, seconds: number) => series.refreshes.observe({ app: histogramLabelOf(app) }, seconds),
    /** `path` is a route's, with names for what varies; `app` as that of {@link EndedTask}. */
    unauthenticatedRead: (path: string, app: string | undefined) =>
      series.unauthenticatedReads.inc({ path, app: app === undefined ? 'unknown' : labelOf(app) }),
    /** To be called once, when the parts that are asked exist. */
    readFrom: (sources: MetricSources) => addSources(registry, sources),
    contentType: registry.contentType,
    render: () => registry.metrics(),
  }
}

function createSeries(registry: Registry) {
  const registers = [registry]
  const byApp = { labelNames: ['app'] as const, registers }
  return {
    accepted: new Counter({ name: 'accepted_deployments', help: 'Tasks accepted', registers }),
    strayErrors: new Counter({ name: 'uncaught_errors_total', help: 'Uncaught errors', registers }),
    ended: new Counter({
      name: 'deployments_total',
      help: 'Tasks of confirmed applications that ended, by result',
      labelNames: ['app', 'result'] as const,
      registers,
    }),
    unconfirmed: new Counter({
      name: 'unconfirmed_deployment_failures',
      help: 'Tasks that did not succeed and whose application was never confirmed',
      registers,
    }),
    failed: new Gauge({ name: 'failed_deployment', help: 'Failures since the last success', ...byApp }),
    rollouts: new Histogram({
      name: 'deployment_duration_seconds',
      help: 'From acceptance to a deployed task',
      buckets: rolloutBuckets,
      ...byApp,
    }),
    writeBacks: new Histogram({
      name: 'gitops_writeback_duration_seconds',
      help: 'From the turn of a write-back on its repository to its outcome',
      buckets: writeBackBuckets,
      ...byApp,
    }),
    writeBackWaits: new Histogram({
      name: 'gitops_lock_wait_duration_seconds',
      help: 'Time that a write-back waits in the queue of its repository',
      buckets: writeBackBuckets,
      ...byApp,
    }),
    batches: new Histogram({
      name: 'gitops_batch_size',
      help: 'Commits that shared a push',
      buckets: batchBuckets,
      registers,
    }),
    writeBacksSkipped: new Counter({
      name: 'gitops_writeback_skipped_unvalidated',
      help: 'Tasks of managed applications that came without a valid credential, so that nothing was committed',
      ...byApp,
    }),
    unauthenticatedReads: new Counter({
      name: 'unauthenticated_reads',
      help: 'Tasks shown to callers without a credential, though there is an identity provider',
      labelNames: ['path', 'app'] as const,
      registers,
    }),
    refreshes: new Histogram({
      name: 'argocd_refresh_duration_seconds',
      help: 'How long a refresh of an application took',
      buckets: refreshBuckets,
      ...byApp,
    }),
  }
}

type Series = ReturnType<typeof createSeries>

type Labels = Readonly<Record<'labelOf' | 'histogramLabelOf', (app: string) => string>>

function countEnd(series: Series, { app, result, seconds }: EndedTask, { labelOf, histogramLabelOf }: Labels): void {
  const isFailure = result !== 'deployed' && result !== 'cancelled'
  if (app === undefined) {
    if (isFailure) series.unconfirmed.inc()
    return
  }
  const label = { app: labelOf(app) }
  series.ended.inc({ ...label, result })
  if (isFailure) series.failed.inc(label)
  if (result === 'deployed') {
    series.failed.set(label, 0)
    series.rollouts.observe({ app: histogramLabelOf(app) }, seconds)
  }
}

function addSources(registry: Registry, sources: MetricSources): void {
  addGauge(registry, 'in_progress_tasks', 'Tasks watched now', sources.inProgressTasks)
  addGauge(
    registry,
    'argocd_unavailable',
    '1 while the delivery controller does not answer',
    sources.isControllerUnavailable,
  )
  addGauge(registry, 'state_unavailable', '1 while the database does not answer', sources.isDatabaseUnavailable)
  addGauge(
    registry,
    'weak_jwt_secret',
    '1 while JWT_SECRET or JWT_SECRET_PREVIOUS is shorter than 32 bytes',
    sources.isJwtSecretWeak,
  )
  new Gauge({
    name: 'application_stream_state',
    help: '1 for the state that the stream of applications is in',
    labelNames: ['state'] as const,
    registers: [registry],
    collect() {
      this.reset()
      this.set({ state: sources.streamState() }, 1)
    },
  })
}

type Source = () => number | boolean | Promise<number | boolean>

function addGauge(registry: Registry, name: string, help: string, read: Source): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      this.reset()
      try {
        this.set(Number(await read()))
      } catch {
        this.remove() // no figure is better than an old one, and the other series must still be told
      }
    },
  })
}

/** Application names that may become metric labels: so many, then `other`, because each is kept for ever. */
export function createAppLabels(most: number): (app: string) => string {
  const known = new Set<string>()
  return (app) => {
    if (known.size < most) known.add(app)
    return known.has(app) ? app : 'other'
  }
}
