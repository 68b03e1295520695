import type { ReactNode } from 'react'
import { capitalize } from './capitalize.ts'
import { LoadingRows } from './loading-rows.tsx'
import { ReadFailure } from './read-failure.tsx'

type Props<Data> = {
  query: { readonly data: Data | undefined; readonly error: Error | null; readonly refetch: () => unknown }
  /** As in "… could not be read": `the tasks`. */
  what: string
  /** How many rows keep the place. */
  rows?: number
  children: (data: Data) => ReactNode
}

/** What a query has answered; until then its place, or why it could not be read and a way to try again. */
export function Answered<Data>({ query: { data, error, refetch }, what, rows = 8, children }: Props<Data>): ReactNode {
  if (data !== undefined) return children(data)
  if (error === null) return <LoadingRows label={`Loading ${what}`} rows={rows} />
  return <ReadFailure what={capitalize(what)} error={error} retry={() => void refetch()} />
}
