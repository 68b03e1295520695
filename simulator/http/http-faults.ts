import type { CallKind } from './call.ts'

export type HttpFaultAction =
  /** An error in the API's own words. */
  | { kind: 'error'; status: number; message?: string }
  /** A page of some proxy in front, with any status, 200 included. */
  | { kind: 'html'; status: number }
  | { kind: 'delay'; ms: number }
  /** No answer, and the connection stays open. */
  | { kind: 'hang' }
  | { kind: 'reset' }
  /** A 200 whose body ends in the middle. */
  | { kind: 'truncate' }

export type HttpFault = {
  /** Which calls; absent: all. */
  calls?: readonly CallKind[]
  application?: string
  /** How many calls are hit; absent: all until it is removed. */
  times?: number
  action: HttpFaultAction
}

/** Faults of the HTTP surface, in the order in which they were added; the first that fits is used. */
export function createHttpFaults() {
  const faults = new Map<HttpFault, number>()
  return {
    add(fault: HttpFault): () => void {
      faults.set(fault, fault.times ?? Number.POSITIVE_INFINITY)
      return () => faults.delete(fault)
    },
    clear: () => faults.clear(),
    next(kind: CallKind, application: string | undefined): HttpFaultAction | undefined {
      for (const [fault, left] of faults) {
        if (fault.calls && !fault.calls.includes(kind)) continue
        if (fault.application !== undefined && fault.application !== application) continue
        if (left <= 1) faults.delete(fault)
        else faults.set(fault, left - 1)
        return fault.action
      }
      return undefined
    },
  }
}
