import type { ReactNode } from 'react'
import { type GateTime, gateTimes } from '../../../contract/gates/gate-times.ts'
import { type Gate, type GateName, gatesOf } from '../../../contract/gates/gates.ts'
import type { TaskRecord } from '../../../contract/task.ts'
import type { TaskEvent } from '../../../contract/task-event.ts'
import { duration, fineDuration } from '../ui/duration.ts'
import { Icon } from '../ui/icon.tsx'
import { useNow } from '../ui/now.tsx'
import { At } from '../ui/when.tsx'
import { describeGates, gateRowId } from './describe-gates.ts'
import { wordsOf } from './status-words.ts'
import { deadlineOf } from './verdict-words.ts'

/** The line of six gates, with the time each took; a task in progress has its deadline at the end. */
export function GateLine({ task, events }: { task: TaskRecord; events: readonly TaskEvent[] }) {
  const gates = gatesOf(task)
  const times = gateTimes(task, gates, events)
  const at = gates.findIndex(({ state }) => state === 'now' || state === 'stop')
  const farFrom = at < 0 ? gates.length - 1 : Math.max(at, gates.length - 2)
  return (
    <ol className="track" aria-label={`Gates: ${describeGates(task, gates)}`}>
      {gates.map((gate, index) => (
        <GateMark key={gate.name} gate={gate} time={times[index]} task={task} far={index >= farFrom} />
      ))}
      {task.status === 'in progress' ? <Deadline at={deadlineOf(task)} /> : null}
    </ol>
  )
}

type MarkProps = { gate: Gate; time: GateTime | undefined; task: TaskRecord; far: boolean }

function GateMark({ gate, time, task, far }: MarkProps) {
  const classes = ['gate', gate.state === 'ahead' ? '' : gate.state, far ? 'far' : '']
  return (
    <li className={classes.filter((name) => name !== '').join(' ')}>
      {gate.state === 'stop' ? <Icon name={wordsOf(task.status).icon} /> : <span className="dot" />}
      <a className="quiet" href={`#${gateRowId(gate.name)}`} onClick={() => openRow(gate.name)}>
        {gate.name}
      </a>
      <span className="at">
        {time?.waitsSince === undefined ? noteOf(gate, time, task) : <Waiting since={time.waitsSince} />}
      </span>
      {time?.tookSeconds === undefined ? null : <span className="took">{fineDuration(time.tookSeconds)}</span>}
    </li>
  )
}

function openRow(gate: GateName) {
  const row = document.getElementById(gateRowId(gate))
  if (row instanceof HTMLDetailsElement) row.open = true
}

const Waiting = ({ since }: { since: number }) => `for ${duration(useNow() - since)}`

function Deadline({ at }: { at: number | undefined }) {
  return (
    <li className="gate end far">
      <span className="dot" />
      <b>Done</b>
      <span className="at">
        {at === undefined ? (
          'when all gates are passed'
        ) : (
          <>
            by <At at={at} />
          </>
        )}
      </span>
    </li>
  )
}

function noteOf(gate: Gate, time: GateTime | undefined, task: TaskRecord): ReactNode {
  if (gate.state === 'stop') {
    return (
      <>
        ended <At at={task.updated} />
      </>
    )
  }
  if (gate.state === 'now') return 'waiting'
  if (gate.name === 'Committed' && gate.state === 'done' && task.commit === undefined) return 'not by this service'
  if (time?.at !== undefined) return <At at={time.at} />
  if (gate.name === 'Settled' && task.status === 'in progress') return 'then a final check'
  if (gate.state !== 'ahead' || task.status === 'in progress') return ''
  return task.status === 'cancelled' ? 'not watched' : 'not reached'
}
