import { createContext, use, useEffect, useRef, useSyncExternalStore } from 'react'
import type { ServiceState } from '../../../contract/health.ts'
import { type ConnectionState, createLiveConnection, type Listeners, type LiveConnection } from './live-connection.ts'

const path = '/api/v1/events'
const maxFrameMs = 250

/** The connection of this page, which `useLiveWhileVisible` opens. */
const ofThisPage = createLiveConnection({
  open: (after) => new EventSource(after === undefined ? path : `${path}?after=${after}`),
  nextFrame,
  nowMs: Date.now,
  random: Math.random,
})

/** A hidden page gets no frames. */
function nextFrame(work: () => void): void {
  let isDone = false
  const once = () => {
    if (!isDone) work()
    isDone = true
  }
  requestAnimationFrame(once)
  setTimeout(once, maxFrameMs)
}

export const Live = createContext<LiveConnection>(ofThisPage)

/** Calls `listener` with the events of all tasks (at most once per animation frame), or with the deploy lock (also as it is known). */
export function useLiveEvents<Name extends 'tasks' | 'lock'>(name: Name, listener: Listeners[Name]): void {
  const connection = use(Live)
  const newest = useRef(listener)
  newest.current = listener
  useEffect(() => connection.on(name, ((told: never) => newest.current(told)) as Listeners[Name]), [connection, name])
}

const useConnectionValue = <Value>(read: (connection: LiveConnection) => Value): Value => {
  const connection = use(Live)
  return useSyncExternalStore(
    (listener) => connection.on('change', listener),
    () => read(connection),
  )
}

export const useConnectionState = (): ConnectionState => useConnectionValue((connection) => connection.state())

/** Since when Argo CD does not answer, and why; undefined while it does. */
export const useArgoCdOutage = (): ServiceState['argo_cd'] | undefined =>
  useConnectionValue((connection) => connection.argoCd())
