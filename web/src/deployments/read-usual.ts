import { queryOptions, useQuery } from '@tanstack/react-query'
import type { AppSummaries } from '../../../contract/app-summary.ts'
import { readJson } from '../ui/read-json.ts'

const freshMs = 300_000

/** GET /api/v1/apps/summary: how long deployments of each application take. A page is whole without it: null. */
const summariesQuery = queryOptions<AppSummaries | null>({
  queryKey: ['apps', 'summary'],
  queryFn: ({ signal }) => readJson<AppSummaries>('/api/v1/apps/summary', signal).catch(() => null),
  staleTime: freshMs,
})

/** In seconds. */
export type Usual = { readonly median: number; readonly p95: number | undefined }

/** The usual time of an application; undefined where it is not known, or not for this reader. */
export function useUsual(app: string): Usual | undefined {
  const { data } = useQuery(summariesQuery)
  const { median_seconds: median, p95_seconds: p95 } = data?.apps.find((one) => one.app === app) ?? {}
  return median === undefined ? undefined : { median, p95 }
}
