import type { User } from './principal.ts'

/** Says why a user may not change anything, or nothing. Without privileged groups every user may. */
export function privilegeFault(user: User, privilegedGroups: readonly string[]): string | undefined {
  const isMember = user.groups.some((group) => privilegedGroups.includes(group))
  if (privilegedGroups.length === 0 || (isMember && !user.hasStaleGroups)) return undefined
  return isMember
    ? 'the identity provider did not confirm your groups: sign in again, or add offline_access to IDP_SCOPES'
    : `only members of ${privilegedGroups.join(', ')} may do this`
}
