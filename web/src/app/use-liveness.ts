import { useQueryClient } from '@tanstack/react-query'
import { useTick } from '../ui/now.tsx'
import { AnswerError } from '../ui/read-json.ts'
import { type Liveness, liveness } from './liveness.ts'

type Looked = {
  state: Liveness
  /** Reading needs a sign-in, and there is none (any more). */
  isSignedOut: boolean
  /** Unix seconds. */
  now: number
  tryNow: () => void
}

/** Looks each second at what the page reads. */
export function useLiveness(): Looked {
  const client = useQueryClient()
  const now = useTick()
  const reads = client.getQueryCache().findAll({ type: 'active' })
  const state = liveness(
    reads.map((query) => query.state),
    now * 1000,
    (error) => error instanceof AnswerError && error.status < 500,
  )
  const isSignedOut = reads.some(({ state: { error } }) => error instanceof AnswerError && error.status === 401)
  return { state, isSignedOut, now, tryNow: () => void client.refetchQueries({ type: 'active' }) }
}
