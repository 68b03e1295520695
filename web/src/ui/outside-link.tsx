import type { ReactNode } from 'react'
import { httpUrl } from './http-url.ts'

type Props = { href: string | undefined; className?: string; orElse?: 'words' | 'nothing'; children: ReactNode }

/** A link to another host where the address is http(s); otherwise only the words, or nothing. */
export function OutsideLink({ href, className, orElse = 'words', children }: Props) {
  const url = httpUrl(href)
  if (url === undefined) return orElse === 'words' ? children : null
  return (
    <a href={url} className={className} rel="noreferrer">
      {children}
    </a>
  )
}
