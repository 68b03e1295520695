import { type Query, useQueryClient } from '@tanstack/react-query'
import { use, useEffect } from 'react'
import { isRejection } from '../ui/read-json.ts'
import { Live } from './use-live.ts'

const failedAgainMs = 15_000

/**
 * Keeps the connection open while the page can be seen, and reads what is shown where events may be missing, or where a read
 * failed while the stream stayed open. A hidden tab holds no connection unless it is kept open: over HTTP/1.1 a browser has
 * six for all tabs of the service.
 */
export function useLiveWhileVisible(): void {
  const connection = use(Live)
  const client = useQueryClient()
  useEffect(() => {
    const follow = () => {
      if (!document.hidden) connection.connect()
      else if (!connection.isKeptOpen()) connection.pause()
    }
    const stopReads = connection.on('read', () => void client.refetchQueries({ type: 'active' }))
    const failedAgain = setInterval(() => {
      const hasFailed = ({ state: { status, error } }: Query) => status === 'error' && !isRejection(error)
      if (!document.hidden) void client.refetchQueries({ type: 'active', predicate: hasFailed })
    }, failedAgainMs)
    follow()
    document.addEventListener('visibilitychange', follow)
    return () => {
      document.removeEventListener('visibilitychange', follow)
      clearInterval(failedAgain)
      stopReads()
      connection.pause()
    }
  }, [connection, client])
}
