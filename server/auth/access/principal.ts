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

/** Whom the credentials of one request stand for: who speaks for it, and who else. */
export type Principals = { readonly principal: Principal; readonly others: readonly Principal[] }

export const anonymous: Principal = { kind: 'anonymous' }

/** How the audit names a principal. */
export function actorOf(principal: Principal): Actor {
  switch (principal.kind) {
    case 'session':
    case 'oidc':
      return { kind: principal.kind, id: principal.user.subject, name: principal.user.name }
    case 'jwt':
      return { kind: principal.kind, id: principal.subject ?? null, name: null }
    case 'scoped_token':
      return { kind: principal.kind, id: principal.id, name: principal.description }
    default:
      return { kind: principal.kind, id: null, name: null }
  }
}
