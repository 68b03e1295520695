import { type TaskStatus, taskStatuses } from '../../../contract/task-status.ts'
import { figure } from '../ui/figure.ts'
import { type CappedCount, countWords } from './count-words.ts'

/** The filters as the query string has them, in the page's address and in the API's alike. */
const filterNames = [
  'status',
  'search',
  'app',
  'project',
  'author',
  'cause',
  'from_timestamp',
  'to_timestamp',
  'ended_from',
  'ended_to',
] as const
type FilterName = (typeof filterNames)[number]
export type TaskFilters = Readonly<Partial<Record<FilterName, string>>>

export const pageSize = 50

/** Reads an address; what is empty or no status is left out. */
export function filtersIn(query: URLSearchParams): TaskFilters {
  const given = filterNames.flatMap((name) => {
    const value = query.get(name)
    return value === null || value === '' ? [] : [[name, value] as const]
  })
  const { status, ...filters }: TaskFilters = Object.fromEntries(given)
  return status !== undefined && isStatus(status) ? { status, ...filters } : filters
}

/** Where the page of the address begins; undefined for the newest tasks. */
export const cursorIn = (query: URLSearchParams): string | undefined => query.get('cursor') || undefined

/** The query string of a page of the list, without a question mark; empty for the whole list's first page. */
export function listQuery(filters: TaskFilters, cursor?: string): string {
  const query = new URLSearchParams()
  for (const name of filterNames) {
    const value = filters[name]
    if (value !== undefined && value !== '') query.set(name, value)
  }
  if (cursor !== undefined) query.set('cursor', cursor)
  return query.toString()
}

/** The address of a page of the list. */
export function listAddress(filters: TaskFilters, cursor?: string): string {
  const query = listQuery(filters, cursor)
  return query === '' ? '/tasks' : `/tasks?${query}`
}

/** "failed task of checkout-api by ada": what the filters ask for. */
export function describeFilters(filters: TaskFilters): string {
  const parts = [
    filters.status === undefined
      ? 'task'
      : `${filters.status === 'app not found' ? '“app not found”' : filters.status} task`,
    filters.app && `of ${filters.app}`,
    filters.project && `in project ${filters.project}`,
    filters.author && `by ${filters.author}`,
    filters.search && `with “${filters.search}”`,
    filters.cause && `with the cause ${filters.cause}`,
    (filters.from_timestamp ?? filters.to_timestamp) && 'created in the chosen time',
    (filters.ended_from ?? filters.ended_to) && 'that ended in the chosen time',
  ]
  return parts.filter((part) => part !== undefined && part !== '').join(' ')
}

/** "50 of more than 10,000": how many rows are shown of how many. */
export function describePage(shown: number, total: CappedCount | undefined): string {
  return total === undefined ? figure(shown) : `${figure(shown)} of ${countWords(total)}`
}

const isStatus = (text: string): text is TaskStatus => taskStatuses.some((status) => status === text)
