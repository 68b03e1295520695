import { createContext, type ReactNode, use, useEffect, useState } from 'react'

const Now = createContext(Math.floor(Date.now() / 1000))

/** This device's clock in Unix seconds, ticking each second; stands still where a NowProvider holds it. */
export const useNow = (): number => use(Now)

/** One clock for the page. `heldAt` stops it, so that nothing counts on while the data is old. */
export function NowProvider({ heldAt, children }: { heldAt: number | undefined; children: ReactNode }) {
  const ticking = useTick()
  return <Now value={heldAt ?? ticking}>{children}</Now>
}

/** Unix seconds, ticking whatever the state of the data. */
export function useTick(): number {
  const [seconds, setSeconds] = useState(() => Math.floor(Date.now() / 1000))
  useEffect(() => {
    const timer = setInterval(() => setSeconds(Math.floor(Date.now() / 1000)), 1_000)
    return () => clearInterval(timer)
  }, [])
  return seconds
}
