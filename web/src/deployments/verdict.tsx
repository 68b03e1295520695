import { type ReactNode, useId } from 'react'
import { Link } from 'wouter'
import type { TaskRecord } from '../../../contract/task.ts'
import type { TaskEvent } from '../../../contract/task-event.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { duration } from '../ui/duration.ts'
import { useNow } from '../ui/now.tsx'
import { whatStays } from './action-words.ts'
import { GateLine } from './gate-line.tsx'
import { isLeftInGit } from './offered-actions.ts'
import { Pace } from './pace.tsx'
import { PodLog } from './pod-log.tsx'
import { StatusIcon } from './status-mark.tsx'
import { wordsOf } from './status-words.ts'
import { type OfferedActions, TaskActions } from './task-actions.tsx'
import { listAddress } from './task-filters.ts'
import { taskReport } from './task-report.ts'
import {
  deadlineOf,
  type Fact as FactWords,
  isHistory,
  secondsTaken,
  supersededBy,
  type VerdictWords,
  verdictWords,
} from './verdict-words.ts'

/** The answer first: what it waits for, that it is done, or who broke it and what to do. */
export function Verdict({ task, events, actions }: Omit<Props, 'words'>) {
  const words = verdictWords(task)
  if (task.status === 'in progress') return <Waiting task={task} events={events} words={words} />
  if (task.status === 'deployed') return <Deployed task={task} events={events} words={words} actions={actions} />
  return <BadEnd task={task} events={events} words={words} actions={actions} />
}

type Props = { task: TaskRecord; events: readonly TaskEvent[]; words: VerdictWords; actions: OfferedActions }

function Waiting({ task, events, words }: Omit<Props, 'actions'>) {
  const seconds = secondsTaken(task, useNow())
  return (
    <Sheet task={task}>
      <div className="top">
        <div className="stack">
          <Headline task={task} words={words} />
          {words.lead === undefined ? null : <p className="lead">{words.lead}</p>}
          {words.impact === undefined ? null : <p>{words.impact}</p>}
        </div>
        <div className="clock">
          <span className="big" role="timer" aria-label="Elapsed">
            {duration(seconds)}
          </span>
          <Pace app={task.app} seconds={seconds} deadline={deadlineOf(task)} />
        </div>
      </div>
      <GateLine task={task} events={events} />
    </Sheet>
  )
}

function Deployed({ task, events, words, actions }: Props) {
  return (
    <Sheet task={task} calm>
      <div className="top">
        <div className="stack">
          <h2 className="said" id="verdict">
            <StatusIcon icon="i-deployed" />
            {words.headline}
          </h2>
          {words.lead === undefined ? null : <p>{words.lead}</p>}
        </div>
        <div className="act">
          <TaskActions {...actions} />
        </div>
      </div>
      <GateLine task={task} events={events} />
    </Sheet>
  )
}

function BadEnd({ task, events, words, actions }: Props) {
  const isOver = isHistory(task)
  return (
    <Sheet task={task} calm={isOver}>
      <Headline task={task} words={words} />
      <div className="act">
        <TaskActions {...actions}>
          <Successor task={task} />
          <Report task={task} />
        </TaskActions>
      </div>
      <div className="top">
        <div className="stack">
          {task.status === 'aborted' ? (
            <p className="lead">Outcome unknown: the rollout may {isOver ? 'have been' : 'be'} complete.</p>
          ) : null}
          {words.lead === undefined ? null : <p className="grey">{words.lead}</p>}
          {words.impact === undefined ? null : <p className="impact">{words.impact}</p>}
          {isLeftInGit(task) && !isOver ? <p>{whatStays(task.commit, task.branch)}</p> : null}
          <Facts facts={words.facts} cause={task.cause} />
          <SimilarApps apps={task.similar_apps} />
        </div>
        <NextSteps steps={words.steps} />
      </div>
      <PodLog task={task} />
      <GateLine task={task} events={events} />
    </Sheet>
  )
}

/** Everything the record tells, to be passed on. */
function Report({ task }: { task: TaskRecord }) {
  const id = useId()
  const text = taskReport(task, `${window.location.origin}/task/${encodeURIComponent(task.id)}`)
  return (
    <>
      <CopyButton text={text} label="Copy report" size="full" shortcut="c" />
      <button className="btn btn-plain" type="button" popoverTarget={id}>
        View report
      </button>
      <div className="panel" id={id} popover="auto" role="dialog" aria-label="Report">
        <code className="code-block">{text}</code>
      </div>
    </>
  )
}

/** The task that took its place. */
function Successor({ task }: { task: TaskRecord }) {
  const id = supersededBy(task)
  if (id === undefined) return null
  return (
    <Link className="btn btn-primary" href={`/task/${encodeURIComponent(id)}`}>
      Open the newer deployment
    </Link>
  )
}

function SimilarApps({ apps = [] }: { apps: readonly string[] | undefined }) {
  if (apps.length === 0) return null
  return (
    <div>
      <p>Applications with a similar name:</p>
      <ul className="similar">
        {apps.map((app) => (
          <li key={app}>
            <Link href={listAddress({ app })}>
              <code className="wrap-any">{app}</code>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}

function Sheet({ task, calm = false, children }: { task: TaskRecord; calm?: boolean; children: ReactNode }) {
  const tone = wordsOf(task.status).tone
  return (
    <section className={`verdict s-${tone}${calm ? ' calm' : ''}`} aria-labelledby="verdict">
      {children}
    </section>
  )
}

function Headline({ task, words }: Pick<Props, 'task' | 'words'>) {
  return (
    <h2 id="verdict">
      <StatusIcon icon={wordsOf(task.status).icon} />
      {words.headline}
    </h2>
  )
}

/** One line: who is to blame, from the outside in. */
function Facts({ facts, cause }: { facts: readonly FactWords[]; cause: string | undefined }) {
  const all = cause === undefined ? facts : [...facts, { name: 'Cause', value: cause }]
  if (all.length === 0) return null
  return (
    <dl className="facts in-line">
      {all.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <code>{value}</code>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function NextSteps({ steps }: Pick<VerdictWords, 'steps'>) {
  if (steps.length === 0) return null
  return (
    <div className="todo">
      <h3>What to do</h3>
      <ol className="do">
        {steps.map(({ actor, text }) => (
          <li key={text}>
            <span>
              {text} {actor === undefined ? null : <span className="dim2">({actor})</span>}
            </span>
          </li>
        ))}
      </ol>
    </div>
  )
}
