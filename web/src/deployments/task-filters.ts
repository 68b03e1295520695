import { type TaskStatus, taskStatuses } from '../../../contract/task-status.ts'

/** The filters as the query string has them, in the page's address and in the API's alike. */
const filterNames = ['status', 'search', 'app', 'project', 'author', 'from_timestamp', 'to_timestamp'] as const
export type FilterName = (typeof filterNames)[number]
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

/** How many newer rows the address skips. */
export function offsetIn(query: URLSearchParams): number {
  const offset = Number(query.get('offset') ?? '0')
  return Number.isSafeInteger(offset) && offset > 0 ? offset : 0
}

/** The query string of a page of the list, without a question mark; empty for the whole list's first page. */
export function listQuery(filters: TaskFilters, offset = 0): string {
  const query = new URLSearchParams()
  for (const name of filterNames) {
    const value = filters[name]
    if (value !== undefined && value !== '') query.set(name, value)
  }
  if (offset > 0) query.set('offset', String(offset))
  return query.toString()
}

/** The address of a page of the list. */
export function listAddress(filters: TaskFilters, offset = 0): string {
  const query = listQuery(filters, offset)
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
    (filters.from_timestamp ?? filters.to_timestamp) && 'in the chosen time',
  ]
  return parts.filter((part) => part !== undefined && part !== '').join(' ')
}

/** "1–50 of 1,234": which rows are shown of how many. */
export function describePage(shown: number, offset: number, total: number | undefined, capped: boolean): string {
  const rows = `${figure(offset + 1)}–${figure(offset + shown)}`
  if (total === undefined) return rows
  return `${rows} of ${capped ? 'more than ' : ''}${figure(total)}`
}

const figure = (count: number) => count.toLocaleString('en')

const isStatus = (text: string): text is TaskStatus => taskStatuses.some((status) => status === text)
