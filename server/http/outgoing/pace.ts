import { setTimeout as delay } from 'node:timers/promises'

/** Lets calls of one name pass one after another, so far apart; those of other names do not wait. */
export function createPace(gapMs: number) {
  const free = new Map<string, number>()
  return async (name: string): Promise<void> => {
    const now = performance.now()
    const turn = Math.max(now, free.get(name) ?? now)
    free.set(name, turn + gapMs)
    if (turn > now) await delay(turn - now)
  }
}
