/** Time as the model sees it. Everything that waits goes through here, so a virtual clock can run a whole rollout at once. */
export type Clock = {
  now(): number
  /** Runs `run` once after `ms` milliseconds; the returned function cancels it. */
  setTimer(ms: number, run: () => void): () => void
}

/** The wall clock. What a closed simulator still waits for, such as its next poll, keeps no process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer: (ms, run) => {
    const timer = setTimeout(run, Math.max(0, ms)).unref()
    return () => clearTimeout(timer)
  },
}

export function wait(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.setTimer(ms, resolve))
}

/** Kubernetes times have one second of resolution. */
export function kubernetesTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
