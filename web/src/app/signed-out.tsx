import { useEffect, useState } from 'react'
import { useSession } from '../auth/session.ts'
import { SignInLink } from '../auth/sign-in-link.tsx'
import { Icon } from '../ui/icon.tsx'
import { useTab } from '../ui/tab.ts'

/** Says that reading needs a sign-in, or that the session ended while the page was open, and leads back to this page. */
export function SignedOut({ isReadingClosed }: { isReadingClosed: boolean }) {
  const { data: session } = useSession()
  const isSignedIn = session?.enabled === true && session.user !== null
  const [wasSignedIn, setWasSignedIn] = useState(false)
  useEffect(() => {
    if (isSignedIn) setWasSignedIn(true)
  }, [isSignedIn])
  const hasEnded = wasSignedIn && session?.enabled === true && session.user === null
  if (!isReadingClosed && !hasEnded) return null
  return (
    <div className="notice warn">
      <div>
        <Icon name="i-cut" />
        <p>
          <b role="status">{hasEnded ? 'Your session has ended.' : 'You are signed out.'}</b>{' '}
          {isReadingClosed
            ? 'This service shows deployments to those who are signed in.'
            : 'You can still read everything. Sign in again to change something.'}{' '}
          {hasEnded ? 'You come back to this page.' : ''}
        </p>
        <SignInLink>{hasEnded ? 'Sign in again' : 'Sign in'}</SignInLink>
      </div>
    </div>
  )
}

/** In place of a page that nothing could be read for. */
export function SignInFirst() {
  useTab('Sign in')
  return (
    <>
      <h1 tabIndex={-1}>Sign in to read this</h1>
      <div className="empty">
        <Icon name="i-locked" />
        <p>This service shows deployments to those who are signed in. Deployments are not affected.</p>
        <SignInLink className="btn btn-primary" />
      </div>
    </>
  )
}
