import type { ServiceState } from '../../contract/health.ts'
import { repeat } from '../concurrency/repeat.ts'
import type { WakeUps } from '../ownership/wake-ups.ts'
import { renderNamed } from './framed-event.ts'

/** So late at most are changes by schedule, the ends of overrides, and what a lost wake-up should have told. */
const intervalMs = 1_000
const minIntervalMs = 20

type Dependencies = {
  readonly readLock: () => Promise<object>
  readonly readArgoCd: () => Omit<ServiceState['argo_cd'], 'since'>
  readonly wakeUps: Pick<WakeUps, 'on'>
  readonly nowMs: () => number
  readonly onError: (message: string, error: unknown) => void
}
type Listener = (kind: 'lock' | 'service', frame: Buffer) => void

/** What streams of all events tell besides: the deploy lock as it is, and whether Argo CD answers. Read once for all of them. */
export function createLiveStates({ readLock, readArgoCd, wakeUps, nowMs, onError }: Dependencies) {
  const listeners = new Set<Listener>()
  let lock: { readonly json: string; readonly frame: Buffer } | undefined
  let argoCd = { ...readArgoCd(), since: nowMs() / 1_000 }

  const tell: Listener = (kind, frame) => {
    for (const listener of listeners) listener(kind, frame)
  }
  const serviceFrame = () => renderNamed('service', JSON.stringify({ argo_cd: argoCd } satisfies ServiceState))

  const watchArgoCd = setInterval(() => {
    const now = readArgoCd()
    if (now.available === argoCd.available) return
    argoCd = { ...now, since: nowMs() / 1_000 }
    tell('service', serviceFrame())
  }, intervalMs)

  const refreshLock = async () => {
    if (listeners.size === 0) return
    const json = JSON.stringify(await readLock())
    if (json === lock?.json || listeners.size === 0) return
    lock = { json, frame: renderNamed('lock', json) }
    tell('lock', lock.frame)
  }
  const looking = repeat(
    refreshLock,
    intervalMs,
    (error) => onError('reading the deploy lock for streams failed, retrying', error),
    minIntervalMs,
  )
  const unsubscribe = wakeUps.on('lock', looking.trigger)

  return {
    /** Tells the lock, and Argo CD while it is away; then each change. Gives back how to stop. */
    follow(listener: Listener): () => void {
      listeners.add(listener)
      if (lock) listener('lock', lock.frame)
      else looking.trigger()
      if (!argoCd.available) listener('service', serviceFrame())
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) lock = undefined // it is no longer kept up to date
      }
    },
    async [Symbol.asyncDispose]() {
      unsubscribe()
      clearInterval(watchArgoCd)
      await looking[Symbol.asyncDispose]()
    },
  }
}
export type LiveStates = ReturnType<typeof createLiveStates>
