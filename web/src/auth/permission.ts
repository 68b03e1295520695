import type { SessionState } from '../../../contract/auth.ts'

/** Whether the reader may change something, and if not, why. */
export type Permission =
  | { readonly kind: 'allowed' | 'no_provider' | 'signed_out' }
  /** Who is signed in is not known yet, or could not be read. */
  | { readonly kind: 'unknown' | 'unread' }
  /** The groups are right, but the identity provider has not confirmed them. */
  | { readonly kind: 'unconfirmed' }
  | { readonly kind: 'not_in_groups'; readonly groups: readonly string[]; readonly privilegedGroups: readonly string[] }

type Read = { readonly data: SessionState | undefined; readonly error: Error | null }

export function permissionOf({ data: session, error }: Read): Permission {
  if (session === undefined) return { kind: error === null ? 'unknown' : 'unread' }
  const { enabled, user, privileged, privileged_groups: privilegedGroups } = session
  if (!enabled) return { kind: 'no_provider' }
  if (user === null) return { kind: 'signed_out' }
  if (privileged) return { kind: 'allowed' }
  if (user.groups.some((group) => privilegedGroups.includes(group))) return { kind: 'unconfirmed' }
  return { kind: 'not_in_groups', groups: user.groups, privilegedGroups }
}
