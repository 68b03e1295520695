import type { Diagnosis } from '../../../contract/diagnosis.ts'
import type { TaskRecord } from '../../../contract/task.ts'
import { useSession } from '../auth/session.ts'
import { OutsideLink } from '../ui/outside-link.tsx'
import { mostRelevantLogLine } from './most-relevant-log-line.ts'
import { podLogAddress } from './task-links.ts'

const maxLines = 20
/** Those before them are behind a disclosure, unless the line to read first is among them. */
const shownLines = 8

/**
 * What the Pod to blame wrote last, with the line to read first marked. It is shown to those who are signed in only, so it is
 * no part of the report that is passed on.
 */
export function PodLog({ task }: { task: TaskRecord }) {
  const { pod_log: log, diagnosis } = task
  if (log === undefined) return <NoLog task={task} />
  const lines = log.lines.slice(-maxLines)
  const relevant = mostRelevantLogLine(lines)
  const earlier = Math.max(0, lines.length - shownLines)
  const container = diagnosis?.culprit?.name === log.pod ? diagnosis.culprit.container : undefined
  return (
    <section className="stack tight" id="pod-log" aria-labelledby="h-pod-log">
      <div className="between">
        <h3 id="h-pod-log">
          {lines.length === 1 ? 'Last line' : `Last ${lines.length} lines`} of{' '}
          {container ?? (
            <>
              Pod <code>{log.pod}</code>
            </>
          )}
        </h3>
        <span className="small">
          <OutsideLink href={podLogAddress(task)} orElse="nothing">
            Open full log in Argo CD
          </OutsideLink>
        </span>
      </div>
      {earlier === 0 ? null : (
        <details open={relevant !== undefined && relevant < earlier}>
          <summary className="small">
            {earlier} earlier {earlier === 1 ? 'line' : 'lines'}
          </summary>
          <Lines lines={lines.slice(0, earlier)} relevant={relevant} />
        </details>
      )}
      <Lines lines={lines.slice(earlier)} relevant={relevant === undefined ? undefined : relevant - earlier} />
    </section>
  )
}

function Lines({ lines, relevant }: { lines: readonly string[]; relevant: number | undefined }) {
  return (
    <ol className="log whole" aria-labelledby="h-pod-log">
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of an ended task never change
        <li key={index} className={index === relevant ? 'hit' : undefined}>
          <span>
            {index === relevant ? <span className="sr">Read this first: </span> : null}
            {line}
          </span>
        </li>
      ))}
    </ol>
  )
}

/** Why there are no lines, where the container ran and may have written some. */
function NoLog({ task: { status, diagnosis } }: { task: TaskRecord }) {
  const { data: session } = useSession()
  const culprit = diagnosis?.culprit
  if (status !== 'failed' || culprit === undefined || !hasRun(diagnosis)) return null
  const what = culprit.container ?? `Pod ${culprit.name}`
  if (session?.enabled === true && session.user === null)
    return <p className="why">Sign in to see the log of {what}, if the service keeps it.</p>
  return (
    <p className="why">
      No log of {what} was kept. With <code>POD_LOG_LINES</code> the service keeps the last lines.
    </p>
  )
}

const hasRun = ({ cause, culprit }: Diagnosis = { conditions: [], evidence: [], next_steps: [], links: [] }) =>
  culprit?.kind === 'Pod' && (cause === 'crash_loop' || cause === 'probe_failing' || culprit.exit_code !== undefined)
