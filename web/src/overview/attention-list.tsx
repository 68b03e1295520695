import { useState } from 'react'
import { Link } from 'wouter'
import { causeOf, isCause } from '../../../contract/causes.ts'
import type { TaskRecord } from '../../../contract/task.ts'
import { StatusIcon } from '../deployments/status-mark.tsx'
import { wordsOf } from '../deployments/status-words.ts'
import { endingOf } from '../deployments/verdict-words.ts'
import { OutsideLink } from '../ui/outside-link.tsx'
import { Section } from '../ui/section.tsx'
import { changeText, versionChange } from '../ui/version-change.ts'
import { Ago } from '../ui/when.tsx'
import { More } from './more.tsx'
import { useHeldRows } from './use-held-rows.ts'
import { useTaskDetails } from './use-task-details.ts'
import type { Attention } from './views.ts'

const shownFirst = 12

/** One row for each application whose newest deployment did not work. */
export function AttentionList({ attentions }: { attentions: readonly Attention[] }) {
  const [areAllShown, showAll] = useState(false)
  const held = useHeldRows(attentions.map((attention) => ({ key: attention.app, attention })))
  const rows = areAllShown ? held.rows : held.rows.slice(0, shownFirst)
  const details = useTaskDetails(rows.slice(0, shownFirst).map(({ attention }) => attention.id))
  if (rows.length === 0) return null
  return (
    <Section
      title="Needs attention"
      id="attention"
      note={String(attentions.length)}
      noteTitle="An application leaves this list when a later deployment is under way or succeeds"
      {...held.hold}
    >
      <ul className="alarms">
        {rows.map(({ key, attention }) => (
          <Alarm attention={attention} task={details.get(attention.id)} key={key} />
        ))}
      </ul>
      <More count={held.rows.length - rows.length} show={() => showAll(true)} />
    </Section>
  )
}

function Alarm({ attention, task }: { attention: Attention; task: TaskRecord | undefined }) {
  const { app, id, status, change, details } = attention
  const { word, icon, tone } = wordsOf(status)
  const page = `/task/${encodeURIComponent(id)}`
  const serves = task && servesWords(task)
  const previous = task?.previous
  return (
    <li className={`alarm s-${tone}`}>
      <StatusIcon icon={icon} />
      <h3 title={app}>
        <span className="sr">{word}: </span>
        <Link className="name quiet" href={page}>
          {app}
        </Link>
      </h3>
      <code className="what">
        {changeText(task === undefined ? change : versionChange(previous?.images, task.images))}
      </code>
      <p>
        {details === undefined ? `${endingOf(status)}.` : `${reasonOf(details)}.`}
        {serves === undefined ? '' : ` ${serves}`}
      </p>
      {details === undefined ? null : (
        <div className="when">
          {details.ended === undefined ? null : <Ago at={details.ended} />} by {details.author}
        </div>
      )}
      <div className="end">
        {previous === undefined ? null : (
          <Link className="btn btn-s" href={page}>
            Roll back…
          </Link>
        )}
        <OutsideLink href={task?.app_url} className="btn btn-s" orElse="nothing">
          Argo CD
        </OutsideLink>
      </div>
    </li>
  )
}

/** What happened in one line. */
const reasonOf = ({ status, cause, headline }: NonNullable<Attention['details']>): string =>
  headline ?? (cause !== undefined && isCause(cause) ? causeOf(cause).headline : endingOf(status))

/** Whether the version before still serves, as far as its Pods tell. */
function servesWords({ diagnosis, previous }: TaskRecord): string | undefined {
  const impact = diagnosis?.impact
  if (impact === undefined) return undefined
  const { to } = versionChange(undefined, previous?.images ?? [])
  return `${to || 'The old version'} ${impact.old_pods_ready > 0 ? 'still serves' : 'does not serve'}.`
}
