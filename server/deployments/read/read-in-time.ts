import type { Kysely, Transaction } from 'kysely'
import type { TaskFilterFields } from '../../../contract/task.ts'
import type { Schema } from '../../storage/schema.ts'
import { isGivenUp, withTimeLimit } from '../../storage/time-limit.ts'
import { ReadTimedOutError, readLimitMs } from '../task-errors.ts'

/**
 * Reads what may take long.
 * @throws {ReadTimedOutError} that names what was read, and the filters that make it less
 */
export const readInTime = <Result>(
  query: Kysely<Schema>,
  what: string,
  less: string,
  read: (limited: Transaction<Schema>) => Promise<Result>,
): Promise<Result> =>
  withTimeLimit(query, readLimitMs, read).catch((cause: unknown) => {
    throw isGivenUp(cause) ? new ReadTimedOutError(what, less, { cause }) : cause
  })

/** The filters that make a list or its counts less. */
export const narrowingFilters = ({ search }: Pick<TaskFilterFields, 'search'>): string =>
  `${search ? 'more characters, or ' : ''}an application, a project or a time`
