/**
 * Runs `work` again and again, `intervalMs` after it ended or as soon as it is triggered; a failure is reported and survived. A
 * trigger that comes sooner than `minIntervalMs` after the last run waits that long, so that many triggers are one run.
 */
export function repeat(
  work: () => Promise<void>,
  intervalMs: number,
  onError: (error: unknown) => void,
  minIntervalMs = 0,
) {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let triggeredMeanwhile = false
  let stopped = false
  let restsUntilMs = 0

  const run = async () => {
    clearTimeout(timer)
    triggeredMeanwhile = false
    await work().catch(onError)
    running = undefined
    restsUntilMs = performance.now() + minIntervalMs
    if (stopped) return
    if (triggeredMeanwhile) trigger()
    else timer = setTimeout(start, intervalMs)
  }
  const start = () => {
    running = run()
  }
  const trigger = () => {
    if (stopped) return
    const delayMs = restsUntilMs - performance.now()
    if (running) triggeredMeanwhile = true
    else if (delayMs <= 0) start()
    else {
      clearTimeout(timer)
      timer = setTimeout(start, delayMs)
    }
  }
  trigger()

  return {
    trigger,
    async [Symbol.asyncDispose]() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
