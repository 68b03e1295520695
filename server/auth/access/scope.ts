import { matchesGlob } from './matches-glob.ts'

/** Applications that a credential is good for: globs. */
export type Scope = 'all' | readonly string[]

export const isInScope = (app: string, scope: Scope) => scope === 'all' || scope.some((glob) => matchesGlob(app, glob))

/** The scope that `allowed_apps` of a JWT gives: names, or `*` for all. Characters of globs have no meaning in a name. */
export function scopeOfClaim(names: readonly string[]): Scope {
  return names.includes('*') ? 'all' : names.filter((name) => !/[*?]/.test(name))
}

/** Globs that name applications of the control plane's namespace, such as `argocd/shop`, and the same without it. */
export const withCanonicalNames = (globs: readonly string[], controlPlaneNamespace: string): readonly string[] =>
  globs.flatMap((glob) => {
    const [namespace = '', name, ...more] = glob.split('/')
    const isOfControlPlane = name !== undefined && more.length === 0 && matchesGlob(controlPlaneNamespace, namespace)
    return isOfControlPlane ? [glob, name] : [glob]
  })
