import type { ReactNode } from 'react'
import type { TaskRecord } from '../../../contract/task.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { duration } from '../ui/duration.ts'
import { useNow } from '../ui/now.tsx'
import { Exactly } from '../ui/when.tsx'
import { GateLine } from './gate-line.tsx'
import { StatusIcon } from './status-mark.tsx'
import { statusWords } from './status-words.ts'
import { taskReport } from './task-report.ts'
import { type Fact as FactWords, secondsTaken, type VerdictWords, verdictWords } from './verdict-words.ts'

/** The answer first: what it waits for, that it is done, or who broke it and what to do. */
export function Verdict({ task }: { task: TaskRecord }) {
  const words = verdictWords(task)
  if (task.status === 'in progress') return <Waiting task={task} words={words} />
  if (task.status === 'deployed') return <Deployed task={task} words={words} />
  return <BadEnd task={task} words={words} />
}

type Props = { task: TaskRecord; words: VerdictWords }

function Waiting({ task, words }: Props) {
  return (
    <Sheet task={task}>
      <div className="top">
        <div className="stack">
          <Headline task={task} words={words} />
          {words.lead === undefined ? null : <p className="lead">{words.lead}</p>}
        </div>
        <div className="clock">
          <span className="big" role="timer" aria-label="Elapsed">
            {duration(secondsTaken(task, useNow()))}
          </span>
          {task.timeout === undefined ? null : <span>of {duration(task.timeout)} at most</span>}
        </div>
      </div>
      <GateLine task={task} />
    </Sheet>
  )
}

function Deployed({ task, words }: Props) {
  return (
    <Sheet task={task} calm>
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
    </Sheet>
  )
}

function BadEnd({ task, words }: Props) {
  const address = `${window.location.origin}/task/${encodeURIComponent(task.id)}`
  return (
    <Sheet task={task}>
      <div className="top">
        <div className="stack">
          <Headline task={task} words={words} />
          {task.status === 'aborted' ? <p className="lead">Outcome unknown: the rollout may be complete.</p> : null}
          {words.lead === undefined ? null : <p className="lead">{words.lead}</p>}
          <Facts facts={words.facts} cause={task.cause} />
        </div>
        <NextSteps steps={words.steps} />
      </div>
      <div className="actions">
        <CopyButton text={taskReport(task, address)} label="Copy report as text" shortcut="c" />
      </div>
      <hr />
      <GateLine task={task} />
    </Sheet>
  )
}

function Sheet({ task, calm = false, children }: { task: TaskRecord; calm?: boolean; children: ReactNode }) {
  const tone = statusWords[task.status].tone
  return (
    <section className={`verdict s-${tone}${calm ? ' calm' : ''}`} aria-labelledby="verdict">
      {children}
    </section>
  )
}

function Headline({ task, words }: Props) {
  return (
    <h2 id="verdict">
      <StatusIcon icon={statusWords[task.status].icon} />
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
              {text} <span className="dim">({actor})</span>
            </span>
          </li>
        ))}
      </ol>
    </div>
  )
}
