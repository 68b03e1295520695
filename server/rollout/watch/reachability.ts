import type { Clock } from '../../concurrency/clock.ts'
import { type DeliveryController, type ReadOutcome, unreachableBy } from '../observed/delivery-controller.ts'

const probeEveryMs = 5_000

/**
 * Whether the delivery controller answers. One failed call does not mean unreachable: a probe decides, and while that fails it
 * stands for the calls of all tasks.
 */
export function createReachability(controller: Pick<DeliveryController, 'probe'>, clock: Clock, onBack: () => void) {
  let unreachable: { readonly sinceMs: number; readonly why: string } | undefined
  let isProbing = false
  let isClosed = false
  let cancel = () => {}

  const probe = async () => {
    const outcome = await controller.probe().catch(unreachableBy)
    isProbing = false
    if (isClosed) return
    const why = errorOf(outcome)
    if (why === undefined) return comeBack()
    unreachable = { sinceMs: unreachable?.sinceMs ?? clock.nowMs(), why }
    cancel = clock.setTimer(probeEveryMs, checkReachability)
  }
  const comeBack = () => {
    const wasAway = unreachable !== undefined
    unreachable = undefined
    if (wasAway) onBack()
  }
  const checkReachability = () => {
    if (isProbing || isClosed) return
    isProbing = true
    cancel()
    void probe()
  }

  return {
    state: () => unreachable,
    /** A call has failed: find out whether all do. */
    checkReachability,
    close() {
      isClosed = true
      cancel()
    },
  }
}

function errorOf(outcome: ReadOutcome<unknown>): string | undefined {
  if (outcome.kind === 'unreachable') return outcome.why
  return outcome.kind === 'unauthorized' ? `token rejected: ${outcome.why}` : undefined
}
