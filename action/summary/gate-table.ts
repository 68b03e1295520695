import { elapsed } from '../../cli/output/words.ts'
import { gateTimes } from '../../contract/gates/gate-times.ts'
import { type Gate, gatesOf } from '../../contract/gates/gates.ts'
import type { TaskRecord } from '../../contract/task.ts'
import type { TaskEvent } from '../../contract/task-event.ts'

/** The six gates of a task with when each was passed, as the lines of a table. `events` are those of the task. */
export function gateTable(task: TaskRecord, events: readonly TaskEvent[]): readonly string[] {
  const gates = gatesOf(task)
  const times = gateTimes(task, gates, events)
  const rows = gates.map(({ name, state }, index) => {
    const at = times[index]?.at
    const cells = at === undefined ? [wordsOf(state, task), ''] : [elapsed(at - task.created), clockOf(at)]
    return `| ${[name, ...cells].join(' | ')} |`
  })
  return ['| Gate | After | At (UTC) |', '| --- | --- | --- |', ...rows]
}

/** Of a gate without a time. */
function wordsOf(state: Gate['state'], { status }: TaskRecord): string {
  if (state === 'ahead') return status === 'cancelled' ? 'not watched any more' : 'not reached'
  return state === 'done' ? 'passed' : 'stopped here'
}

/** `17:03:21` */
const clockOf = (seconds: number) => new Date(seconds * 1_000).toISOString().slice(11, 19)
