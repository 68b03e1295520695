import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { use } from 'react'
import type { AppSummaries } from '../../../contract/app-summary.ts'
import type { LiveConnection } from '../live/live-connection.ts'
import { readAndFollow } from '../live/read-and-follow.ts'
import { Live, useLiveEvents } from '../live/use-live.ts'
import { readJson } from '../ui/read-json.ts'
import { applyToSummaries } from './apply-to-summaries.ts'

const freshMs = 300_000
/** Events tell what happens to an application, not its usual time: that is read so often. */
const readAgainMs = 60_000

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

const summariesQuery = (connection: LiveConnection) =>
  queryOptions<AppSummaries>({
    queryKey: ['apps', 'summary'],
    queryFn: ({ signal }) => readAndFollow(connection, () => readSummaries(signal), applyToSummaries),
    refetchInterval: readAgainMs,
  })

/** How the applications do, kept up to date by events. */
export function useSummaries() {
  const [connection, client] = [use(Live), useQueryClient()]
  const options = summariesQuery(connection)
  useLiveEvents('tasks', (events) =>
    client.setQueryData(options.queryKey, (known) => known && applyToSummaries(known, events)),
  )
  return useQuery(options)
}
