import type { CallKind, Fault } from './history-script.ts'

type Refusal = 'refused' | 'unauthorized' | 'unreachable'

/** Which faults of a script are on at a moment. Times count from the start of the history. */
export function createSurfaceFaults(faults: readonly Fault[], elapsedMs: () => number, random: () => number) {
  const on = (kind: Fault['kind']) => faults.filter((fault) => fault.kind === kind && isOn(fault, elapsedMs()))

  return {
    isOn: (kind: Fault['kind']) => on(kind).length > 0,
    refusalOf(call: CallKind): Refusal | undefined {
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

/** The times at which a call may have failed, be slow, or have been answered from the past. */
export function troublesCalls(fault: Fault): boolean {
  return ['refuse-calls', 'slow-calls', 'records-down', 'drop-refresh', 'hang-refresh'].includes(fault.kind)
}
