import type { Fault } from '../../git-hosts/api-fault.ts'
import type { Attempt } from '../kinds/attempt.ts'

/** What a person has to change is looked for so often. */
const blockedMs = 3_600_000

/** What follows from a request that was not taken. */
export function attemptOfFault(fault: Fault, reference: object | undefined): Attempt {
  const { error } = fault
  switch (fault.kind) {
    case 'final':
      return { kind: 'dead', error, reference }
    case 'passing':
      return { kind: 'retry', error, afterMs: fault.afterMs, reference }
    default:
      return { kind: 'retry', error, afterMs: blockedMs, isBlocked: true, reference }
  }
}
