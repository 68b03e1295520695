/** What is stored about the deploy lock: what people did, not what the schedule says. */
export type StoredLock = {
  readonly isSet: boolean
  readonly since: Date | null
  /** null: until somebody releases it. */
  readonly until: Date | null
  readonly reason: string | null
  readonly setBy: string | null
  /** Until then the schedule counts for nothing, because somebody released the lock inside a lockdown window. */
  readonly overrideUntil: Date | null
}

export const neverSet: StoredLock = {
  isSet: false,
  since: null,
  until: null,
  reason: null,
  setBy: null,
  overrideUntil: null,
}
