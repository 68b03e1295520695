import type { TaskStatus } from '../../../contract/task-status.ts'
import { figure } from '../ui/figure.ts'
import { type CappedCount, countWords } from './count-words.ts'
import { shownStatuses } from './status-words.ts'

/** The filters as the query string has them, in the page's address and in the API's alike. Statuses are joined by commas. */
const filterNames = [
  'status',
  'search',
  'app',
  'project',
  'environment',
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
  const statuses = statusesIn(status)
  return statuses.length === 0 ? filters : { status: statuses.join(','), ...filters }
}

/** In the order of the chips; none stands for all. */
export const statusesIn = (status: string | undefined): readonly TaskStatus[] => {
  const asked = status?.split(',') ?? []
  return shownStatuses.filter((one) => asked.includes(one))
}

/** Those that did not end as one wants: the commonest question. */
export const notDeployed = shownStatuses.filter((status) => status !== 'deployed' && status !== 'in progress')

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

/** "failed or aborted deployment of checkout-api by ada": what the filters ask for. */
export function describeFilters(filters: TaskFilters): string {
  const statuses = statusesIn(filters.status).map((status) => (status === 'app not found' ? '“app not found”' : status))
  const parts = [
    statuses.join(' or '),
    'deployment',
    filters.app && `of ${filters.app}`,
    filters.project && `in project ${filters.project}`,
    filters.environment && `to ${filters.environment}`,
    filters.author && `by ${filters.author}`,
    filters.search && `with “${filters.search}”`,
    filters.cause && `with the cause ${filters.cause}`,
    (filters.from_timestamp ?? filters.to_timestamp) && 'created in the chosen time',
    (filters.ended_from ?? filters.ended_to) && 'that ended in the chosen time',
  ]
  return parts.filter((part) => part !== undefined && part !== '').join(' ')
}

/** "51–100 of more than 10,000": which rows are shown of how many; `before` is undefined where it is not known. */
export function describePage(before: number | undefined, shown: number, total: CappedCount | undefined): string {
  const rows = before === undefined || shown === 0 ? figure(shown) : `${figure(before + 1)}–${figure(before + shown)}`
  return total === undefined ? rows : `${rows} of ${countWords(total)}`
}
