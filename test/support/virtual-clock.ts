import type { Clock } from '../../server/concurrency/clock.ts'

export type VirtualClock = Clock & {
  /** Runs all timers up to that time in their order, and lets what they start come to rest after each. */
  advanceTo(timeMs: number): Promise<void>
  timerCount(): number
}

/** A clock that only moves when told to. */
export function createVirtualClock(startMs = 0): VirtualClock {
  let nowMs = startMs
  let lastId = 0
  const timers = new Map<number, { readonly atMs: number; readonly callback: () => void }>()

  const nextTimer = (untilMs: number) => {
    const due = [...timers].filter(([, { atMs }]) => atMs <= untilMs)
    return due.sort(([a, { atMs: atA }], [b, { atMs: atB }]) => atA - atB || a - b)[0]
  }

  return {
    nowMs: () => nowMs,
    setTimer(delayMs, callback) {
      lastId += 1
      const id = lastId
      timers.set(id, { atMs: nowMs + Math.max(0, delayMs), callback })
      return () => timers.delete(id)
    },
    async advanceTo(timeMs) {
      await rest()
      for (let timer = nextTimer(timeMs); timer !== undefined; timer = nextTimer(timeMs)) {
        const [id, { atMs, callback }] = timer
        timers.delete(id)
        nowMs = Math.max(nowMs, atMs)
        callback()
        await rest()
      }
      nowMs = Math.max(nowMs, timeMs)
    },
    timerCount: () => timers.size,
  }
}

/** Promises that are already settled run their course. */
const rest = () => new Promise<void>((resolve) => setImmediate(resolve))
