import type { TaskRecord } from '../../../contract/task.ts'
import { Icon } from '../ui/icon.tsx'
import { Table } from '../ui/table.tsx'
import { TaskRow } from './task-row.tsx'

/** Whether the rows of this page are in the order of how long they took. */
export type SortByTook = { readonly byTook: boolean; readonly setByTook: (byTook: boolean) => void }

export function TaskTable({ tasks, sort: { byTook, setByTook } }: { tasks: readonly TaskRecord[]; sort: SortByTook }) {
  const took = (
    <button className="sort" type="button" aria-pressed={byTook} onClick={() => setByTook(!byTook)}>
      Took
      {byTook ? <Icon name="i-down" className="tiny" /> : null}
    </button>
  )
  const columns = [
    { name: 'Status' },
    { name: 'Application' },
    { name: 'Version' },
    { name: 'Project' },
    { name: 'Author' },
    { name: 'Gates' },
    { name: 'Took', isNumber: true, content: took, isSorted: byTook },
    { name: 'Created', isNumber: true },
  ]
  return (
    <Table label={`Deployments, ${byTook ? 'longest' : 'newest'} first`} className="tasks" columns={columns}>
      {tasks.map((task) => (
        <TaskRow task={task} key={task.id} />
      ))}
    </Table>
  )
}
