type Clock = {
  nowMs(): number
  setTimer(delayMs: number, callback: () => void): () => void
}

type Limits = {
  readonly clock: Clock
  /** May change at any time. */
  perSecond(): number
  /** How many seconds of tokens are saved while nothing happens; one token at least. */
  readonly maxSavedSeconds: number
  /** Work that runs at once; urgent work may be more. */
  readonly maxRunning: number
}

/** Begins work, or finds that it is no longer needed: then the turn costs nothing. */
type Start = () => Promise<unknown> | undefined

export type RateLimiter = {
  /** Calls `start` when a token is free. Urgent work goes ahead of all other, and waits for a token only. */
  enter(start: Start, turn: { readonly isUrgent: boolean }): void
}

/** A token bucket for two classes of work, each first come, first served. */
export function createRateLimiter({ clock, perSecond, maxSavedSeconds, maxRunning }: Limits): RateLimiter {
  const urgent: Start[] = []
  const others: Start[] = []
  let tokens = Number.POSITIVE_INFINITY
  let filledAtMs = clock.nowMs()
  let running = 0
  let isPlanned = false

  const fill = () => {
    const nowMs = clock.nowMs()
    const added = ((nowMs - filledAtMs) / 1_000) * perSecond()
    tokens = Math.min(Math.max(1, maxSavedSeconds * perSecond()), tokens + added)
    filledAtMs = nowMs
  }

  const next = () => urgent.shift() ?? (running < maxRunning ? others.shift() : undefined)

  const startAll = () => {
    isPlanned = false
    fill()
    while (tokens >= 1) {
      const start = next()
      if (start === undefined) return
      const work = start()
      if (work === undefined) continue
      tokens -= 1
      running += 1
      work.then(end, end)
    }
    plan()
  }

  const end = () => {
    running -= 1
    plan()
  }

  /** Never at once: the caller may still be at work on what `start` reads. */
  const plan = () => {
    const mayStart = urgent.length > 0 || (others.length > 0 && running < maxRunning)
    if (isPlanned || !mayStart) return
    isPlanned = true
    fill()
    clock.setTimer(Math.ceil(Math.max(0, ((1 - tokens) / perSecond()) * 1_000)), startAll)
  }

  return {
    enter(start, { isUrgent }) {
      const line = isUrgent ? urgent : others
      line.push(start)
      plan()
    },
  }
}
