import { memo } from 'react'
import { Link } from 'wouter'
import type { TaskRecord } from '../../../contract/task.ts'
import { Change } from '../deployments/change.tsx'
import { GateStrip } from '../deployments/gate-strip.tsx'
import { StatusMark } from '../deployments/status-mark.tsx'
import { listAddress } from '../deployments/task-filters.ts'
import { secondsTaken, verdictWords } from '../deployments/verdict-words.ts'
import { duration } from '../ui/duration.ts'
import { useNow } from '../ui/now.tsx'
import { Section } from '../ui/section.tsx'
import { useHeldRows } from './use-held-rows.ts'

const shownAtMost = 50

type Props = {
  /** Those in progress, in their order. */
  tasks: readonly TaskRecord[]
  /** What is newest of tasks that are in progress no longer. */
  ended: readonly TaskRecord[]
  /** "4", "more than 100". */
  count: string
  /** Seconds, by application. */
  usual: ReadonlyMap<string, number | undefined>
}

/** Each rollout with its gates, what it waits for, and its time against the usual one. */
export function RolloutList({ tasks, ended, count, usual }: Props) {
  const latest = tasks.slice(0, shownAtMost).map((task) => ({ key: task.id, task }))
  const { rows, hold } = useHeldRows(latest)
  const endedBy = new Map(ended.map((task) => [task.id, task]))
  const inProgress = listAddress({ status: 'in progress' })
  return (
    <Section title="Rolling out now" id="now" note={count} end={<Link href="/tasks">All tasks</Link>} {...hold}>
      {rows.length === 0 ? <p className="why">No deployment is in progress.</p> : null}
      <ul className="rolls">
        {rows.map(({ key, task }) => (
          <Rollout task={endedBy.get(key) ?? task} usual={usual.get(task.app)} key={key} />
        ))}
      </ul>
      {tasks.length > shownAtMost ? (
        <p className="small">
          <Link href={inProgress}>Show all {count} in progress</Link>
        </p>
      ) : null}
    </Section>
  )
}

/** Drawn again only when its task changes; its clock ticks by itself. */
const Rollout = memo(function Rollout({ task, usual }: { task: TaskRecord; usual: number | undefined }) {
  const { headline } = verdictWords(task)
  return (
    <li className="roll">
      <div>
        <Link className="name quiet" href={`/task/${encodeURIComponent(task.id)}`}>
          {task.app}
        </Link>
        <div className="sub">
          <Change task={task} /> by {task.author}
        </div>
      </div>
      <div className="c-track">
        <GateStrip task={task} />
      </div>
      <div className="for c-for">
        {task.status === 'in progress' ? null : <StatusMark status={task.status} />}
        {headline}
        {task.status === 'in progress' && usual !== undefined ? (
          <IfLonger created={task.created} usual={usual} />
        ) : null}
      </div>
      <Taken task={task} usual={usual} />
    </li>
  )
})

const IfLonger = ({ created, usual }: { created: number; usual: number }) =>
  useNow() - created > usual ? '. Longer than usual.' : ''

const paceWidth = 100

function Taken({ task, usual }: { task: TaskRecord; usual: number | undefined }) {
  const seconds = secondsTaken(task, useNow())
  const isLonger = usual !== undefined && seconds > usual
  return (
    <div className="c-time small">
      <b>{duration(seconds)}</b>
      {usual === undefined ? null : <span className="dim"> of usual {duration(usual)}</span>}
      {usual === undefined ? null : (
        <svg className="pace" preserveAspectRatio="none" viewBox={`0 0 ${paceWidth} 6`} aria-hidden="true">
          <rect className="bg" width={paceWidth} height="6" />
          <rect
            className={isLonger ? 'over' : 'fg'}
            width={isLonger ? paceWidth : (Math.max(0, seconds) / (usual || 1)) * paceWidth}
            height="6"
          />
          {isLonger ? <rect className="tick" x={(usual / seconds) * paceWidth} width="1" height="6" /> : null}
        </svg>
      )}
    </div>
  )
}
