import type { Clock as ServerClock } from '../../server/concurrency/clock.ts'
import type { Clock as ModelClock } from '../../simulator/model/clock.ts'

type Timer = { readonly atMs: number; readonly order: number; readonly run: () => void; isOver: boolean }

/** One side's view of the clock: what it set, it must clear. */
export type ClockSide = ModelClock & ServerClock & { timerCount(): number }

/** The one clock of a history, for the model and for the server. It moves from timer to timer; between two all promises settle. */
export function createHistoryClock(startMs: number) {
  let nowMs = startMs
  let order = 0
  const queue: Timer[] = []

  const side = (onRun: () => void = () => {}): ClockSide => {
    let live = 0
    return {
      now: () => nowMs,
      nowMs: () => nowMs,
      timerCount: () => live,
      setTimer(delayMs, callback) {
        order += 1
        live += 1
        const run = () => {
          live -= 1
          callback()
          onRun()
        }
        const timer = { atMs: nowMs + Math.max(0, delayMs), order, run, isOver: false }
        insert(queue, timer)
        return () => {
          if (!timer.isOver) live -= 1
          timer.isOver = true
        }
      },
    }
  }

  return {
    nowMs: () => nowMs,
    side,
    /** Runs timers up to that time in their order, `afterEach` after each, until `isOver`. */
    async run(untilMs: number, isOver: () => boolean, afterEach: () => void): Promise<void> {
      await settled()
      for (let timer = queue[0]; timer !== undefined && timer.atMs <= untilMs; timer = queue[0]) {
        if (isOver()) return
        removeFirst(queue)
        if (timer.isOver) continue
        nowMs = timer.atMs
        timer.isOver = true
        timer.run()
        await settled()
        afterEach()
      }
      if (!isOver()) nowMs = Math.max(nowMs, untilMs)
    },
  }
}

/** A macrotask runs only after every pending promise reaction. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

const isBefore = (a: Timer, b: Timer) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)

/** A binary heap: the earliest timer is first. */
function insert(heap: Timer[], timer: Timer): void {
  let at = heap.length
  heap.push(timer)
  while (at > 0) {
    const above = (at - 1) >> 1
    const parent = heap[above]
    if (parent === undefined || !isBefore(timer, parent)) break
    heap[at] = parent
    at = above
  }
  heap[at] = timer
}

function removeFirst(heap: Timer[]): void {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let at = 0
  for (;;) {
    const left = heap[at * 2 + 1]
    const right = heap[at * 2 + 2]
    const next = right !== undefined && left !== undefined && isBefore(right, left) ? right : left
    if (next === undefined || !isBefore(next, last)) break
    heap[at] = next
    at = next === left ? at * 2 + 1 : at * 2 + 2
  }
  heap[at] = last
}
