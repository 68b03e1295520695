import { queryOptions, useQuery } from '@tanstack/react-query'
import type { EffectiveSettings } from '../../../contract/effective-settings.ts'
import { readJson } from '../ui/read-json.ts'

/** GET /api/v1/settings, of privileged users. They change with a start of the service only. */
const settingsQuery = queryOptions<EffectiveSettings>({
  queryKey: ['settings'],
  queryFn: ({ signal }) => readJson<EffectiveSettings>('/api/v1/settings', signal),
})

export const useSettings = () => useQuery(settingsQuery)
