import { exitCodes } from '../../contract/exit-codes.ts'
import { exitOfStatus } from '../exit.ts'
import type { Outcome } from '../follow/outcome.ts'
import { isOver } from '../http/api.ts'

/**
 * A value on a line of its own, which no CI takes for a command: GitHub finds `##[` and Azure Pipelines `##vso[` anywhere in it.
 * What programs read of it is the same.
 */
export const jsonLine = (value: unknown): string => `${JSON.stringify(value).replaceAll('##', '#\\u0023')}\n`

/** Each deployment for programs: the record of the API where there is one, its address, and the exit code of it alone. */
export const renderJson = (outcomes: readonly Outcome[], pageOf: (id: string) => string): string =>
  jsonLine({ tasks: outcomes.map((outcome) => recordOf(outcome, pageOf)) })

/** Of a run that ended before it had anything to report. */
export const renderJsonError = (error: string, exitCode: number): string =>
  jsonLine({ tasks: [], error, exit_code: exitCode })

function recordOf(outcome: Outcome, pageOf: (id: string) => string): object {
  const { id } = outcome.kind === 'ended' ? outcome.task : outcome
  const page = id === undefined ? {} : { id, url: pageOf(id) }
  switch (outcome.kind) {
    case 'ended': {
      const { task } = outcome
      return { ...task, ...page, ...(isOver(task) ? { exit_code: exitOfStatus(task.status) } : {}) }
    }
    case 'submitted':
      return { app: outcome.app, ...page, exit_code: exitCodes.deployed }
    case 'interrupted':
      return { app: outcome.app, ...page, error: 'interrupted', exit_code: exitCodes.interrupted }
    case 'gave_up':
      return { ...outcome.task, ...page, error: outcome.why, exit_code: exitCodes.gave_up }
    case 'rejected': {
      const { app, error, exitCode, lock } = outcome
      const locked = lock && { code: 'locked', until: lock.until, reason: lock.reason, set_by: lock.setBy }
      return { app, ...page, error, ...locked, exit_code: exitCode }
    }
  }
}
