import type { ConnectionObserver } from './fault-proxy.ts'
import { createMessageReader } from './postgres-messages.ts'

/** In milliseconds of this process's clock. */
export type Span = { readonly fromMs: number; readonly toMs: number }

/** What is left of a turn of the event loop takes no longer, even on a busy machine. */
const patienceMs = 1_000
const inTransaction = 'T'.charCodeAt(0)

/** What one process says to PostgreSQL and asks of the delivery controller. */
export function createTrafficLog() {
  const idle: Span[] = []
  const calls: Span[] = []
  /** From an answer to what was said next on its connection: by then it had been read, and all that came before it. */
  const turns: Span[] = []

  const noteTurns = ({ sent, received, closed }: ConnectionObserver): ConnectionObserver => {
    let answeredAtMs: number | undefined
    return {
      sent(chunk) {
        if (answeredAtMs !== undefined) turns.push({ fromMs: answeredAtMs, toMs: performance.now() })
        answeredAtMs = undefined
        sent(chunk)
      },
      received(chunk) {
        answeredAtMs ??= performance.now()
        received(chunk)
      },
      closed,
    }
  }

  const observeTransactions = (): ConnectionObserver => {
    let fromMs: number | undefined
    const endIdle = () => {
      const toMs = performance.now()
      if (fromMs !== undefined && toMs - fromMs >= patienceMs) idle.push({ fromMs, toMs })
      fromMs = undefined
    }
    // PostgreSQL ends each answer with the state of the transaction.
    const received = createMessageReader('server', (type, body) => {
      if (type === 'Z' && body[0] === inTransaction) fromMs = performance.now()
    })
    return { sent: endIdle, received, closed: endIdle }
  }

  return {
    observeDatabase: () => noteTurns(observeTransactions()),
    observeController: () => noteTurns(observeCalls(calls)()),
    /**
     * Transactions that stood open and silent while a whole call was made, its own or one of `others`, although the
     * process went on with other things. Those during which it was frozen say nothing.
     */
    callsInTransactions(others: readonly Span[], frozen: readonly Span[] = []): readonly Span[] {
      return idle.filter(
        (span) =>
          [...calls, ...others].some((call) => isInside(span, call)) &&
          turns.some((turn) => isInside({ ...span, toMs: span.toMs - patienceMs }, turn)) &&
          !frozen.some((one) => span.fromMs <= one.toMs && one.fromMs <= span.toMs),
      )
    },
  }
}
export type TrafficLog = ReturnType<typeof createTrafficLog>

const isInside = (outer: Span, inner: Span) => outer.fromMs < inner.fromMs && inner.toMs < outer.toMs

/** Notes when something was asked and until the first of its answer came. What is only told, as events are, is no call. */
export function observeCalls(calls: Span[]): () => ConnectionObserver {
  return () => {
    let fromMs: number | undefined
    const sent = () => {
      fromMs ??= performance.now()
    }
    const received = () => {
      if (fromMs !== undefined) calls.push({ fromMs, toMs: performance.now() })
      fromMs = undefined
    }
    return { sent, received, closed: () => undefined }
  }
}
