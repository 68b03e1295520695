import { type Gate, gatesOf } from '../../../contract/gates/gates.ts'
import type { TaskRecord } from '../../../contract/task.ts'
import { describeGates } from './describe-gates.ts'

const gatePitch = 13

/** The six gates in the width of a word. The sentence is in the label. */
export function GateStrip({ task }: { task: TaskRecord }) {
  const gates = gatesOf(task)
  return (
    <svg
      className={task.status === 'deployed' ? 'mini ok' : 'mini'}
      viewBox="0 0 76 10"
      role="img"
      aria-label={describeGates(task, gates)}
    >
      {gates.map((gate, index) => (
        <g key={gate.name} transform={`translate(${index * gatePitch} 0)`}>
          <Shape gate={gate} status={task.status} />
        </g>
      ))}
    </svg>
  )
}

function Shape({ gate, status }: { gate: Gate; status: TaskRecord['status'] }) {
  if (gate.state === 'done') return <rect className="d" y="3" width="11" height="4" />
  if (gate.state === 'now') return <rect className="n" y="1" width="11" height="8" rx="2" />
  if (gate.state === 'ahead') return <rect className="o" x=".5" y="3.5" width="10" height="3" />
  if (status === 'failed') return <path className="s" d="M3 0h5l3 3v4l-3 3H3L0 7V3Z" />
  if (status === 'aborted') return <path className="a" d="m5.5 0 6 10h-12Z" />
  if (status === 'cancelled') return <rect className="c" x="1" y="2" width="9" height="6" rx="3" />
  return <rect className="q" x="1" y="1.5" width="9" height="7" rx="3.5" />
}
