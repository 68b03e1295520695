import { setTimeout as delay } from 'node:timers/promises'
import { exitCodes } from '../../contract/exit-codes.ts'
import type { TaskRecord } from '../../contract/task.ts'
import type { TaskEvent } from '../../contract/task-event.ts'
import { ExitError } from '../exit.ts'
import { type Api, isOver, RefusedError, type TaskWithClock } from '../http/api.ts'
import { NoAnswerError } from '../http/connection-errors.ts'
import { askAgain, isHopeless } from './ask-again.ts'
import type { Outcome } from './outcome.ts'

/** The verdict of a task comes by its deadline; the service has so long to tell it. */
const graceSeconds = 60
const breaksUntilPolling = 2
/** A server that answers a wait at once is asked no faster. */
const shortestPollMs = 2_000

type Options = {
  readonly api: Pick<Api, 'task' | 'waitForTask' | 'events'>
  /** Streams that may be open at once, over all tasks of this run. */
  readonly streams: { free: number }
  readonly signal: AbortSignal
  /** Whether the service has accepted the task; else what is asked may be another server. */
  readonly isAccepted: boolean
  /** Of the task, until it was read. */
  readonly timeoutSeconds: number
  /** As the task was read, at a time of the server. `isPolled`: no event says what happens. */
  readonly onTask: (task: TaskRecord, now: number, isPolled: boolean) => void
  readonly onEvent: (event: TaskEvent) => void
  readonly onPause: (error: NoAnswerError) => void
}

/** Follows a task by its events, or by asking, until it ends or a minute after its deadline. */
export async function followTask(id: string, options: Options): Promise<Outcome> {
  const { api, streams, signal, isAccepted, timeoutSeconds, onTask, onEvent, onPause } = options
  let giveUpAt = performance.now() + (timeoutSeconds + graceSeconds) * 1_000
  let known: TaskRecord | undefined
  const isUnproven = () => !isAccepted && known === undefined
  const read = async (ask: () => Promise<TaskWithClock>, isPolled = false): Promise<TaskRecord> => {
    const isFinal = (error: NoAnswerError) => isUnproven() && isHopeless(error)
    const { task, now } = await askAgain(ask, { giveUpAt: () => giveUpAt, signal, isFinal, onPause })
    if (task.timeout !== undefined)
      giveUpAt = performance.now() + (task.created + task.timeout - now + graceSeconds) * 1_000
    known = task
    onTask(task, now, isPolled)
    return task
  }

  try {
    let task = await read(() => api.task(id, signal))
    let lastEventId: string | undefined
    let breaks = 0
    while (!isOver(task)) {
      if (performance.now() > giveUpAt) throw new NoAnswerError('it has no verdict a minute after its deadline')
      const isStreamed = breaks < breaksUntilPolling && streams.free > 0
      if (!isStreamed) {
        const begun = performance.now()
        task = await read(() => api.waitForTask(id, signal), true)
        if (isOver(task)) break
        await delay(Math.max(0, begun + shortestPollMs - performance.now()), undefined, { signal })
        continue
      }
      streams.free -= 1
      // A stream may live on with nothing to tell.
      const overdue = AbortSignal.timeout(Math.max(0, Math.ceil(giveUpAt - performance.now())))
      try {
        for await (const event of api.events(id, lastEventId, AbortSignal.any([signal, overdue]))) {
          lastEventId = String(event.id)
          onEvent(event)
        }
        breaks += 1 // the server stops, or the task is over
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof NoAnswerError)) throw error
        breaks = error.status === 429 ? breaksUntilPolling : breaks + 1
      } finally {
        streams.free += 1
      }
      task = await read(() => api.task(id, signal))
    }
    return { kind: 'ended', task }
  } catch (error) {
    if (error instanceof RefusedError) return refused(error, id, known)
    if (error instanceof NoAnswerError && isUnproven() && isHopeless(error))
      return { kind: 'rejected', app: id, id, exitCode: exitCodes.unreachable, error: error.message }
    // An ExitError: the CI gives no ID token any more.
    if (error instanceof NoAnswerError || error instanceof ExitError)
      return { kind: 'gave_up', id, task: known, why: error.message, isGone: false }
    throw error
  }
}

function refused({ status, message }: RefusedError, id: string, task: TaskRecord | undefined): Outcome {
  if (status === 404) return { kind: 'gave_up', id, task, why: message, isGone: true }
  const exitCode = status === 401 || status === 403 ? exitCodes.not_authorized : exitCodes.rejected
  return { kind: 'rejected', app: task?.app ?? id, id, exitCode, error: message }
}
