import type { StreamOpening } from '../../server/argo-cd/argo-cd-client.ts'
import { parseApplication } from '../../server/argo-cd/parse/parse-application.ts'
import { parseManagedResources } from '../../server/argo-cd/parse/parse-managed-resources.ts'
import { parseResourceTree } from '../../server/argo-cd/parse/parse-resource-tree.ts'
import { parseSyncWindows } from '../../server/argo-cd/parse/parse-sync-windows.ts'
import type {
  ApplicationAddress,
  ReadOutcome,
  DeliveryController as ServerController,
} from '../../server/rollout/observed/delivery-controller.ts'
import { type Application, refreshAnnotation } from '../../simulator/model/application.ts'
import type { DeliveryController } from '../../simulator/model/delivery-controller.ts'
import { renderManagedResources } from '../../simulator/model/render-managed-resources.ts'
import { renderResourceTree } from '../../simulator/model/render-resource-tree.ts'
import type { Replica } from '../../simulator/model/replica.ts'
import type { ClockSide } from './history-clock.ts'
import type { CallKind } from './history-script.ts'
import { openStreamSurface, served } from './stream-surface.ts'
import type { SurfaceFaults } from './surface-faults.ts'

type SurfaceDeps = {
  readonly controller: DeliveryController
  readonly clock: ClockSide
  readonly faults: SurfaceFaults
  readonly burstGapMs: number
}

/** The client gives up a call after this long. */
const callTimeoutMs = 10_000
const refreshTimeoutMs = 2_000

/** The HTTP surface of the controller without HTTP: every call takes its time, may fail, and Lists come from a replica that lags. */
export function createControllerSurface({ controller, clock, faults, burstGapMs }: SurfaceDeps) {
  const streams = new Set<ReturnType<typeof openStreamSurface>>()
  let calls = 0

  const pause = (delayMs: number) => new Promise<void>((resolve) => void clock.setTimer(delayMs, resolve))
  const nextReplica = (): Replica => {
    calls += 1
    const replica = controller.replicas[calls % controller.replicas.length]
    if (replica === undefined) throw new Error('a controller has at least one replica')
    return replica
  }

  const call = async <Value>(kind: CallKind, answer: () => ReadOutcome<Value>): Promise<ReadOutcome<Value>> => {
    const delayMs = faults.delayMs()
    const refusal = faults.refusalOf(kind)
    await pause(Math.min(delayMs / 2, callTimeoutMs))
    if (delayMs / 2 >= callTimeoutMs) return { kind: 'unreachable', why: 'no answer in time' }
    const outcome = refusal === undefined ? answer() : refusalOutcome(refusal)
    await pause(Math.min(delayMs / 2, callTimeoutMs))
    return outcome
  }

  const find = ({ name, namespace }: ApplicationAddress): Application | undefined =>
    controller.store.get({ name, namespace: namespace ?? controller.namespace })

  const ofApplication = <Value>(
    address: ApplicationAddress,
    answer: (application: Application) => Value | undefined,
  ): ReadOutcome<Value> => {
    const application = find(address)
    if (application === undefined) return { kind: address.project === undefined ? 'forbidden' : 'not_found' }
    const value = answer(application)
    return value === undefined ? { kind: 'unreachable', why: 'not its JSON' } : { kind: 'read', value }
  }

  const workloadsOf = ({ metadata }: Application) => controller.managedAt(metadata)?.cluster.list() ?? []

  /** Resolves with the first event without the annotation; the refresh goes on if the caller gives up. */
  const refreshed = async (application: Application, replica: Replica): Promise<Application | undefined> => {
    const { promise, resolve } = Promise.withResolvers<Application | undefined>()
    const { uid, name, namespace } = application.metadata
    const annotated = controller.annotateRefresh({ name, namespace }, 'normal')
    const stop = replica.subscribe(({ type, application: seen }) => {
      const { metadata } = seen
      if (metadata.uid !== uid) return
      const isNewer = Number(metadata.resourceVersion) > Number(annotated?.metadata.resourceVersion ?? 0)
      if (type !== 'DELETED' && (!isNewer || metadata.annotations?.[refreshAnnotation])) return
      resolve(seen)
    })
    const cancel = clock.setTimer(refreshTimeoutMs, () => resolve(undefined))
    const answer = await promise
    cancel()
    stop()
    return answer
  }

  const surface: ServerController = {
    readApplication: (address) =>
      call('get', () => ofApplication(address, (application) => parseApplication(served(controller, application)))),

    async refreshApplication(address) {
      const began = await call('refresh', () => ofApplication(address, (application) => application))
      if (began.kind !== 'read') return began
      const answer = await refreshed(began.value, nextReplica())
      const value = answer === undefined ? undefined : parseApplication(served(controller, answer))
      return value === undefined ? { kind: 'asked' } : { kind: 'read', value }
    },

    listApplications: (only) =>
      call('list', () => {
        const replica = nextReplica()
        const items = replica.list().flatMap((application) => parseApplication(application) ?? [])
        const applications = only === undefined ? items : items.filter(({ name }) => name === only.name).slice(0, 1)
        return { kind: 'read', value: { version: Number(replica.resourceVersion()), applications } }
      }),

    readResourceTree: (address) =>
      call('tree', () =>
        ofApplication(address, (application) => parseResourceTree(renderResourceTree(workloadsOf(application)))),
      ),

    readManagedResources: (address) =>
      call('managed', () =>
        ofApplication(address, (application) => {
          const targets = controller.managedAt(application.metadata)?.target?.manifests ?? []
          const items = renderManagedResources(application.metadata.name, targets, workloadsOf(application))
          return parseManagedResources({ items })
        }),
      ),

    readSyncWindows: (address) =>
      call('windows', () =>
        ofApplication(address, ({ spec }) => {
          const assignedWindows = controller.windowsOf(spec.project)
          return parseSyncWindows({
            assignedWindows,
            activeWindows: assignedWindows.filter(({ isActive }) => isActive),
          })
        }),
      ),

    readEvents: (address) =>
      call('tree', () =>
        ofApplication(address, () => [
          { reason: 'Failed', message: 'Error: ErrImagePull', count: 1, lastMs: undefined, container: undefined },
        ]),
      ),
    readLivePod: async () => ({ kind: 'forbidden' }),
    probe: () => call('probe', () => ({ kind: 'read', value: {} })),
  }

  return {
    ...surface,
    async openStream({ signal }: { readonly liveOnly: boolean; readonly signal: AbortSignal }): Promise<StreamOpening> {
      await pause(faults.delayMs())
      const refusal = faults.refusalOf('stream')
      if (refusal !== undefined) return { kind: refusal, why: `the stream is ${refusal}` }
      const stream = openStreamSurface({ controller, replica: nextReplica(), clock, burstGapMs })
      streams.add(stream)
      signal.addEventListener('abort', () => {
        stream.abandon()
        streams.delete(stream)
      })
      return stream.opening
    },
    stallStreams() {
      for (const stream of streams) stream.stall()
    },
    cutStreams(how: 'clean' | 'error' | 'in-a-line') {
      for (const stream of streams) stream.cut(how)
      streams.clear()
    },
  }
}

function refusalOutcome(refusal: 'forbidden' | 'unauthorized' | 'unreachable'): ReadOutcome<never> {
  if (refusal === 'forbidden') return { kind: 'forbidden' }
  return { kind: refusal, why: refusal === 'unauthorized' ? 'token is expired' : 'Argo CD answered 502' }
}
