import type { Cause } from '../../../contract/causes.ts'

/** The task fails at once, before any commit. */
export type Refusal = { readonly kind: 'refused'; readonly cause: Cause; readonly reason: string }

export function refused(cause: Cause, reason: string): Refusal {
  return { kind: 'refused', cause, reason }
}
