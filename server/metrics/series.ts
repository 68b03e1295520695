import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

const rolloutBuckets = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600]
const writeBackBuckets = [0.25, 0.5, 1, 2, 5, 10, 20, 40, 90, 300]
const batchBuckets = [1, 2, 5, 10, 20, 50, 100, 200, 500]
const refreshBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const verdictBuckets = [0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 30, 60, 120]

/** What is counted as it happens. */
export function createSeries(registry: Registry) {
  const registers = [registry]
  const byApp = { labelNames: ['app'] as const, registers }
  return {
    accepted: new Counter({ name: 'accepted_deployments', help: 'Tasks accepted', registers }),
    uncaughtErrors: new Counter({ name: 'watcher_uncaught_errors_total', help: 'Uncaught errors', registers }),
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
    verdicts: new Histogram({
      name: 'watcher_verdict_latency_seconds',
      help: 'From the last change of an application that Argo CD showed to the written end of a deployed task',
      buckets: verdictBuckets,
      registers,
    }),
    takeovers: new Counter({
      name: 'watcher_task_takeovers_total',
      help: 'Unfinished tasks taken over from a replica that stopped, crashed or froze',
      registers,
    }),
    deliveries: new Counter({
      name: 'watcher_deliveries_total',
      help: 'Attempts to tell a target of a task, by kind of target and result',
      labelNames: ['kind', 'result'] as const,
      registers,
    }),
    failures: new Counter({
      name: 'watcher_deployment_failures_total',
      help: 'Tasks that ended neither deployed nor cancelled, by cause',
      labelNames: ['cause'] as const,
      registers,
    }),
    rejected: new Counter({
      name: 'watcher_submissions_rejected_total',
      help: 'Submissions that were not accepted, by reason',
      labelNames: ['reason'] as const,
      registers,
    }),
    requests: new Counter({
      name: 'watcher_http_requests_total',
      help: 'Answered requests by route, method and status',
      labelNames: ['route', 'method', 'status'] as const,
      registers,
    }),
    calls: new Counter({
      name: 'watcher_argocd_calls_total',
      help: 'Calls to Argo CD by kind and result; the repetitions of a failed call count as one',
      labelNames: ['kind', 'result'] as const,
      registers,
    }),
  }
}
export type Series = ReturnType<typeof createSeries>
