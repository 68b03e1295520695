import { queryOptions, useMutation, useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Deliveries, Delivery, NotificationTargets } from '../../../contract/notify/delivery.ts'
import { readJson } from '../ui/read-json.ts'
import { sendJson } from '../ui/send-json.ts'

const key = ['notifications']

const targetsQuery = queryOptions<NotificationTargets>({
  queryKey: [...key, 'targets'],
  queryFn: ({ signal }) => readJson('/api/v1/notification-targets', signal),
  refetchInterval: 60_000,
})

const deliveriesQuery = (state: 'dead' | 'off') =>
  queryOptions<Deliveries>({
    queryKey: [...key, state],
    queryFn: ({ signal }) => readJson(`/api/v1/deliveries?state=${state}`, signal),
    refetchInterval: 60_000,
  })

/** GET /api/v1/notification-targets: by name, with the delivery that ended last. */
export const useNotificationTargets = () => useQuery(targetsQuery)

/** GET /api/v1/deliveries: what was not taken, newest first. */
export const useUndelivered = () =>
  useQueries({
    queries: [deliveriesQuery('dead'), deliveriesQuery('off')],
    combine: (lists) =>
      lists.flatMap(({ data }) => data?.deliveries ?? []).toSorted((one, other) => other.created - one.created),
  })

/** POST /api/v1/deliveries/<id>/retry. */
export function useRetryDelivery() {
  const client = useQueryClient()
  return useMutation<Delivery, Error, string>({
    mutationFn: (id) => sendJson<Delivery>('POST', `/api/v1/deliveries/${encodeURIComponent(id)}/retry`),
    onSettled: () => client.invalidateQueries({ queryKey: key }),
  })
}
