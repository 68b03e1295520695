/**
 * Lets callers share reads: whoever comes while one runs gets the next one, which begins after it came, so that nobody is
 * told what was before he asked. Many at once cost two reads at a time in turn, one alone costs his own.
 */
export function shareReads<Result>(read: () => Promise<Result>): () => Promise<Result> {
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
