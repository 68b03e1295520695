import type { Actor } from '../../audit/record-action.ts'

/** A person that the identity provider knows. */
export type User = {
  readonly subject: string
  readonly name: string
  readonly groups: readonly string[]
  /** They stand in an ID token that the provider did not renew when it was asked, so they allow nothing. */
  readonly hasStaleGroups?: boolean
}

/** Who makes a request, as far as its credential tells. */
export type Principal =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'deploy_token' }
  /** `allowedApps` is undefined where the token has no such claim, or one that is no list of strings. */
  | { readonly kind: 'jwt'; readonly subject: string | undefined; readonly allowedApps: readonly string[] | undefined }
  /** `apps` are globs; undefined: every application. */
  | {
      readonly kind: 'scoped_token'
      readonly id: string
      readonly description: string
      readonly apps: readonly string[] | undefined
    }
  /** With an access token of the identity provider. */
  | { readonly kind: 'oidc'; readonly user: User }
  /** Signed in with a browser. */
  | { readonly kind: 'session'; readonly user: User }

export const anonymous: Principal = { kind: 'anonymous' }

/** How the audit names a caller. */
export function actorOf(caller: Principal): Actor {
  switch (caller.kind) {
    case 'session':
    case 'oidc':
      return { kind: caller.kind, id: caller.user.subject, name: caller.user.name }
    case 'jwt':
      return { kind: caller.kind, id: caller.subject ?? null, name: null }
    case 'scoped_token':
      return { kind: caller.kind, id: caller.id, name: caller.description }
    default:
      return { kind: caller.kind, id: null, name: null }
  }
}
