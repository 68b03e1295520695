/** Runs `work` again and again, `intervalMs` after it ended or as soon as it is nudged; a failure is told and survived. */
export function repeat(work: () => Promise<void>, intervalMs: number, onTrouble: (error: unknown) => void) {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let nudgedMeanwhile = false
  let stopped = false

  const run = async () => {
    clearTimeout(timer)
    nudgedMeanwhile = false
    await work().catch(onTrouble)
    running = undefined
    if (stopped) return
    if (nudgedMeanwhile) nudge()
    else timer = setTimeout(nudge, intervalMs)
  }
  const nudge = () => {
    if (stopped) return
    if (running) nudgedMeanwhile = true
    else running = run()
  }
  nudge()

  return {
    nudge,
    async [Symbol.asyncDispose]() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
