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
  /** Work of the line that runs at once. */
  readonly maxRunning: number
}

export type RateLimiter = {
  /** For urgent work, which waits for nothing: it takes a token if one is left. */
  spend(): void
  /** Resolves when a token is free, ahead of the line: for urgent work of which much may come at once. */
  take(): Promise<void>
  /** Calls `start` when its turn has come. Where that starts no work, the turn costs nothing and is the next one's. */
  enter(start: () => Promise<unknown> | undefined): void
}

/**
 * A token bucket for two classes of work. Urgent work spends what is saved, or waits for the next token. All other work waits
 * in line for a token and for one of `maxRunning` places; however much is spent, the line moves on at its rate.
 */
export function createRateLimiter({ clock, perSecond, maxSavedSeconds, maxRunning }: Limits): RateLimiter {
  const line: (() => Promise<unknown> | undefined)[] = []
  const ahead: (() => void)[] = []
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

  const startNext = () => {
    isPlanned = false
    fill()
    for (; tokens >= 1 && ahead.length > 0; tokens -= 1) ahead.shift()?.()
    while (tokens >= 1 && running < maxRunning) {
      const start = line.shift()
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

  /** Never in the caller's own turn, who may still be at work on what `start` reads. */
  const plan = () => {
    const isLineMoving = line.length > 0 && running < maxRunning
    if (isPlanned || (ahead.length === 0 && !isLineMoving)) return
    isPlanned = true
    fill()
    clock.setTimer(Math.ceil(Math.max(0, ((1 - tokens) / perSecond()) * 1_000)), startNext)
  }

  return {
    spend() {
      fill()
      if (tokens >= 1) tokens -= 1
    },
    take() {
      const taken = new Promise<void>((resolve) => ahead.push(resolve))
      plan()
      return taken
    },
    enter(start) {
      line.push(start)
      plan()
    },
  }
}
