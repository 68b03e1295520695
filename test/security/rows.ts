import { readFileSync } from 'node:fs'

const cases = readFileSync(new URL('../../docs/spec/cases.md', import.meta.url), 'utf8')

/** The row of docs/spec/cases.md as the name of a test: its id, what comes, what is expected. */
function nameOf(id: string): string {
  const row = cases.match(new RegExp(`^\\| ${id} \\| (.+) \\| (.+) \\|$`, 'm'))
  if (row === null) throw new Error(`docs/spec/cases.md has no row ${id}`)
  return `${id} ${row[1]}: ${row[2]}`.replaceAll('`', '')
}

const namesOf = <Id extends string>(ids: readonly Id[]) =>
  Object.fromEntries(ids.map((id) => [id, nameOf(id)])) as Readonly<Record<Id, string>>

const threatNumbers = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
  33, 34, 35, 36, 37, 38, 39, 45, 46, 49,
] as const

const badInputNumbers = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
  33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 60, 61, 62, 63,
  64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74,
] as const

const faultNumbers = [22, 23, 24, 25, 26, 27, 28] as const

/** What threatens HTTP, credentials, sessions, logs and the write-back, and what must be shown of it. */
export const threats = namesOf(threatNumbers.map((number) => `T${number}` as const))

/** Inputs that are bad, and the clear result expected of each. */
export const badInputs = namesOf(badInputNumbers.map((number) => `B${number}` as const))

/** Faults of Git hosts and of the machine during a write-back. */
export const faults = namesOf(faultNumbers.map((number) => `F${number}` as const))

/** For the name of a table that holds several rows: their numbers, such as `B24, B31`. */
export const numbersOf = (...rows: readonly string[]) => rows.map((row) => row.split(' ', 1)[0]).join(', ')
