import { useQueryClient } from '@tanstack/react-query'
import { useTick } from '../ui/now.tsx'
import { AnswerError } from '../ui/read-json.ts'
import { type Liveness, liveness } from './liveness.ts'

/** Looks each second at what the page reads. `now` is in Unix seconds. */
export function useLiveness(): { state: Liveness; now: number; tryNow: () => void } {
  const client = useQueryClient()
  const now = useTick()
  const reads = client.getQueryCache().findAll({ type: 'active' })
  const state = liveness(
    reads.map((query) => query.state),
    now * 1000,
    (error) => error instanceof AnswerError && error.status < 500,
  )
  return { state, now, tryNow: () => void client.refetchQueries({ type: 'active' }) }
}
