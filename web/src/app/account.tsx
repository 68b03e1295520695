import { useSession } from '../auth/session.ts'
import { SignInLink } from '../auth/sign-in-link.tsx'
import { useSignOut } from '../auth/sign-out.ts'
import { duration } from '../ui/duration.ts'
import { failureWords } from '../ui/failure-words.ts'
import { Icon } from '../ui/icon.tsx'
import { useTick } from '../ui/now.tsx'

/** Who is signed in, and the way in and out; nothing without an identity provider. */
export function Account() {
  const { data: session } = useSession()
  const signOut = useSignOut()
  const now = useTick()
  if (session === undefined || !session.enabled) return null
  const { user } = session
  if (user === null) return <SignInLink className="btn btn-plain btn-s" />
  return (
    <>
      <button
        className="btn btn-plain btn-s account"
        type="button"
        aria-label={`${user.name}, account`}
        popoverTarget="account"
      >
        <span className="account-name">{user.name}</span>
        <Icon name="i-down" className="tiny" />
      </button>
      <div className="account-panel" id="account" popover="auto" role="dialog" aria-label="Account">
        <p>
          Signed in as <b>{user.name}</b>
        </p>
        <dl className="facts">
          <dt>Groups</dt>
          <dd>{user.groups.length === 0 ? 'none' : user.groups.join(', ')}</dd>
          <dt>May change</dt>
          <dd>{session.privileged ? 'yes' : 'no'}</dd>
          <dt>Session ends</dt>
          <dd>in {duration(user.expires - now)}</dd>
        </dl>
        <div className="actions">
          <button
            className="btn btn-s"
            type="button"
            aria-disabled={signOut.isPending}
            onClick={() => signOut.isPending || signOut.mutate()}
          >
            {signOut.isPending ? 'Signing out' : 'Sign out'}
          </button>
        </div>
        {signOut.error === null ? null : (
          <p className="why" role="alert">
            Sign-out failed: {failureWords(signOut.error)}
          </p>
        )}
      </div>
    </>
  )
}
