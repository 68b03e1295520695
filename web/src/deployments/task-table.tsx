import type { TaskRecord } from '../../../contract/task.ts'
import { Table } from '../ui/table.tsx'
import { TaskRow } from './task-row.tsx'

const columns = [
  { name: 'Status' },
  { name: 'Application' },
  { name: 'Images' },
  { name: 'Project' },
  { name: 'Author' },
  { name: 'Gates' },
  { name: 'Took', isNumber: true },
  { name: 'Created', isNumber: true },
]

export function TaskTable({ tasks }: { tasks: readonly TaskRecord[] }) {
  return (
    <Table label="Tasks, newest first" className="tasks" columns={columns}>
      {tasks.map((task) => (
        <TaskRow task={task} key={task.id} />
      ))}
    </Table>
  )
}
