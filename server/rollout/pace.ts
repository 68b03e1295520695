/** Gives turns that are evenly spread, however many want one at once. */
export type Pace = {
  /** Takes the next free turn: a time, now or later. */
  turnAtMs(nowMs: number): number
}

/** The rate may change between two turns. */
export function createPace(turnsASecond: () => number): Pace {
  let freeAtMs = Number.NEGATIVE_INFINITY

  return {
    turnAtMs(nowMs) {
      const atMs = Math.max(nowMs, freeAtMs)
      freeAtMs = atMs + 1_000 / turnsASecond()
      return atMs
    },
  }
}
