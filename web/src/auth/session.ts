import { queryOptions, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { SessionState } from '../../../contract/auth.ts'
import { readUngated } from '../ui/read-json.ts'
import { type Permission, permissionOf } from './permission.ts'

/** Noticing that a session has ended may take this long; an action learns it immediately. */
const readEveryMs = 30_000

/** GET /api/v1/session: who is signed in, and what that allows. */
export const sessionQuery = queryOptions<SessionState>({
  queryKey: ['session'],
  queryFn: ({ signal }) => readUngated<SessionState>('/api/v1/session', signal),
  refetchInterval: readEveryMs,
})

export const useSession = () => useQuery(sessionQuery)

/** Whether each read would be rejected: reading needs a sign-in, and there is none (any more). */
export const isReadingClosed = (session: SessionState | undefined): boolean =>
  session?.read_auth === true && session.user === null

/** `ended`: it was open, and what is shown stays. */
export type Reading = 'unknown' | 'open' | 'closed' | 'ended'

/** Whether this page can read, once the session was read or could not be. */
export function useReading(): Reading {
  const { data: session, isPending } = useSession()
  const isClosed = isReadingClosed(session)
  const isOpen = !isPending && !isClosed
  const [wasOpen, setWasOpen] = useState(false)
  useEffect(() => {
    if (isOpen) setWasOpen(true)
  }, [isOpen])
  if (isOpen) return 'open'
  if (isPending) return 'unknown'
  return wasOpen ? 'ended' : 'closed'
}

export const usePermission = (): Permission => permissionOf(useSession())
