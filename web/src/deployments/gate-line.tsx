import type { TaskRecord } from '../../../contract/task.ts'
import { Icon } from '../ui/icon.tsx'
import { clockTime } from '../ui/moment.ts'
import { describeGates, type Gate, gatesOf } from './gates.ts'
import { statusWords } from './status-words.ts'
import { deadlineOf } from './verdict-words.ts'

/** The line of six gates; a task in progress has its deadline at the end. */
export function GateLine({ task }: { task: TaskRecord }) {
  const gates = gatesOf(task)
  const at = gates.findIndex(({ state }) => state === 'now' || state === 'stop')
  const farFrom = at < 0 ? gates.length - 1 : Math.max(at, gates.length - 2)
  return (
    <ol className="track" aria-label={`Gates: ${describeGates(task, gates)}`}>
      {gates.map((gate, index) => (
        <GateMark key={gate.name} gate={gate} task={task} far={index >= farFrom} />
      ))}
      {task.status === 'in progress' ? <Deadline at={deadlineOf(task)} /> : null}
    </ol>
  )
}

function GateMark({ gate, task, far }: { gate: Gate; task: TaskRecord; far: boolean }) {
  const classes = ['gate', gate.state === 'ahead' ? '' : gate.state, far ? 'far' : '']
  return (
    <li className={classes.filter((name) => name !== '').join(' ')}>
      {gate.state === 'stop' ? <Icon name={statusWords[task.status].icon} /> : <span className="dot" />}
      <b>{gate.name}</b>
      <span className="at">{noteOf(gate, task)}</span>
    </li>
  )
}

function Deadline({ at }: { at: number | undefined }) {
  return (
    <li className="gate end far">
      <span className="dot" />
      <b>Verdict</b>
      <span className="at">{at === undefined ? 'when all gates are passed' : `by ${clockTime(at)} at the latest`}</span>
    </li>
  )
}

function noteOf(gate: Gate, task: TaskRecord): string {
  if (gate.state === 'stop') return `ended ${clockTime(task.updated)}`
  if (gate.state === 'now') return 'waiting'
  if (gate.name === 'Accepted') return clockTime(task.created)
  if (gate.name === 'Committed' && gate.state === 'done') return task.commit?.slice(0, 7) ?? 'not by this service'
  if (gate.name === 'Settled' && task.status === 'in progress') return 'then a final check'
  return gate.state === 'ahead' && task.status !== 'in progress' ? 'not seen' : ''
}
