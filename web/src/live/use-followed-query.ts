import { useQuery, useQueryClient } from '@tanstack/react-query'
import { use } from 'react'
import { applyToQuery, type Followed, followedQuery } from './followed-query.ts'
import { Live, useLiveEvents } from './use-live.ts'

export function useFollowedQuery<Answer>(followed: Followed<Answer>) {
  const [connection, client] = [use(Live), useQueryClient()]
  useLiveEvents('tasks', (events) => applyToQuery(client, followed, events))
  return useQuery(followedQuery(connection, followed))
}
