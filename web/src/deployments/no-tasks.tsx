import { Link } from 'wouter'
import { Icon } from '../ui/icon.tsx'
import { describeFilters, listAddress, type TaskFilters } from './task-filters.ts'

/** Names the filters that empty the list and offers to take them away. */
export function NoMatch({ filters, cursor }: { filters: TaskFilters; cursor: string | undefined }) {
  const { status, ...others } = filters
  const names = Object.keys(filters)
  return (
    <div className="empty">
      <Icon name="i-find" />
      <h2>{cursor !== undefined ? 'No older deployment' : `No ${describeFilters(filters)}`}</h2>
      <div className="row">
        {cursor !== undefined ? <Way to={listAddress(filters)}>Newest deployments</Way> : null}
        {status !== undefined && names.length > 1 ? <Way to={listAddress(others)}>Any status</Way> : null}
        {names.length > 0 ? <Way to="/tasks">Clear all filters</Way> : null}
      </div>
    </div>
  )
}

function Way({ to, children }: { to: string; children: string }) {
  return (
    <Link className="btn btn-s" href={to}>
      {children}
    </Link>
  )
}
