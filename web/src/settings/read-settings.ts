import { queryOptions, useQuery } from '@tanstack/react-query'
import type { EffectiveSettings } from '../../../contract/effective-settings.ts'
import { AnswerError, readJson } from '../ui/read-json.ts'

/** The settings, or the service's words on what they need: reading everything else may be open. */
type Answer = EffectiveSettings | { readonly needs: string }

/** GET /api/v1/settings. They change with a start of the service only. */
const settingsQuery = queryOptions<Answer>({
  queryKey: ['settings'],
  queryFn: async ({ signal }) => {
    try {
      return await readJson<EffectiveSettings>('/api/v1/settings', signal)
    } catch (error) {
      if (error instanceof AnswerError && error.status === 401) return { needs: error.message }
      throw error
    }
  },
})

export const useSettings = () => useQuery(settingsQuery)
