import { memo, useState } from 'react'
import { Link } from 'wouter'
import { awaitedOf } from '../../../contract/conditions.ts'
import type { TaskRecord } from '../../../contract/task.ts'
import { Change } from '../deployments/change.tsx'
import { GateStrip } from '../deployments/gate-strip.tsx'
import { podsOf } from '../deployments/running-images.ts'
import { StatusMark } from '../deployments/status-mark.tsx'
import { listAddress } from '../deployments/task-filters.ts'
import { secondsTaken, verdictWords } from '../deployments/verdict-words.ts'
import { duration } from '../ui/duration.ts'
import { useNow } from '../ui/now.tsx'
import { Section } from '../ui/section.tsx'
import { changeText, versionChange } from '../ui/version-change.ts'
import { More } from './more.tsx'
import { PodBar } from './pod-bar.tsx'
import { useHeldRows } from './use-held-rows.ts'
import { useTaskDetails } from './use-task-details.ts'

const [shownFirst, shownAtMost] = [6, 50]

type Props = {
  /** Those in progress, in their order. */
  tasks: readonly TaskRecord[]
  /** What is newest of tasks that are in progress no longer. */
  ended: readonly TaskRecord[]
  /** "4", "more than 100". */
  count: string
  /** Seconds, by application. */
  usual: ReadonlyMap<string, number | undefined>
  /** Ids of the failed tasks before, by application. */
  failed: ReadonlyMap<string, string>
}

/** Each rollout with its gates or its Pods, what it waits for, and its time against the usual one. */
export function RolloutList({ tasks, ended, count, usual, failed }: Props) {
  const [areAllShown, showAll] = useState(false)
  const held = useHeldRows(tasks.slice(0, shownAtMost).map((task) => ({ key: task.id, task })))
  const rows = areAllShown ? held.rows : held.rows.slice(0, shownFirst)
  const endedBy = new Map(ended.map((task) => [task.id, task]))
  const inProgress = listAddress({ status: 'in progress' })
  const details = useTaskDetails(
    rows.flatMap(({ task }) => {
      const before = failed.get(task.app)
      return [...(hasPods(task) ? [task.id] : []), ...(before === undefined ? [] : [before])]
    }),
  )
  return (
    <Section
      title="Rolling out now"
      id="now"
      note={count}
      end={<Link href={inProgress}>All in progress</Link>}
      {...held.hold}
    >
      {rows.length === 0 ? <p className="why">No deployment is in progress.</p> : null}
      <ul className="rolls">
        {rows.map(({ key, task }) => (
          <Rollout
            task={endedBy.get(key) ?? task}
            diagnosis={details.get(key)?.diagnosis}
            usual={usual.get(task.app)}
            after={afterWords(failed.get(task.app), details)}
            key={key}
          />
        ))}
      </ul>
      <More count={held.rows.length - rows.length} show={() => showAll(true)} />
    </Section>
  )
}

/** Whether it waits for Pods, which only the answer about this task has. */
const hasPods = ({ unmet_condition: unmet }: TaskRecord): boolean =>
  unmet === 'healthy' || unmet === 'images' || unmet === 'no_old_pods'

/** `after a failed 1.29.0` */
function afterWords(id: string | undefined, details: ReadonlyMap<string, TaskRecord>): string | undefined {
  if (id === undefined) return undefined
  const task = details.get(id)
  return `after a failed ${task === undefined ? 'deployment' : changeText(versionChange(undefined, task.images))}`
}

type RowProps = {
  task: TaskRecord
  diagnosis: TaskRecord['diagnosis']
  usual: number | undefined
  after: string | undefined
}

/** Drawn again only when its task changes; its clock ticks by itself. */
const Rollout = memo(function Rollout({ task, diagnosis, usual, after }: RowProps) {
  const known = diagnosis === undefined ? task : { ...task, diagnosis }
  const marks = hasPods(task)
    ? podsOf(known).flatMap(({ mark }) => (mark === 'old' || mark === 'finished' ? [] : [mark]))
    : []
  const says = waitingWords(known)
  return (
    <li className="roll">
      <Link className="name quiet" href={`/task/${encodeURIComponent(task.id)}`} title={task.app}>
        {task.app}
      </Link>
      <div className="sub">
        <Change task={task} /> by {task.author}
      </div>
      <div className="c-track">
        {marks.length > 0 ? <PodBar marks={marks} label={says} /> : <GateStrip task={known} />}
      </div>
      <div className="for">
        {task.status === 'in progress' ? null : <StatusMark status={task.status} />}
        {says}
        {after === undefined ? '' : `, ${after}`}
        {task.status === 'in progress' && usual !== undefined ? (
          <IfLonger created={task.created} usual={usual} />
        ) : null}
      </div>
      <Taken task={task} usual={usual} />
    </li>
  )
})

/** As the page of the task says it. */
function waitingWords(task: TaskRecord): string {
  const { status, diagnosis, headline, unmet_condition: unmet } = task
  if (status !== 'in progress' || diagnosis !== undefined) return verdictWords(task).headline
  const awaited = unmet && Object.hasOwn(awaitedOf, unmet) ? `Waiting for ${awaitedOf[unmet]}` : undefined
  return headline ?? awaited ?? verdictWords(task).headline
}

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
