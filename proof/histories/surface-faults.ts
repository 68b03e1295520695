import type { CallKind, Fault } from './history-script.ts'

type RejectedReply = 'forbidden' | 'unauthorized' | 'unreachable'

/** Which faults of a script are on at a moment. Times count from the start of the history. */
export function createSurfaceFaults(faults: readonly Fault[], elapsedMs: () => number, random: () => number) {
  const on = (kind: Fault['kind']) => faults.filter((fault) => fault.kind === kind && isOn(fault, elapsedMs()))

  return {
    isOn: (kind: Fault['kind']) => on(kind).length > 0,
    refusalOf(call: CallKind): RejectedReply | undefined {
      for (const fault of on('refuse-calls')) {
        if (fault.kind !== 'refuse-calls' || !fault.calls.includes(call)) continue
        if (random() * 10 < fault.often) return fault.outcome
      }
      return undefined
    },
    delayMs(): number {
      const slow = on('slow-calls').map((fault) => (fault.kind === 'slow-calls' ? fault.delayMs : 0))
      return 2 + random() * 40 + Math.max(0, ...slow) * (0.5 + random())
    },
  }
}

export type SurfaceFaults = ReturnType<typeof createSurfaceFaults>

const isOn = ({ fromMs, forMs }: Fault, atMs: number) => atMs >= fromMs && atMs < fromMs + forMs

/** Times like the fault's own. */
export const isOnBetween = (fault: Fault, fromMs: number, untilMs: number): boolean =>
  fault.fromMs <= untilMs && fault.fromMs + fault.forMs >= fromMs

/** Whether a call may have failed, been slow or not been made meanwhile. */
export const troublesCalls = ({ kind }: Fault): boolean =>
  ['refuse-calls', 'slow-calls', 'records-down', 'hang-refresh', 'restart'].includes(kind)

/** Whether events may have been lost or late. */
export const troublesStream = ({ kind }: Fault): boolean =>
  ['cut-stream', 'stall-stream', 'hold-replica', 'lose-events', 'take-over', 'refuse-calls'].includes(kind)
