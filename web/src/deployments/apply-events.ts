import { listedTaskFields } from '../../../contract/listed-task-fields.ts'
import type { ListedTask, TaskList, TaskRecord } from '../../../contract/task.ts'
import type { TaskEvent } from '../../../contract/task-event.ts'
import { isFinal } from '../../../contract/task-status.ts'
import { pageSize, statusesIn, type TaskFilters } from './task-filters.ts'

/** Tasks that came since wait to be shown: so many at most are kept, those in progress before others. */
export const maxRows = 4 * pageSize

/** The task as its newest event tells it, with what only the answer about one task holds. */
export function applyToTask(task: TaskRecord, events: readonly TaskEvent[]): TaskRecord {
  const told = newestTasks(events).get(task.id)
  return told === undefined ? task : merge(task, told)
}

/** Rows change where they are; new tasks that the filters ask for come first on the first page. */
export function applyToList(
  list: TaskList,
  events: readonly TaskEvent[],
  filters: TaskFilters,
  isFirstPage: boolean,
): TaskList {
  const told = newestTasks(events)
  const known = new Set(list.tasks.map(({ id }) => id))
  const oldest = list.tasks.length < pageSize ? undefined : list.tasks.at(-1)
  const added = isFirstPage
    ? [...told.values()].filter(
        (task) => !known.has(task.id) && task.created >= (oldest?.created ?? 0) && matches(task, filters),
      )
    : []
  if (added.length === 0 && !list.tasks.some(({ id }) => told.has(id))) return list
  const changed = list.tasks.map((task) => {
    const newer = told.get(task.id)
    return newer === undefined ? task : merge(task, newer)
  })
  return { ...list, tasks: capped([...added, ...changed].toSorted((a, b) => b.created - a.created)) }
}

function capped(tasks: readonly TaskRecord[]): TaskRecord[] {
  const ended = tasks.filter(({ status }) => isFinal(status))
  const gone = new Set(ended.slice(Math.max(0, ended.length - Math.max(0, tasks.length - maxRows))))
  return tasks.filter((task) => !gone.has(task)).slice(0, maxRows)
}

/** Whether the list would hold the task, as the service filters. */
export function matches(task: ListedTask, filters: TaskFilters): boolean {
  const { search, from_timestamp: from, to_timestamp: to, ended_from: endedFrom, ended_to: endedTo } = filters
  const searched = [task.id, task.app, task.author, task.project, task.commit ?? '', ...task.images.map(nameOf)]
  return (
    (filters.status === undefined || statusesIn(filters.status).includes(task.status)) &&
    (['app', 'project', 'environment', 'author', 'cause'] as const).every(
      (name) => filters[name] === undefined || filters[name] === task[name],
    ) &&
    (search === undefined || searched.some((text) => text.toLowerCase().includes(search.toLowerCase()))) &&
    (from === undefined || task.created > Number(from)) &&
    (to === undefined || task.created <= Number(to)) &&
    ((endedFrom === undefined && endedTo === undefined) || isFinal(task.status)) &&
    (endedFrom === undefined || task.updated >= Number(endedFrom)) &&
    (endedTo === undefined || task.updated < Number(endedTo))
  )
}

const nameOf = ({ image, tag }: TaskRecord['images'][number]) => `${image}:${tag}`

export const newestTasks = (events: readonly TaskEvent[]): ReadonlyMap<string, ListedTask> =>
  new Map(events.flatMap(({ task }) => (task === undefined ? [] : [[task.id, task] as const])))

/** A field that an event does not have is gone. */
function merge(task: TaskRecord, told: ListedTask): TaskRecord {
  const others = Object.entries(task).filter(([name]) => !(name in listedTaskFields))
  return { ...Object.fromEntries(others), ...told }
}
