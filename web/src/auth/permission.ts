import type { SessionState } from '../../../contract/auth.ts'

/** Whether the reader may change something, and if not, why. */
export type Permission =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'no_provider' }
  | { readonly kind: 'signed_out' }
  | { readonly kind: 'not_in_groups'; readonly groups: readonly string[]; readonly privilegedGroups: readonly string[] }

/** @param session undefined while it is not known */
export function permissionOf(session: SessionState | undefined): Permission {
  if (session === undefined) return { kind: 'unknown' }
  if (!session.enabled) return { kind: 'no_provider' }
  if (session.user === null) return { kind: 'signed_out' }
  if (session.privileged) return { kind: 'allowed' }
  return { kind: 'not_in_groups', groups: session.user.groups, privilegedGroups: session.privileged_groups }
}
