import { queryOptions, useQuery } from '@tanstack/react-query'
import type { AppSummaries, AppSummary } from '../../../contract/app-summary.ts'
import { useFollowedQuery } from '../live/use-followed-query.ts'
import { readJson } from '../ui/read-json.ts'
import { applyToSummaries } from './apply-to-summaries.ts'

const freshMs = 300_000
/** Events do not tell usual times, nor what the answer missed: on a large installation it may be ten seconds old. */
const readAgainMs = 15_000

const readSummaries = (signal: AbortSignal) => readJson<AppSummaries>('/api/v1/apps/summary', signal)

/** GET /api/v1/apps/summary, where a page is whole without it: null. */
const usualQuery = queryOptions<AppSummaries | null>({
  queryKey: ['apps', 'usual'],
  queryFn: ({ signal }) => readSummaries(signal).catch(() => null),
  staleTime: freshMs,
})

/** In seconds. */
export type Usual = { readonly median: number; readonly p95: number | undefined }

/** The usual time of an application; undefined where it is not known, or not for this reader. */
export function useUsual(app: string): Usual | undefined {
  const { data } = useQuery(usualQuery)
  const { median_seconds: median, p95_seconds: p95 } = data?.apps.find((one) => one.app === app) ?? {}
  return median === undefined ? undefined : { median, p95 }
}

/** How applications do, as it was read a while ago; none where it is not known. */
export const useKnownSummaries = (): readonly AppSummary[] => useQuery(usualQuery).data?.apps ?? []

/** How one application does; undefined where it is not known, or not for this reader. */
export const useSummary = (app: string): AppSummary | undefined => useKnownSummaries().find((one) => one.app === app)

/** How the applications do, kept up to date by events. */
export const useSummaries = () =>
  useFollowedQuery<AppSummaries>({
    queryKey: ['apps', 'summary'],
    read: readSummaries,
    apply: applyToSummaries,
    readAgainMs,
  })
