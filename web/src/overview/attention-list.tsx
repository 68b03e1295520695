import { Link } from 'wouter'
import { causeOf, isCause } from '../../../contract/causes.ts'
import { StatusIcon } from '../deployments/status-mark.tsx'
import { wordsOf } from '../deployments/status-words.ts'
import { endingOf } from '../deployments/verdict-words.ts'
import { Section } from '../ui/section.tsx'
import { Ago } from '../ui/when.tsx'
import { useHeldRows } from './use-held-rows.ts'
import type { Attention } from './views.ts'

/** One row for each application whose newest deployment did not work. */
export function AttentionList({ attentions }: { attentions: readonly Attention[] }) {
  const { rows, hold } = useHeldRows(attentions.map((attention) => ({ key: attention.app, attention })))
  if (rows.length === 0) return null
  return (
    <Section
      title="Needs attention"
      id="attention"
      note={String(attentions.length)}
      end={<span className="dim hide-phone">Leaves this list when a later deployment succeeds</span>}
      {...hold}
    >
      <ul className="stack">
        {rows.map(({ key, attention }) => (
          <li key={key}>
            <Alarm attention={attention} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Alarm({ attention: { app, id, status, details } }: { attention: Attention }) {
  const { word, icon, tone } = wordsOf(status)
  return (
    <article className={`alarm s-${tone}`}>
      <StatusIcon icon={icon} />
      <div>
        <h3>
          <span className="sr">{word}: </span>
          <Link className="name quiet" href={`/task/${encodeURIComponent(id)}`}>
            {app}
          </Link>
        </h3>
        <p>{details === undefined ? 'A newer deployment is in progress.' : reasonOf(details)}</p>
      </div>
      {details === undefined ? null : (
        <div className="when">
          {details.ended === undefined ? null : <Ago at={details.ended} />} by {details.author}
        </div>
      )}
    </article>
  )
}

/** What happened in one line; an outcome that is not known says what to do about it. */
function reasonOf({ status, cause, headline }: NonNullable<Attention['details']>): string {
  if (cause === undefined || !isCause(cause)) return `${headline ?? endingOf(status)}.`
  const known = causeOf(cause)
  const what = `${headline ?? known.headline}.`
  return status === 'aborted' ? `${what} ${known.nextSteps[0]?.text ?? ''}` : what
}
