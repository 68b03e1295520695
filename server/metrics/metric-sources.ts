import { Gauge, type Registry } from 'prom-client'

type Figure = number | boolean
type Source<Read> = () => Read | Promise<Read>

/** What is read at each scrape. A source that fails leaves its series out of that scrape. */
export type MetricSources = {
  readonly inProgressTasks: Source<number>
  readonly ownedTasks: Source<number>
  readonly isControllerUnavailable: Source<boolean>
  readonly isDatabaseUnavailable: Source<boolean>
  /** One word of few, such as `live`: it becomes a label. */
  readonly streamState: () => string
  readonly isJwtSecretWeak: Source<boolean>
  readonly wasLastConfigGood: Source<boolean>
  /** Of all replicas. */
  readonly openWriteBacks: Source<{ readonly count: number; readonly oldestSeconds: number }>
  readonly openEventStreams: Source<number>
  /** Of all replicas. */
  readonly oldestDueDeliverySeconds: Source<number>
  readonly lockSource: Source<'manual' | 'schedule' | null>
  /** By pool. */
  readonly waitingForConnection: () => Readonly<Record<string, number>>
  readonly version: string
}

/** Adds the gauges that follow their sources. */
export function addSources(registry: Registry, sources: MetricSources): void {
  // First, since other sources ask the database themselves.
  addLabelled(
    registry,
    {
      name: 'watcher_database_connections_waiting',
      help: 'Queries that wait for a connection of a pool',
      label: 'pool',
    },
    sources.waitingForConnection,
  )
  addGauge(registry, 'in_progress_tasks', 'Tasks watched now', sources.inProgressTasks)
  addGauge(registry, 'argocd_unavailable', '1 while Argo CD does not answer', sources.isControllerUnavailable)
  addGauge(registry, 'state_unavailable', '1 while the database does not answer', sources.isDatabaseUnavailable)
  addGauge(
    registry,
    'watcher_weak_jwt_secret',
    '1 while JWT_SECRET or JWT_SECRET_PREVIOUS is shorter than 32 bytes',
    sources.isJwtSecretWeak,
  )
  addGauge(
    registry,
    'watcher_config_last_reload_successful',
    '0 while the configuration file is wrong and its last good content counts',
    sources.wasLastConfigGood,
  )
  addLabelled(
    registry,
    {
      name: 'watcher_application_stream_state',
      help: '1 for the state that the stream of applications is in',
      label: 'state',
    },
    () => ({ [sources.streamState()]: 1 }),
  )
  addGauge(
    registry,
    'watcher_owned_tasks',
    'Unfinished tasks that the database says this replica owns',
    sources.ownedTasks,
  )
  addGauge(
    registry,
    'watcher_write_backs_open',
    'Write-backs of all replicas that have no outcome yet',
    async () => (await sources.openWriteBacks()).count,
  )
  addGauge(
    registry,
    'watcher_write_backs_oldest_seconds',
    'How long the oldest of them has waited',
    async () => (await sources.openWriteBacks()).oldestSeconds,
  )
  addGauge(
    registry,
    'watcher_delivery_oldest_due_seconds',
    'How long the oldest notification waits that was not taken yet',
    sources.oldestDueDeliverySeconds,
  )
  addGauge(registry, 'watcher_event_streams_open', 'Open event streams', sources.openEventStreams)
  addLabelled(
    registry,
    {
      name: 'watcher_deploy_lock_active',
      help: '1 while new tasks are rejected, by source of the lock',
      label: 'source',
    },
    async () => {
      const source = await sources.lockSource()
      return { manual: source === 'manual', schedule: source === 'schedule' }
    },
  )
  addLabelled(registry, { name: 'watcher_build_info', help: '1 for the version that runs', label: 'version' }, () => ({
    [sources.version]: 1,
  }))
}

function addGauge(registry: Registry, name: string, help: string, read: Source<Figure>): void {
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

type LabelledGauge = { readonly name: string; readonly help: string; readonly label: string }

/** A gauge with one series for each label that its source names. */
function addLabelled(
  registry: Registry,
  { name, help, label }: LabelledGauge,
  read: Source<Readonly<Record<string, Figure>>>,
): void {
  new Gauge({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    async collect() {
      this.reset()
      try {
        for (const [value, figure] of Object.entries(await read())) this.set({ [label]: value }, Number(figure))
      } catch {
        // its series are missing then
      }
    },
  })
}
