import type { Clock } from '../../concurrency/clock.ts'
import type { TaskUpdate } from '../../deployments/own/save-progress.ts'
import { joinEvents } from '../judge/report/rollout-events.ts'

/** A write of a task's owner; `false`: the task has another owner now. */
export type TaskWrite = () => Promise<boolean>

const retryMs = 1_000
/** Argo CD shows a rollout in many small steps: what comes within this time is saved together. */
export const heldMs = 200

/**
 * Does the writes of one task one after the other. A failed one (database away) is tried again until it works; one that says
 * `false` ends all, because the task was taken.
 */
export function createTaskWrites(
  clock: Clock,
  save: (update: TaskUpdate) => Promise<boolean>,
  onTaken: () => void,
  onError: (error: unknown) => void,
) {
  const queue: TaskWrite[] = []
  let isRunning = false
  let isClosed = false
  let cancelRetry = () => {}
  let held: TaskUpdate | undefined
  let cancelHold = () => {}

  const run = async () => {
    try {
      while (!isClosed && queue[0] !== undefined) {
        if (!(await queue[0]())) return taken()
        queue.shift()
      }
    } finally {
      isRunning = false // in the same tick as the last check, or a write added between the two would lie there
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
      onError(error)
      cancelRetry() // of an earlier failure, where a write was added meanwhile
      if (!isClosed) cancelRetry = clock.setTimer(retryMs, start)
    })
  }
  const close = () => {
    isClosed = true
    queue.length = 0
    cancelRetry()
    cancelHold()
  }
  const takeHeld = (): TaskUpdate | undefined => {
    cancelHold()
    const update = held
    held = undefined
    return update
  }
  const queueHeld = () => {
    const update = takeHeld()
    if (update !== undefined) queue.push(() => save(update))
  }
  /** While earlier writes wait for the database, more is held. */
  const saveHeld = () => {
    if (queue.length > 0) {
      cancelHold = clock.setTimer(heldMs, saveHeld)
      return
    }
    queueHeld()
    start()
  }

  return {
    /** What was held happened before it. */
    add(write: TaskWrite) {
      queueHeld()
      queue.push(write)
      start()
    },
    /** The last write, which saves what was held as well. */
    addLast(write: (unsaved: TaskUpdate | undefined) => Promise<boolean>) {
      const unsaved = takeHeld()
      queue.push(() => write(unsaved))
      start()
    },
    addUpdate(update: TaskUpdate) {
      if (isClosed) return
      if (held === undefined) cancelHold = clock.setTimer(heldMs, saveHeld)
      held = held === undefined ? update : together(held, update)
    },
    close,
  }
}

const together = (earlier: TaskUpdate, later: TaskUpdate): TaskUpdate => ({
  change: { ...earlier.change, ...later.change },
  events: joinEvents(earlier.events, later.events),
})
