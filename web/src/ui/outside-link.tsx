import type { ReactNode } from 'react'
import { httpUrl } from './http-url.ts'

type Props = { href: string | undefined; className?: string; children: ReactNode }

/** A link to another host where the address is http(s); otherwise only the words. */
export function OutsideLink({ href, className, children }: Props) {
  const url = httpUrl(href)
  if (url === undefined) return <>{children}</>
  return (
    <a href={url} className={className} rel="noreferrer">
      {children}
    </a>
  )
}
