import type { SessionState } from '../../../contract/auth.ts'

/** Whether the reader may act on tasks. `canSignIn`: signing in is the way to. */
export type Permission =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'refused'; readonly why: string; readonly canSignIn: boolean }

export function permissionOf({ enabled, user, privileged, privileged_groups }: SessionState): Permission {
  if (!enabled)
    return { kind: 'refused', why: 'Needs IDP_ENABLED: this service has no identity provider.', canSignIn: false }
  if (user === null) return { kind: 'refused', why: 'You are not signed in.', canSignIn: true }
  if (privileged) return { kind: 'allowed' }
  if (user.groups.some((group) => privileged_groups.includes(group)))
    return { kind: 'refused', why: 'The identity provider did not confirm your groups.', canSignIn: true }
  const why = `Only members of ${privileged_groups.join(', ')} may do this, and you are signed in as ${user.name}.`
  return { kind: 'refused', why, canSignIn: false }
}
