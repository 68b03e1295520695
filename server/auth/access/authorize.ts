import { echo } from '../../http/error-text.ts'
import { matchesGlob } from './matches-glob.ts'
import type { Principal, User } from './principal.ts'

type ApplicationJudgement =
  /** `note` is for the log: the claim would have refused, had it been enforced. */
  | { readonly kind: 'allowed'; readonly note: string | undefined }
  | { readonly kind: 'refused'; readonly reason: string }

/**
 * Says whether a caller may deploy an application. The scope of a deploy token always counts. The claim `allowed_apps`
 * counts only when enforced (spec 2.5); then a JWT without the claim may deploy nothing (decision 0007).
 */
export function authorizeApplication(
  caller: Principal,
  app: string,
  enforceAllowedApps: boolean,
): ApplicationJudgement {
  if (caller.kind === 'scoped_token' && !isInScope(app, caller.apps))
    return { kind: 'refused', reason: `credential rejected: the deploy token is not for ${echo(app)}` }
  const fault = allowedAppsFault(caller, app)
  if (fault === undefined) return { kind: 'allowed', note: undefined }
  if (!enforceAllowedApps)
    return { kind: 'allowed', note: caller.kind === 'jwt' && caller.allowedApps ? fault : undefined }
  return { kind: 'refused', reason: `credential rejected: ${fault}` }
}

/** Without globs every application is. */
export const isInScope = (app: string, globs: readonly string[] | undefined) =>
  globs === undefined || globs.some((glob) => matchesGlob(app, glob))

/** Globs that name applications of the control plane's namespace, such as `argocd/shop`, and the same without it. */
export const withCanonicalNames = (globs: readonly string[], controlPlaneNamespace: string): readonly string[] =>
  globs.flatMap((glob) => {
    const [namespace = '', name, ...more] = glob.split('/')
    const isOfControlPlane = name !== undefined && more.length === 0 && matchesGlob(controlPlaneNamespace, namespace)
    return isOfControlPlane ? [glob, name] : [glob]
  })

function allowedAppsFault(caller: Principal, app: string): string | undefined {
  if (caller.kind !== 'jwt') return undefined
  if (caller.allowedApps === undefined) return 'allowed_apps must be a list of strings in the JWT'
  const isListed = caller.allowedApps.some((name) => name === '*' || name === app)
  return isListed ? undefined : `allowed_apps of the JWT does not list ${echo(app)}`
}

/** Says why a user may not change anything, or nothing. Without privileged groups every user may. */
export function privilegeFault(user: User, privilegedGroups: readonly string[]): string | undefined {
  const isMember = user.groups.some((group) => privilegedGroups.includes(group))
  if (privilegedGroups.length === 0 || (isMember && !user.hasStaleGroups)) return undefined
  return isMember
    ? 'the identity provider did not confirm your groups: sign in again, or add offline_access to IDP_SCOPES'
    : `only members of ${privilegedGroups.join(', ')} may do this`
}
