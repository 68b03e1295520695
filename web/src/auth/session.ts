import { queryOptions, useQuery } from '@tanstack/react-query'
import type { SessionState } from '../../../contract/auth.ts'
import { readJson } from '../ui/read-json.ts'
import { type Permission, permissionOf } from './permission.ts'

/** Noticing that a session has ended may take this long; an action learns it immediately. */
const readEveryMs = 30_000

/** GET /api/v1/session: who is signed in, and what that allows. */
export const sessionQuery = queryOptions<SessionState>({
  queryKey: ['session'],
  queryFn: ({ signal }) => readJson<SessionState>('/api/v1/session', signal),
  refetchInterval: readEveryMs,
})

export const useSession = () => useQuery(sessionQuery)

export const usePermission = (): Permission => permissionOf(useSession())
