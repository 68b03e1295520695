import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { TaskRecord } from '../../../contract/task.ts'
import type { TaskEvent } from '../../../contract/task-event.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { duration } from '../ui/duration.ts'
import { useNow } from '../ui/now.tsx'
import { Exactly } from '../ui/when.tsx'
import { GateLine } from './gate-line.tsx'
import { Pace } from './pace.tsx'
import { PodLog } from './pod-log.tsx'
import { StatusIcon } from './status-mark.tsx'
import { wordsOf } from './status-words.ts'
import { type OfferedActions, TaskActions } from './task-actions.tsx'
import { listAddress } from './task-filters.ts'
import { taskReport } from './task-report.ts'
import {
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
          <Pace app={task.app} seconds={seconds} />
          {task.timeout === undefined ? null : <span>{duration(task.timeout)} at most</span>}
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
          <p>
            Finished <Exactly at={task.updated} />.
          </p>
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
  const address = `${window.location.origin}/task/${encodeURIComponent(task.id)}`
  const isOver = isHistory(task)
  return (
    <Sheet task={task} calm={isOver}>
      <div className="top">
        <div className="stack">
          <Headline task={task} words={words} />
          {task.status === 'aborted' ? (
            <p className="lead">Outcome unknown: the rollout may {isOver ? 'have been' : 'be'} complete.</p>
          ) : null}
          {words.lead === undefined ? null : <p className="lead">{words.lead}</p>}
          {words.impact === undefined ? null : <p className="impact">{words.impact}</p>}
          <Facts facts={words.facts} cause={task.cause} />
          <SimilarApps apps={task.similar_apps} />
        </div>
        <NextSteps steps={words.steps} />
      </div>
      <PodLog task={task} />
      <div className="act">
        <TaskActions {...actions}>
          <Successor task={task} />
          <CopyButton text={taskReport(task, address)} label="Copy report as text" size="full" shortcut="c" />
        </TaskActions>
      </div>
      <hr />
      <GateLine task={task} events={events} />
    </Sheet>
  )
}

/** The task that took its place. */
function Successor({ task }: { task: TaskRecord }) {
  const id = supersededBy(task)
  if (id === undefined) return null
  return (
    <Link className="btn btn-primary" href={`/task/${encodeURIComponent(id)}`}>
      Open the newer task
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

function Facts({ facts, cause }: { facts: readonly FactWords[]; cause: string | undefined }) {
  return (
    <dl className="facts culprit">
      {facts.map(({ name, value }) => (
        <Fact name={name} value={value} key={name} />
      ))}
      {cause === undefined ? null : <Fact name="Cause" value={cause} />}
    </dl>
  )
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <code>{value}</code>
      </dd>
    </>
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
              {text} <span className="dim2">({actor})</span>
            </span>
          </li>
        ))}
      </ol>
    </div>
  )
}
