import { Icon } from '../ui/icon.tsx'

/** Says that reading needs a sign-in, and leads to the identity provider and back to this page. */
export function SignedOut() {
  const { pathname, search } = window.location
  return (
    <div className="notice warn">
      <div>
        <Icon name="i-cut" />
        <p>
          <b role="status">You are signed out.</b> This service shows deployments to those who are signed in.
        </p>
        <a className="btn btn-s" href={`/auth/login?${new URLSearchParams({ return: pathname + search })}`}>
          Sign in
        </a>
      </div>
    </div>
  )
}
