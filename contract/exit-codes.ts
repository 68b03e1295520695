/** How a command or a client of this service ends. Never 124 to 128: shells and `timeout` use them. */
export const exitCodes = {
  deployed: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  not_authorized: 4,
  rejected: 5,
  locked: 6,
  /** Superseded, or cancelled. */
  cancelled: 7,
  aborted: 8,
  /** The task is known and has no verdict by its deadline, or it is gone. */
  gave_up: 9,
  app_not_found: 10,
  internal_error: 70,
  interrupted: 130,
} as const
