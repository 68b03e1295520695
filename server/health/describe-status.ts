import { setTimeout as after } from 'node:timers/promises'
import type { Health } from '../../contract/health.ts'
import type { ReplicaStatus, ServiceStatus } from '../../contract/service-status.ts'
import type { CheckParts } from './check-parts.ts'

type Dependencies = {
  readonly version: string
  readonly checkParts: CheckParts
  readonly controllerState: () => Health['delivery_controller']
  /** What the watcher last saw, by the clock of `nowMs`; no call is made. */
  readonly controllerFacts: () => {
    readonly lastMessageMs: number | undefined
    readonly unreachableSinceMs: number | undefined
    readonly applications: number
  }
  readonly readControllerVersion: () => Promise<{ readonly kind: string; readonly value?: string }>
  readonly readDatabaseVersion: () => Promise<string>
  readonly listReplicas: () => Promise<ReplicaStatus[]>
  /** What has to change before notifications can be sent. */
  readonly listBlocked: () => Promise<string[]>
  /** Of the configuration file; undefined without one. */
  readonly configState: () => { readonly loadedMs: number; readonly issues: readonly string[] } | undefined
  /** Never goes back. */
  readonly nowMs: () => number
  readonly wallMs: () => number
}

/** Argo CD is upgraded rarely enough that an older version does not mislead. */
const versionKeptMs = 600_000
const versionLimitMs = 1_000

/** Describes the service and what it depends on; the most of it only to callers with a credential. */
export function createDescribeStatus(dependencies: Dependencies) {
  const { version, checkParts, controllerState, controllerFacts, nowMs, wallMs } = dependencies
  const started = wallMs() / 1000
  const readControllerVersion = keepVersion(dependencies)
  const epochOf = (atMs: number) => (wallMs() - nowMs() + atMs) / 1000

  const describeController = async (): Promise<Partial<ServiceStatus['argo_cd']>> => {
    const { lastMessageMs, unreachableSinceMs, applications } = controllerFacts()
    const itsVersion = unreachableSinceMs === undefined ? await readControllerVersion() : undefined
    return {
      ...(itsVersion !== undefined && { version: itsVersion }),
      ...(lastMessageMs !== undefined && { last_message: epochOf(lastMessageMs) }),
      ...(unreachableSinceMs !== undefined && { unreachable_since: epochOf(unreachableSinceMs) }),
      applications,
    }
  }

  /** Nothing of what does not answer: that it does not is told by GET /healthz. */
  const describeDatabase = async (): Promise<Pick<ServiceStatus, 'database' | 'replicas' | 'notifications'>> => {
    if ((await checkParts()).database.status === 'down') return {}
    try {
      const askedMs = nowMs()
      const itsVersion = await dependencies.readDatabaseVersion()
      const answerMs = nowMs() - askedMs
      return {
        database: { version: itsVersion, answer_ms: answerMs },
        replicas: await dependencies.listReplicas(),
        notifications: { issues: await dependencies.listBlocked() },
      }
    } catch {
      return {}
    }
  }

  const describeConfig = (): Pick<ServiceStatus, 'config'> => {
    const state = dependencies.configState()
    return state === undefined ? {} : { config: { loaded: state.loadedMs / 1000, issues: [...state.issues] } }
  }

  return async (isWhole: boolean): Promise<ServiceStatus> => {
    const { status, detail, stream } = controllerState()
    const argoCd = { status, ...(stream && { stream }), ...(detail !== undefined && { detail }) }
    if (!isWhole) return { version, started, argo_cd: argoCd }
    const [controller, database] = await Promise.all([describeController(), describeDatabase()])
    return { version, started, argo_cd: { ...argoCd, ...controller }, ...database, ...describeConfig() }
  }
}

/** The version of Argo CD, asked for seldom; undefined where it is not known soon. */
function keepVersion({ readControllerVersion, nowMs }: Pick<Dependencies, 'readControllerVersion' | 'nowMs'>) {
  let known: { readonly value: string | undefined; readonly atMs: number } | undefined
  let reading: Promise<string | undefined> | undefined
  const read = async () => {
    const { value } = await readControllerVersion()
    known = value === undefined ? known : { value, atMs: nowMs() }
    return value
  }
  return async (): Promise<string | undefined> => {
    if (known && nowMs() - known.atMs < versionKeptMs) return known.value
    reading ??= read().finally(() => {
      reading = undefined
    })
    return Promise.race([reading, after(versionLimitMs, known?.value, { ref: false })])
  }
}
