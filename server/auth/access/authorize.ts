import { echo } from '../../http/server/error-text.ts'
import { type CiPrincipal, type Principal, readScopeOf, type User } from './principal.ts'
import { isInScope } from './scope.ts'

/**
 * What a principal asks for: `administer` the deploy lock, deploy tokens and the audit; `read` tasks; `read_all`, what is
 * not of one application; `read_private`, what needs a credential also where reading is open: what Pods wrote;
 * `read_service`, what concerns those who run the service: the settings, and all of its status.
 */
type Action = 'submit' | 'cancel' | 'administer' | 'read' | 'read_all' | 'read_private' | 'read_service'

type AccessPolicy = {
  /** REQUIRE_CREDENTIAL */
  readonly requireCredential: boolean
  /** JWT_ENFORCE_ALLOWED_APPS */
  readonly enforceAllowedApps: boolean
  /** Empty: every user may change something. */
  readonly privilegedGroups: readonly string[]
  readonly isReadingClosed: boolean
  /** There is an identity provider. */
  readonly hasUsers: boolean
}

type Decision =
  /** `note` is for the log: the claim would have refused, had it been enforced. */
  | { readonly kind: 'allowed'; readonly note?: string | undefined }
  /** `forbidden`: the user is known but may not. */
  | { readonly kind: 'unauthorized' | 'forbidden'; readonly reason: string }

const allowed: Decision = { kind: 'allowed' }
const unauthorized = (reason: string): Decision => ({ kind: 'unauthorized', reason })

/** Says whether a principal may do something to an application; without one, whether to any. */
export const createAuthorize =
  (policy: AccessPolicy) =>
  (principal: Principal, action: Action, app?: string): Decision => {
    if ((action === 'read' || action === 'read_all') && !policy.isReadingClosed) return allowed
    if (principal.kind === 'anonymous') {
      if (action === 'submit' && !policy.requireCredential) return allowed
      return unauthorized(`no credential was given: send ${waysTo(action, policy)}`)
    }
    const isChange = action === 'submit' || action === 'cancel' || action === 'administer'
    if ('user' in principal)
      return isChange || action === 'read_service' ? authorizeUser(principal.user, policy) : allowed
    if (action === 'administer')
      return unauthorized(`credential rejected: only a user may do this: send ${waysTo(action, policy)}`)
    const scope = isChange ? principal.scope : readScopeOf(principal)
    if (scope === 'all') return allowed
    if (action === 'read_all' || action === 'read_service')
      return unauthorized(`credential rejected: the ${nameOf(principal)} may read tasks of its applications only`)
    return app === undefined || isInScope(app, scope) ? allowed : outOfScope(principal, app, policy)
  }
export type Authorize = ReturnType<typeof createAuthorize>

function waysTo(action: Action, { hasUsers }: AccessPolicy): string {
  if (action === 'administer') return 'an access token in the header Oidc-Authorization, or sign in'
  const ways = 'the deploy token in the header Watcher-Deploy-Token or a JWT in the header Authorization'
  return hasUsers ? `${ways}, or sign in` : ways
}

function authorizeUser({ groups, hasStaleGroups }: User, { privilegedGroups }: AccessPolicy): Decision {
  const isMember = groups.some((group) => privilegedGroups.includes(group))
  if (privilegedGroups.length === 0 || (isMember && !hasStaleGroups)) return allowed
  const reason = isMember
    ? 'the identity provider did not confirm your groups: sign in again, or add offline_access to IDP_SCOPES'
    : `only members of ${privilegedGroups.join(', ')} may do this`
  return { kind: 'forbidden', reason }
}

/** `allowed_apps` counts only when enforced (spec 2.5); then a JWT without the claim may deploy nothing (decision 0004). */
function outOfScope(principal: Principal, app: string, { enforceAllowedApps }: AccessPolicy): Decision {
  if (principal.kind === 'ci') return unauthorized(`credential rejected: ${rulesText(principal)} for ${echo(app)}`)
  if (principal.kind !== 'jwt') return unauthorized(`credential rejected: the deploy token is not for ${echo(app)}`)
  const issue = principal.hasAppsClaim
    ? `allowed_apps of the JWT does not list ${echo(app)}`
    : 'allowed_apps must be a list of strings in the JWT'
  if (enforceAllowedApps) return unauthorized(`credential rejected: ${issue}`)
  return { kind: 'allowed', note: principal.hasAppsClaim ? issue : undefined }
}

const nameOf = ({ kind }: Principal) => (kind === 'ci' ? 'ID token' : 'deploy token')

const rulesText = ({ rules }: CiPrincipal) =>
  rules.length === 1 ? `rule "${echo(rules[0]?.name ?? '')}" is not` : `none of its ${rules.length} rules is`
