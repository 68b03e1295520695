import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { returnPathOf, type SignInErrorReason } from '../../../contract/text/sign-in-error.ts'

type Case = {
  headline: string
  cause: string
  /** Whether signing in again may succeed; where not, the page leads on without it. */
  again: 'first' | 'second' | 'never'
  sign: 'broken' | 'clock'
}

const cases: Record<SignInErrorReason, Case> = {
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

const isReason = (text: string): text is SignInErrorReason => Object.hasOwn(cases, text)

/** Where a failed sign-in ends. Of its address it shows only the path that leads back to a page of this service. */
export function SignInErrorPage() {
  useDocumentTitle('Sign-in failed · Deployment Watcher')
  const query = new URLSearchParams(window.location.search)
  const reason = query.get('reason') ?? ''
  const back = returnPathOf(query.get('back'))
  const { headline, cause, again, sign } = isReason(reason) ? cases[reason] : unknownCase
  return (
    <div className="centre">
      <section className="card" aria-labelledby="headline">
        <Sign>{signs[sign]}</Sign>
        <div className="stack">
          <h1 id="headline" tabIndex={-1}>
            {headline}
          </h1>
          <p className="lead">{cause}</p>
        </div>
        <dl className="facts">
          <dt>Changed</dt>
          <dd>Nothing. You are not signed in.</dd>
          {back === '/' ? null : (
            <>
              <dt>You wanted</dt>
              <dd>
                <a href={back}>
                  <code>{back}</code>
                </a>
              </dd>
            </>
          )}
        </dl>
        <div className="actions">
          {again === 'first' ? <SignInAgain back={back} isFirst /> : null}
          <a className={again === 'first' ? 'btn' : 'btn btn-primary'} href="/">
            Continue without signing in
          </a>
          {again === 'second' ? <SignInAgain back={back} isFirst={false} /> : null}
        </div>
      </section>
    </div>
  )
}

const SignInAgain = ({ back, isFirst }: { back: string; isFirst: boolean }) => (
  <a className={isFirst ? 'btn btn-primary' : 'btn'} href={`/auth/login?${new URLSearchParams({ return: back })}`}>
    Sign in again
  </a>
)

const Sign = ({ children }: { children: ReactNode }) => (
  <svg className="sign" viewBox="0 0 64 40" aria-hidden="true">
    <path d="M2 20h16" stroke="currentColor" strokeWidth="4" strokeLinecap="round" />
    {children}
    <path d="M46 20h16" stroke="currentColor" strokeWidth="3" strokeDasharray="3.5 4.5" opacity=".7" />
  </svg>
)

const circle = { cx: '32', cy: '20', r: '10', fill: 'none', strokeWidth: '5' }
const signs: Record<Case['sign'], ReactNode> = {
  broken: <circle {...circle} stroke="var(--aborted-mark)" strokeDasharray="50 12.83" strokeDashoffset="-6.4" />,
  clock: (
    <>
      <circle {...circle} stroke="var(--accent-mark)" />
      <path d="M32 15v5.5l3.5 2" fill="none" stroke="var(--accent-mark)" strokeWidth="2.6" strokeLinecap="round" />
    </>
  ),
}
