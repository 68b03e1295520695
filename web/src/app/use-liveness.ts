import { useQueryClient } from '@tanstack/react-query'
import { isReadingClosed, useSession } from '../auth/session.ts'
import { useConnectionState } from '../live/use-live.ts'
import { useTick } from '../ui/now.tsx'
import { isRejection } from '../ui/read-json.ts'
import { type Liveness, liveness } from './liveness.ts'

type Looked = {
  state: Liveness
  /** Until the next attempt to open the stream. */
  retrySeconds: number
  /** Reading needs a sign-in, and there is none (any more). */
  isSignedOut: boolean
  /** Unix seconds. */
  now: number
}

/** Looks each second at the stream and at what the page reads. */
export function useLiveness(): Looked {
  const client = useQueryClient()
  const connection = useConnectionState()
  const { data: session } = useSession()
  const now = useTick()
  const reads = client.getQueryCache().findAll({ type: 'active' })
  const state = liveness(
    reads.map((query) => query.state),
    connection,
    now * 1000,
    isRejection,
  )
  const retrySeconds = connection.kind === 'cut' ? Math.max(1, Math.ceil(connection.nextTryMs / 1000 - now)) : 0
  return { state, retrySeconds, isSignedOut: isReadingClosed(session), now }
}
