import type { User } from './caller.ts'

type Claims = { readonly [name: string]: unknown }

const longestName = 255

/**
 * Reads a user from what the provider says, the first of `sources` that has a claim. Groups count only as a list of
 * strings: one string would have to be taken apart, and its parts could pose as groups (decision 0133).
 */
export function userOfClaims(subject: string, ...sources: readonly Claims[]): User {
  const first = (name: string) => sources.map((claims) => claims[name]).find((value) => value !== undefined)
  const name = ['preferred_username', 'name', 'email'].map(first).map(asName).find(Boolean)
  return { subject, name: name ?? asName(subject) ?? 'unknown', groups: asGroups(first('groups')) }
}

/** One line, as an author of a task is. */
function asName(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const line = value
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
  return line.slice(0, longestName).toWellFormed() || undefined
}

function asGroups(value: unknown): readonly string[] {
  return Array.isArray(value) && value.every((group) => typeof group === 'string') ? value : []
}
