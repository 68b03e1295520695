import { useQueryClient } from '@tanstack/react-query'
import { use, useEffect } from 'react'
import { Live } from './use-live.ts'

/**
 * Keeps the connection open while the page can be seen, and reads what is shown where events may be missing. A hidden tab
 * holds no connection: over HTTP/1.1 a browser has six for all tabs of the service.
 */
export function useLiveWhileVisible(): void {
  const connection = use(Live)
  const client = useQueryClient()
  useEffect(() => {
    const follow = () => (document.hidden ? connection.pause() : connection.connect())
    const stopReads = connection.on('read', () => void client.refetchQueries({ type: 'active' }))
    follow()
    document.addEventListener('visibilitychange', follow)
    return () => {
      document.removeEventListener('visibilitychange', follow)
      stopReads()
      connection.pause()
    }
  }, [connection, client])
}
