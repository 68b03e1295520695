import type { ReactNode } from 'react'

/** Leads to the identity provider and back to this page. */
export function SignInLink({ className = 'btn btn-s', children = 'Sign in' }: Props) {
  const { pathname, search, hash } = window.location
  const query = new URLSearchParams({ return: pathname + search + hash })
  return (
    <a className={className} href={`/auth/login?${query}`}>
      {children}
    </a>
  )
}

type Props = { className?: string; children?: ReactNode }
