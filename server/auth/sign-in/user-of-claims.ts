import type { User } from '../access/principal.ts'

type Claims = { readonly [name: string]: unknown }

const maxNameLength = 255

/** The provider's claims hold a value that cannot be stored; answered 401. */
export class InvalidUserError extends Error {
  override readonly name = 'InvalidUserError'
}

/** PostgreSQL rejects NUL and stores a lone surrogate as another character, which would make two identities one. */
export const isStorable = (text: string) => text.isWellFormed() && !text.includes('\0')

/**
 * Reads a user from what the provider says, the first of `sources` that has a claim. Groups count only as a list of
 * strings: one string would have to be taken apart, and its parts could pose as groups (decision 0006).
 * @throws {InvalidUserError} naming the claim that cannot be stored
 */
export function userOfClaims(subject: string, ...sources: readonly Claims[]): User {
  const first = (name: string) => sources.map((claims) => claims[name]).find((value) => value !== undefined)
  const name = ['preferred_username', 'name', 'email'].map(first).map(asName).find(Boolean)
  const groups = asGroups(first('groups'))
  if (!isStorable(subject)) throw new InvalidUserError('sub holds NUL or a lone surrogate')
  if (!groups.every(isStorable)) throw new InvalidUserError('groups hold NUL or a lone surrogate')
  return { subject, name: name ?? asName(subject) ?? 'unknown', groups }
}

/** One line, as an author of a task is. */
function asName(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const line = value
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
  return line.slice(0, maxNameLength).toWellFormed() || undefined
}

function asGroups(value: unknown): readonly string[] {
  return Array.isArray(value) && value.every((group) => typeof group === 'string') ? value : []
}
