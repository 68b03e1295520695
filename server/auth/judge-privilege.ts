import type { User } from './caller.ts'

/** Says why a user may not change anything, or nothing. Without privileged groups every user may. */
export function privilegeFault(user: User, privilegedGroups: readonly string[]): string | undefined {
  if (privilegedGroups.length === 0 || user.groups.some((group) => privilegedGroups.includes(group))) return undefined
  return `only members of ${privilegedGroups.join(', ')} may do this`
}
