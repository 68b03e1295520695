import { type Query, useQueryClient } from '@tanstack/react-query'
import { use, useEffect } from 'react'
import { isRejection } from '../ui/read-json.ts'
import { Live } from './use-live.ts'

const failedAgainMs = 15_000

/**
 * Keeps the connection open while the page can be seen, comes back early when a click, a read or the network says that the
 * service may be there, and reads what is shown where events may be missing, or where a read
 * failed while the stream stayed open. A hidden tab holds no connection unless it is kept open: over HTTP/1.1 a browser has
 * six for all tabs of the service, and one without the right to read holds none.
 */
export function useLiveWhileVisible(mayRead: boolean): void {
  const connection = use(Live)
  const client = useQueryClient()
  useEffect(() => {
    if (!mayRead) return
    const follow = () => {
      if (connection.isKeptOpen()) connection.hurry()
      else if (document.hidden) connection.pause()
      else connection.connect()
    }
    const stopReads = connection.on('read', () => void client.refetchQueries({ type: 'active' }))
    const failedAgain = setInterval(() => {
      const hasFailed = ({ state: { status, error } }: Query) => status === 'error' && !isRejection(error)
      if (!document.hidden) void client.refetchQueries({ type: 'active', predicate: hasFailed })
    }, failedAgainMs)
    const stopHurrying = client.getQueryCache().subscribe((event) => {
      const isRead = event.type === 'updated' && event.action.type === 'success' && event.action.manual !== true
      if (isRead) connection.hurry()
    })
    follow()
    document.addEventListener('visibilitychange', follow)
    window.addEventListener('online', connection.hurry)
    document.addEventListener('click', connection.hurry)
    return () => {
      window.removeEventListener('online', connection.hurry)
      document.removeEventListener('click', connection.hurry)
      stopHurrying()
      document.removeEventListener('visibilitychange', follow)
      clearInterval(failedAgain)
      stopReads()
      connection.pause()
    }
  }, [connection, client, mayRead])
}
