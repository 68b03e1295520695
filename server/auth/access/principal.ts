import type { Source } from '../../../contract/task.ts'
import type { Actor } from '../../audit/record-action.ts'
import { isInScope, type Scope } from './scope.ts'

/** A person that the identity provider knows. */
export type User = {
  readonly subject: string
  readonly name: string
  readonly groups: readonly string[]
  /** They stand in an ID token that the provider did not renew when it was asked, so they allow nothing. */
  readonly hasStaleGroups?: boolean
}

/** A job of a CI, by its ID token. */
export type CiPrincipal = {
  readonly kind: 'ci'
  readonly issuer: string
  readonly subject: string
  /** Those of `ci_identities` that hold for it. */
  readonly rules: readonly { readonly name: string; readonly scope: Scope }[]
  /** All that its rules are for. */
  readonly scope: Scope
  /** Where people look at the job. */
  readonly runUrl: string | undefined
  /** The address of the CI's own pages, such as `https://github.com`. */
  readonly server: string
  /** The commit that it runs on. */
  readonly source: Source | undefined
}

/** Who makes a request, as far as its credential tells. */
export type Principal = { readonly scope: Scope } & (
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'deploy_token' }
  /** `hasAppsClaim` is false where the token has no `allowed_apps`, or one that is not a list of strings. */
  | { readonly kind: 'jwt'; readonly subject: string | undefined; readonly hasAppsClaim: boolean }
  | { readonly kind: 'scoped_token'; readonly id: string; readonly description: string }
  | CiPrincipal
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

/** How the audit names a principal, which acts on an application. */
export function actorOf(principal: Principal, app?: string): Actor {
  switch (principal.kind) {
    case 'session':
    case 'oidc':
      return { kind: principal.kind, id: principal.user.subject, name: principal.user.name }
    case 'jwt':
      return { kind: principal.kind, id: principal.subject ?? null, name: null }
    case 'scoped_token':
      return { kind: principal.kind, id: principal.id, name: principal.description }
    case 'ci':
      return {
        kind: principal.kind,
        id: `${principal.issuer} ${principal.subject}`,
        name: principal.rules.find(({ scope }) => app === undefined || isInScope(app, scope))?.name ?? null,
      }
    default:
      return { kind: principal.kind, id: null, name: null }
  }
}
