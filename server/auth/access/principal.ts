import type { Actor } from '../../audit/record-action.ts'

/** A person that the identity provider knows. */
export type User = {
  readonly subject: string
  readonly name: string
  readonly groups: readonly string[]
  /** They stand in an ID token that the provider did not renew when it was asked, so they allow nothing. */
  readonly hasStaleGroups?: boolean
}

/** Applications that a credential is good for: globs. */
export type Scope = 'all' | readonly string[]

/** Who makes a request, as far as its credential tells. */
export type Principal = { readonly scope: Scope } & (
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'deploy_token' }
  /** `hasAppsClaim` is false where the token has no `allowed_apps`, or one that is not a list of strings. */
  | { readonly kind: 'jwt'; readonly subject: string | undefined; readonly hasAppsClaim: boolean }
  | { readonly kind: 'scoped_token'; readonly id: string; readonly description: string }
  /** With an access token of the identity provider. */
  | { readonly kind: 'oidc'; readonly user: User }
  /** Signed in with a browser. */
  | { readonly kind: 'session'; readonly user: User }
)

/** Whom the credentials of one request stand for: who speaks for it, and who else. */
export type Principals = { readonly principal: Principal; readonly others: readonly Principal[] }

export const anonymous: Principal = { kind: 'anonymous', scope: 'all' }

/** What a principal may read where reading is closed: `allowed_apps` of a JWT says only what it may deploy (spec 2.5). */
export const readScopeOf = ({ kind, scope }: Principal): Scope => (kind === 'jwt' ? 'all' : scope)

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
