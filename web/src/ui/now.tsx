import { createContext, type ReactNode, use, useSyncExternalStore } from 'react'

const Now = createContext(Math.floor(Date.now() / 1000))

/** This device's clock in Unix seconds, ticking each second; stands still where a NowProvider holds it. */
export const useNow = (): number => use(Now)

/** One clock for the page. `heldAt` stops it, so that nothing counts on while the data is old. */
export function NowProvider({ heldAt, children }: { heldAt: number | undefined; children: ReactNode }) {
  const ticking = useTick()
  return <Now value={heldAt ?? ticking}>{children}</Now>
}

/** Unix seconds, ticking whatever the state of the data. */
export const useTick = (): number => useSyncExternalStore(subscribe, readClock)

const readClock = () => Math.floor(Date.now() / 1000)
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    for (const one of listeners) one()
  }, 1_000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}
