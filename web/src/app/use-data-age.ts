import { useQueryClient } from '@tanstack/react-query'
import { useTick } from '../ui/now.tsx'
import { notLiveSince } from './data-age.ts'

/** Looks each second at what the page reads. Times are Unix seconds. */
export function useDataAge(): { since: number | undefined; now: number; tryNow: () => void } {
  const client = useQueryClient()
  const now = useTick()
  const reads = client
    .getQueryCache()
    .findAll({ type: 'active' })
    .map(({ state }) => state)
  const since = notLiveSince(reads, now * 1000)
  return {
    since: since === undefined ? undefined : Math.floor(since / 1000),
    now,
    tryNow: () => void client.refetchQueries({ type: 'active' }),
  }
}
