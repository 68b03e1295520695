import { exitCodes } from '../contract/exit-codes.ts'
import type { FinalStatus } from '../contract/task-status.ts'

/** How a run ends before it has anything to report; `message` is for people. */
export class ExitError extends Error {
  override readonly name = 'ExitError'
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export const usageError = (message: string) => new ExitError(exitCodes.usage, message)

const ofStatus: Readonly<Record<FinalStatus, number>> = {
  deployed: exitCodes.deployed,
  failed: exitCodes.failed,
  aborted: exitCodes.aborted,
  cancelled: exitCodes.cancelled,
  'app not found': exitCodes.app_not_found,
}

/** The exit code of a final status; of one that this version does not know: nothing is known. */
export const exitOfStatus = (status: string): number =>
  Object.hasOwn(ofStatus, status) ? ofStatus[status as FinalStatus] : exitCodes.gave_up

/** What matters most to whoever reads the exit code comes first. */
const worstFirst: readonly number[] = [
  exitCodes.failed,
  exitCodes.aborted,
  exitCodes.gave_up,
  exitCodes.app_not_found,
  exitCodes.rejected,
  exitCodes.not_authorized,
  exitCodes.unreachable,
  exitCodes.locked,
  exitCodes.cancelled,
]

/** The exit code of several deployments. */
export const worstExit = (codes: readonly number[]): number =>
  worstFirst.find((code) => codes.includes(code)) ?? exitCodes.deployed

/** Orders outcomes for a report: failures first. */
export const severityOf = (code: number): number => {
  const at = worstFirst.indexOf(code)
  return at === -1 ? worstFirst.length : at
}
