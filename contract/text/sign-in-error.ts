/** Why a sign-in failed. `expired`: begun too long ago, elsewhere or never. `refused`: rejected by the provider or a check. */
export type SignInErrorReason = 'provider' | 'expired' | 'refused' | 'plain-http'

/** The page that a failed sign-in leads to. */
export const signInErrorPath = '/sign-in-error'

const maxPathLength = 2048

/**
 * The path to go back to after signing in: a page of this service, or the first one. Browsers take `//host` and `/\host` for
 * other hosts, and leave out tabs and line ends before they look.
 */
export function returnPathOf(wanted: string | null | undefined): string {
  if (!wanted || wanted.length > maxPathLength || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(wanted)) return '/'
  const base = 'http://service.invalid'
  if (!URL.canParse(wanted, base)) return '/'
  const url = new URL(wanted, base)
  const path = `${url.pathname}${url.search}${url.hash}`
  return url.origin !== base || path.startsWith('//') ? '/' : path
}
