/**
 * Lets callers share reads. A caller that comes while one runs gets the next one, which begins after it came: its answer is
 * never older than its question. Many at once cost two reads, one after the other; one alone costs its own.
 */
export function singleFlight<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined
  let next: Promise<Result> | undefined

  const begin = (): Promise<Result> => {
    const begun = read().finally(() => {
      if (running === begun) running = undefined
    })
    running = begun
    return begun
  }
  const beginNext = () => {
    next = undefined
    return begin()
  }
  return () => {
    if (!running) return begin()
    next ??= running.then(beginNext, beginNext)
    return next
  }
}
