import type { ConnectionObserver } from './fault-proxy.ts'
import { createMessageReader } from './postgres-messages.ts'

/** In milliseconds of this process's clock. */
export type Span = { readonly fromMs: number; readonly toMs: number }

/**
 * A client goes on with its transaction as soon as it runs at all. Even on a busy machine it is not kept from that for so
 * long right after it has been seen to run.
 */
const patienceMs = 250
const inTransaction = 'T'.charCodeAt(0)

/** What one process says to PostgreSQL and asks of the delivery controller. */
export function createTrafficLog() {
  const idle: Span[] = []
  const calls: Span[] = []
  /** When it said anything on a connection of its own, which proves that it ran. */
  const spokeAtMs: number[] = []

  const observeDatabase = (): ConnectionObserver => {
    let fromMs: number | undefined
    const endIdle = () => {
      const toMs = performance.now()
      if (fromMs !== undefined && toMs - fromMs >= patienceMs) idle.push({ fromMs, toMs })
      fromMs = undefined
    }
    const sent = () => {
      endIdle()
      spokeAtMs.push(performance.now())
    }
    // PostgreSQL ends each answer with the state of the transaction.
    const received = createMessageReader('server', (type, body) => {
      if (type === 'Z' && body[0] === inTransaction) fromMs = performance.now()
    })
    return { sent, received, closed: endIdle }
  }

  const observeController = (): ConnectionObserver => {
    const observer = observeCalls(calls)()
    const sent = (chunk: Buffer) => {
      observer.sent(chunk)
      spokeAtMs.push(performance.now())
    }
    return { ...observer, sent }
  }

  return {
    observeDatabase,
    observeController,
    /**
     * Transactions that stood open and silent while a whole call was made, its own or one of `others`, although the
     * process ran. Those during which it was frozen say nothing.
     */
    callsInTransactions(others: readonly Span[], frozen: readonly Span[] = []): readonly Span[] {
      return idle.filter(
        (span) =>
          [...calls, ...others].some((call) => span.fromMs <= call.fromMs && call.toMs <= span.toMs) &&
          spokeAtMs.some((atMs) => span.fromMs < atMs && atMs < span.toMs - patienceMs) &&
          !frozen.some((one) => span.fromMs <= one.toMs && one.fromMs <= span.toMs),
      )
    },
  }
}
export type TrafficLog = ReturnType<typeof createTrafficLog>

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
