import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Deliveries, Delivery } from '../../../contract/notify/delivery.ts'
import { readJson } from '../ui/read-json.ts'
import { sendJson } from '../ui/send-json.ts'

/** GET /api/v1/deliveries?state=dead: what could not be told, newest first. */
const deadDeliveriesQuery = queryOptions<Deliveries>({
  queryKey: ['deliveries', 'dead'],
  queryFn: ({ signal }) => readJson('/api/v1/deliveries?state=dead', signal),
  refetchInterval: 60_000,
})

export const useDeadDeliveries = () => useQuery(deadDeliveriesQuery)

/** POST /api/v1/deliveries/<id>/retry. */
export function useRetryDelivery() {
  const client = useQueryClient()
  return useMutation<Delivery, Error, string>({
    mutationFn: (id) => sendJson<Delivery>('POST', `/api/v1/deliveries/${encodeURIComponent(id)}/retry`),
    onSettled: () => client.invalidateQueries(deadDeliveriesQuery),
  })
}
