import type { StreamOpening } from '../../server/argo-cd/argo-cd-client.ts'
import { type Application, keyOf } from '../../simulator/model/application.ts'
import { withResourceHealth } from '../../simulator/model/compare-state.ts'
import type { DeliveryController } from '../../simulator/model/delivery-controller.ts'
import type { StoreEvent } from '../../simulator/model/object-store.ts'
import type { Replica } from '../../simulator/model/replica.ts'
import type { ClockSide } from './history-clock.ts'

/** The object as GET and the stream serve it: with the health of its resources, which is not stored. */
export function served(controller: DeliveryController, application: Application): Application {
  const managed = controller.managedAt(application.metadata)
  if (managed?.uid !== application.metadata.uid) return application
  const resources = withResourceHealth(application.status.resources, managed.cluster.list())
  return { ...application, status: { ...application.status, resources } }
}

type StreamDeps = {
  readonly controller: DeliveryController
  readonly replica: Replica
  readonly clock: ClockSide
  readonly burstGapMs: number
}

const keepaliveMs = 15_000
const encoder = new TextEncoder()

/** One connection to the application stream: a burst of what the replica holds, then its events, and keepalives. */
export function openStreamSurface({ controller, replica, clock, burstGapMs }: StreamDeps) {
  const bytes = createByteQueue()
  const lastByName = new Map<string, string>()
  let cancelKeepalive = () => {}
  let isStalled = false
  let unsubscribe = () => {}

  const write = (text: string) => {
    if (!isStalled) bytes.push(encoder.encode(text))
  }
  const keepAlive = () => {
    cancelKeepalive = clock.setTimer(keepaliveMs, () => {
      write(':\n\n')
      keepAlive()
    })
  }
  const send = ({ type, application }: StoreEvent) => {
    const frame = JSON.stringify({ result: { type, application: served(controller, application) } })
    const key = keyOf(application.metadata)
    if (lastByName.get(key) === frame) return
    if (lastByName.size === 0) keepAlive()
    lastByName.set(key, frame)
    write(`data: ${frame}\n\n`)
  }
  const subscribe = () => {
    unsubscribe = replica.subscribe(send)
  }
  for (const application of replica.list()) send({ type: 'ADDED', application })
  let cancelGap = () => {}
  if (burstGapMs === 0) subscribe()
  else cancelGap = clock.setTimer(burstGapMs, subscribe)
  const close = () => {
    unsubscribe()
    cancelGap()
    cancelKeepalive()
  }

  return {
    opening: { kind: 'open', body: bytes.body } satisfies StreamOpening,
    cut(how: 'clean' | 'error' | 'in-a-line') {
      close()
      if (how === 'error') bytes.push(encoder.encode('data: {"error":{"code":14,"message":"shutting down"}}\n\n'))
      if (how === 'in-a-line') bytes.push(encoder.encode('data: {"result":{"application":{"meta'))
      bytes.end(how === 'in-a-line' ? new Error('other side closed') : undefined)
    },
    /** The connection stays open and never says anything again. */
    stall() {
      isStalled = true
    },
    abandon() {
      close()
      bytes.end(new Error('aborted'))
    },
  }
}

/** Bytes that somebody writes and somebody else reads. */
function createByteQueue() {
  const pieces: Uint8Array[] = []
  let ending: { readonly error: Error | undefined } | undefined
  let wake = () => {}

  async function* read(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const piece = pieces.shift()
      if (piece !== undefined) yield piece
      else if (ending?.error !== undefined) throw ending.error
      else if (ending !== undefined) return
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  }

  return {
    body: read(),
    push(piece: Uint8Array) {
      if (ending !== undefined) return
      pieces.push(piece)
      wake()
    },
    end(error: Error | undefined) {
      ending ??= { error }
      wake()
    },
  }
}
