import { DatabaseError } from 'pg'
import { MissingRightsError } from '../storage/check-rights.ts'
import { isDatabaseUnreachable } from '../storage/database-unreachable.ts'
import { SchemaTooNewError } from '../storage/migrate.ts'
import { MissingProgramError } from '../write-back/git/access/check-programs.ts'
import { SettingsError } from './settings.ts'

/** Of the driver, and of OpenSSL for a certificate that is not trusted. */
const tlsTexts = /does not support SSL connections|certificate/

/** What trying again without a change cannot cure: the exit code is 78. */
export const isWrongSetup = (error: unknown): error is Error =>
  [SettingsError, SchemaTooNewError, MissingRightsError, MissingProgramError].some((kind) => error instanceof kind)

/** What is wrong around us, in one line; undefined for an error of our own. It names addresses and files, and no secret. */
export function describeStartupError(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  // The driver's own wrapper says that it was the time limit; what it wraps says only that the connection ended.
  if (error.cause !== undefined && !isDatabaseUnreachable(error)) return describeStartupError(error.cause)
  const [first = error] = error instanceof AggregateError ? error.errors : [error] // one for each address of a host
  const text = first instanceof Error ? first.message : String(first)
  // What listens or opens a file says by its `syscall` that it does; a connection is to the database.
  const isOurs = 'syscall' in error && !/^(?:connect|read|write)$/.test(String(error.syscall))
  if (!isOurs && isDatabaseUnreachable(error)) return `the database cannot be reached: ${text}`
  if (error instanceof DatabaseError) return `database error: ${text}`
  if (tlsTexts.test(text)) return `the connection to the database cannot be encrypted: ${text}`
  return 'code' in error && 'syscall' in error ? text : undefined
}
