import type { SignInFailure } from './sign-in.ts'

type Reason = SignInFailure['reason'] | 'plain-http'

const causes: Record<Reason, string> = {
  provider:
    'The identity provider does not answer, or is misconfigured. Try again later; the log of the service says more.',
  expired: 'This sign-in was begun too long ago, in another browser, or was used already. Begin again.',
  refused:
    'The identity provider refused it, or its answer did not pass the checks. The log of the service says which.',
  'plain-http':
    'On plain http only a browser on the same machine can sign in. Set PUBLIC_URL to the https address of this service.',
}

const isReason = (text: string): text is Reason => Object.hasOwn(causes, text)

/** The page that a failed sign-in ends at. `back` is a path of ours; nothing else of the address is repeated. */
export function renderSignInErrorPage(reason: string, back: string): string {
  const again = `/auth/login?${new URLSearchParams({ return: back })}`
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Sign-in failed</title>
<h1>Sign-in failed</h1>
<p>${isReason(reason) ? causes[reason] : 'The cause is not known.'}</p>
<p><a href="${again}">Sign in again</a> or <a href="/">continue without signing in</a></p>
</html>
`
}
