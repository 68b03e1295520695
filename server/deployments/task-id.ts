import { randomUUID } from 'node:crypto'
import { taskIdPattern } from '../../contract/fields.ts'

/** A UUID of version 7 (RFC 9562): sorts by the millisecond it was made in. */
export function makeTaskId(now: Date): string {
  const time = now.getTime().toString(16).padStart(12, '0')
  // What follows the version is random in version 4 as well, except for the variant, which is the same.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

/** The id in a path as it is stored, in small letters; undefined for what no task can have. */
export function parseTaskId(text: string): string | undefined {
  return taskIdPattern.test(text) ? text.toLowerCase() : undefined
}
