import type { SignInFailure } from './sign-in.ts'

type Reason = SignInFailure['reason'] | 'plain-http'

type Case = {
  readonly headline: string
  readonly cause: string
  /** Whether signing in again may end well; where not, the page leads on without it. */
  readonly again: 'first' | 'second' | 'never'
  readonly sign: 'broken' | 'clock'
}

const cases: Record<Reason, Case> = {
  provider: {
    headline: 'The identity provider is unavailable',
    cause:
      'The identity provider does not answer, or is misconfigured. Try again later; the log of the service says more.',
    again: 'first',
    sign: 'broken',
  },
  expired: {
    headline: 'This sign-in has expired',
    cause: 'This sign-in was begun too long ago, in another browser, or was used already. Begin again.',
    again: 'first',
    sign: 'clock',
  },
  refused: {
    headline: 'The sign-in was rejected',
    cause:
      'The identity provider rejected it, or its answer did not pass the checks. The log of the service says which.',
    again: 'second',
    sign: 'broken',
  },
  'plain-http': {
    headline: 'Sign-in needs https here',
    cause:
      'On plain http only a browser on the same machine can sign in. Set PUBLIC_URL to the https address of this service.',
    again: 'never',
    sign: 'broken',
  },
}

const unknownCase: Case = {
  headline: 'Sign-in failed',
  cause: 'The cause is not known.',
  again: 'first',
  sign: 'broken',
}

const isReason = (text: string): text is Reason => Object.hasOwn(cases, text)

/**
 * The page that a failed sign-in ends at. `back` is a path of ours; nothing else of the address is repeated. It works
 * without scripts, and without its style sheets too.
 */
export function renderSignInErrorPage(reason: string, back: string, stylesheets: readonly string[]): string {
  const { headline, cause, again, sign } = isReason(reason) ? cases[reason] : unknownCase
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<title>Sign-in failed · Deployment Watcher</title>
<link rel="icon" href="data:,">
${stylesheets.map((address) => `<link rel="stylesheet" href="${escapeHtml(address)}">`).join('\n')}
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="bar"><div class="bar-in"><a class="brand" href="/">${brand}Deployment Watcher</a></div></header>
<main class="centre" id="main">
<section class="card" aria-labelledby="headline">
${signs[sign]}
<div class="stack">
<h1 id="headline">${headline}</h1>
<p class="lead">${cause}</p>
</div>
<dl class="facts">
<dt>Changed</dt><dd>Nothing. You are not signed in.</dd>
${back === '/' ? '' : `<dt>You wanted</dt><dd><a href="${escapeHtml(back)}"><code>${escapeHtml(back)}</code></a></dd>`}
</dl>
<div class="actions">${ways(back, again)}</div>
</section>
</main>
<footer class="foot"><span>Deployment Watcher</span><a href="/swagger/index.html">API explorer</a></footer>
</body>
</html>
`
}

function ways(back: string, again: Case['again']): string {
  const signIn = `/auth/login?${new URLSearchParams({ return: back })}`
  const way = (href: string, words: string, isFirst: boolean) =>
    `<a class="btn${isFirst ? ' btn-primary' : ''}" href="${escapeHtml(href)}">${words}</a>`
  const inAgain = way(signIn, 'Sign in again', again === 'first')
  const without = way('/', 'Continue without signing in', again !== 'first')
  if (again === 'never') return without
  return again === 'first' ? inAgain + without : without + inAgain
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')

const brand =
  '<svg viewBox="0 0 30 18" aria-hidden="true"><path d="M1 9h9" stroke="currentColor" stroke-width="3" ' +
  'stroke-linecap="round"/><circle cx="15" cy="9" r="5.5" fill="none" stroke="var(--accent-mark)" stroke-width="3.5"/>' +
  '<path d="M22.5 9H29" stroke="currentColor" stroke-width="2" stroke-dasharray="2 2.5" opacity=".6"/></svg>'

const drawn = (middle: string) =>
  '<svg class="sign" viewBox="0 0 64 40" aria-hidden="true"><path d="M2 20h16" stroke="currentColor" stroke-width="4" ' +
  `stroke-linecap="round"/>${middle}<path d="M46 20h16" stroke="currentColor" stroke-width="3" ` +
  'stroke-dasharray="3.5 4.5" opacity=".7"/></svg>'

const signs: Record<Case['sign'], string> = {
  broken: drawn(
    '<circle cx="32" cy="20" r="10" fill="none" stroke="var(--aborted-mark)" stroke-width="5" ' +
      'stroke-dasharray="50 12.83" stroke-dashoffset="-6.4"/>',
  ),
  clock: drawn(
    '<circle cx="32" cy="20" r="10" fill="none" stroke="var(--accent-mark)" stroke-width="5"/>' +
      '<path d="M32 15v5.5l3.5 2" fill="none" stroke="var(--accent-mark)" stroke-width="2.6" stroke-linecap="round"/>',
  ),
}
