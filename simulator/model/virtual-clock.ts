import type { Clock } from './clock.ts'

export type VirtualClock = Clock & {
  /** Moves time forward, running due timers in order; between two timers all promises settle. */
  advance(ms: number): Promise<void>
  /** Advances until the condition holds; throws after `limitMs` of virtual time. */
  advanceUntil(condition: () => boolean, limitMs: number): Promise<void>
}

type Timer = { at: number; order: number; run: () => void }

/** A clock that stands still until it is told to move. */
export function createVirtualClock(startMs: number): VirtualClock {
  let now = startMs
  let order = 0
  const timers = new Set<Timer>()

  function nextTimer(limit: number): Timer | undefined {
    let next: Timer | undefined
    for (const timer of timers) {
      if (timer.at > limit) continue
      if (!next || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) next = timer
    }
    return next
  }

  async function step(limit: number): Promise<boolean> {
    await promisesSettled()
    const timer = nextTimer(limit)
    if (!timer) return false
    timers.delete(timer)
    now = Math.max(now, timer.at)
    timer.run()
    await promisesSettled()
    return true
  }

  return {
    now: () => now,
    setTimer(ms, run) {
      const timer = { at: now + Math.max(0, ms), order: order++, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    async advance(ms) {
      const end = now + ms
      while (await step(end));
      now = end
    },
    async advanceUntil(condition, limitMs) {
      const end = now + limitMs
      await promisesSettled()
      while (!condition()) {
        if (!(await step(end))) throw new Error(`Not reached within ${limitMs} ms of virtual time`)
      }
    },
  }
}

/** A macrotask runs only after every pending promise reaction, however long their chain is. */
function promisesSettled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
