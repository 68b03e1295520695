import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Cause } from '../../contract/causes.ts'
import type { FinalStatus } from '../../contract/task-status.ts'
import { addSources, type MetricSources } from './metric-sources.ts'
import { createSeries, type Series } from './series.ts'

type EndedTask = {
  /** The application, once the delivery controller has confirmed that it exists; else undefined: names are free text. */
  readonly app: string | undefined
  readonly result: FinalStatus
  /** Why it did not end deployed. */
  readonly cause?: Cause | undefined
  readonly seconds: number
}

/** Why a submission was not accepted. */
export type RejectionReason = 'lock' | 'credential' | 'validation' | 'limit'

export type Metrics = ReturnType<typeof createMetrics>

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
    uncaughtError: () => series.uncaughtErrors.inc(),
    taskEnded: (task: EndedTask) => countEnd(series, task, labels),
    /** From the last change of its application that Argo CD showed. */
    verdictWritten: (seconds: number) => series.verdicts.observe(seconds),
    takenOver: (tasks: number) => series.takeovers.inc(tasks),
    submissionRejected: (reason: RejectionReason) => series.rejected.inc({ reason }),
    /** `route` is the pattern of a route. */
    answered: (route: string, method: string, status: number) => series.requests.inc({ route, method, status }),
    argoCdCalled: (kind: string, result: string) => series.calls.inc({ kind, result }),
    writeBackBegan: (app: string, waitedSeconds: number) =>
      series.writeBackWaits.observe({ app: histogramLabelOf(app) }, waitedSeconds),
    writeBackEnded: (app: string, seconds: number) =>
      series.writeBacks.observe({ app: histogramLabelOf(app) }, seconds),
    delivered: (kind: string, result: 'sent' | 'retry' | 'dead' | 'off') => series.deliveries.inc({ kind, result }),
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

type Labels = Readonly<Record<'labelOf' | 'histogramLabelOf', (app: string) => string>>

function countEnd(
  series: Series,
  { app, result, seconds, cause }: EndedTask,
  { labelOf, histogramLabelOf }: Labels,
): void {
  const isFailure = result !== 'deployed' && result !== 'cancelled'
  if (isFailure) series.failures.inc({ cause: cause ?? 'unknown' })
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

/** Application names that may become metric labels: so many, then `other`, because each is kept for ever. */
export function createAppLabels(most: number): (app: string) => string {
  const known = new Set<string>()
  return (app) => {
    if (known.size < most) known.add(app)
    return known.has(app) ? app : 'other'
  }
}
