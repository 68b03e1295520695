import { repeat } from '../../concurrency/repeat.ts'
import type { WakeUps } from '../../ownership/wake-ups.ts'
import type { OwnedTasks } from './owned-tasks.ts'

const sweepIntervalMs = 1_000
/** Under load many tasks are looked up together. */
const minIntervalMs = 20

type Dependencies = {
  readonly tasks: Pick<OwnedTasks, 'ended'>
  readonly wakeUps: Pick<WakeUps, 'on'>
  readonly onError: (message: string, error: unknown) => void
}

/**
 * Lets requests wait for the end of a task, on whichever replica it is watched. A task of which a wake-up tells is looked
 * up at once; one look a second for all waiting requests together finds what a lost wake-up missed.
 */
export function createTaskCompletions({ tasks, wakeUps, onError }: Dependencies) {
  const waiting = new Map<string, Set<() => void>>()
  const withNews = new Set<string>()
  let isOver = false

  const wakeEnded = async (ids: readonly string[]) => {
    if (ids.length === 0) return
    for (const id of await tasks.ended(ids)) {
      for (const wake of waiting.get(id) ?? []) wake()
    }
  }
  const onFailure = (error: unknown) => onError('looking up ended tasks for waiting requests failed, retrying', error)
  const sweeping = repeat(() => wakeEnded([...waiting.keys()]), sweepIntervalMs, onFailure)
  const lookUp = () => {
    const ids = [...withNews]
    withNews.clear()
    return wakeEnded(ids)
  }
  const looking = repeat(lookUp, sweepIntervalMs, onFailure, minIntervalMs)
  const unsubscribe = wakeUps.on('event', (ids) => {
    if (ids === 'all') return sweeping.trigger()
    for (const id of ids) if (waiting.has(id)) withNews.add(id)
    if (withNews.size > 0) looking.trigger()
  })

  return {
    /** Resolves when the task has ended, after `ms`, when `givenUp` aborts or the service stops; the caller reads the task again. */
    async wait(id: string, ms: number, givenUp: AbortSignal): Promise<void> {
      if (isOver) return undefined
      return new Promise((resolve) => {
        const wakers = waiting.get(id) ?? new Set()
        waiting.set(id, wakers)
        const wake = () => {
          clearTimeout(timer)
          givenUp.removeEventListener('abort', wake)
          wakers.delete(wake)
          if (wakers.size === 0) waiting.delete(id)
          resolve()
        }
        const timer = setTimeout(wake, ms)
        wakers.add(wake)
        givenUp.addEventListener('abort', wake)
        if (givenUp.aborted) wake()
      })
    },
    async [Symbol.asyncDispose]() {
      isOver = true
      unsubscribe()
      for (const wake of [...waiting.values()].flatMap((wakers) => [...wakers])) wake()
      await Promise.all([sweeping[Symbol.asyncDispose](), looking[Symbol.asyncDispose]()])
    },
  }
}
export type TaskCompletions = ReturnType<typeof createTaskCompletions>
