import type { Clock } from '../../concurrency/clock.ts'
import type { NewTaskEvent } from '../../timeline/task-event.ts'
import type { TaskChange } from './rollout-watcher-deps.ts'

/** A write of a task's owner; `false`: the task has another owner now. */
export type TaskWrite = () => Promise<boolean>

/** What is kept of a task: what it waits for, where it is seen, what it began with, and what happened. */
export type TaskUpdate = {
  readonly change: TaskChange
  readonly events: readonly NewTaskEvent[]
}

const retryMs = 1_000

/**
 * Does the writes of one task one after the other. A failed one (database away) is tried again until it works; one that says
 * `false` ends all, because the task was taken.
 */
export function createTaskWrites(clock: Clock, onTaken: () => void, onError: (error: unknown) => void) {
  const queue: TaskWrite[] = []
  let isRunning = false
  let isClosed = false
  let cancel = () => {}
  let unsaved: { update: TaskUpdate; isTaken: boolean } | undefined

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
      cancel() // of an earlier failure, where a write was added meanwhile
      if (!isClosed) cancel = clock.setTimer(retryMs, start)
    })
  }
  const close = () => {
    isClosed = true
    queue.length = 0
    cancel()
  }

  const add = (write: TaskWrite) => {
    unsaved = undefined // what is added from now on happened after it
    queue.push(write)
    start()
  }

  return {
    add,
    /** Updates that come while earlier ones are still queued are saved together with them. */
    addUpdate(update: TaskUpdate, save: (update: TaskUpdate) => Promise<boolean>) {
      if (unsaved !== undefined && !unsaved.isTaken) {
        unsaved.update = together(unsaved.update, update)
        return
      }
      const waiting = { update, isTaken: false }
      add(() => {
        waiting.isTaken = true
        return save(waiting.update)
      })
      unsaved = waiting
    },
    close,
  }
}

const together = (earlier: TaskUpdate, later: TaskUpdate): TaskUpdate => ({
  change: { ...earlier.change, ...later.change },
  events: [...earlier.events, ...later.events],
})
