import type { Clock } from './delivery-controller.ts'

/** A write of a task's owner; `false`: the task has another owner now. */
export type TaskWrite = () => Promise<boolean>

const retryMs = 1_000

/**
 * Does the writes of one task one after the other. A failed one (database away) is tried again until it works; one that says
 * `false` ends all, because the task was taken.
 */
export function createTaskWrites(clock: Clock, onTaken: () => void, onTrouble: (error: unknown) => void) {
  const queue: TaskWrite[] = []
  let isRunning = false
  let isClosed = false
  let cancel = () => {}

  const run = async () => {
    try {
      while (!isClosed && queue[0] !== undefined) {
        if (!(await queue[0]())) return taken()
        queue.shift()
      }
    } finally {
      isRunning = false // in the same turn as the last look, or a write added between the two would lie there
    }
  }
  const taken = () => {
    if (isClosed) return
    close()
    onTaken()
  }
  const start = () => {
    if (isRunning || isClosed) return
    isRunning = true
    run().catch((error: unknown) => {
      onTrouble(error)
      cancel() // of an earlier failure, where a write was added meanwhile
      if (!isClosed) cancel = clock.setTimer(retryMs, start)
    })
  }
  const close = () => {
    isClosed = true
    queue.length = 0
    cancel()
  }

  return {
    add(write: TaskWrite) {
      queue.push(write)
      start()
    },
    close,
  }
}
