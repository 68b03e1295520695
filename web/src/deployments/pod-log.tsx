import type { TaskRecord } from '../../../contract/task.ts'
import { mostRelevantLogLine } from './telling-line.ts'

/**
 * What the Pod to blame wrote last, with the line to read first marked. It is shown to those who are signed in only, so it is
 * no part of the report that is passed on.
 */
export function PodLog({ task: { status, pod_log: log, diagnosis } }: { task: TaskRecord }) {
  if (log === undefined)
    return status === 'failed' && diagnosis?.culprit?.kind === 'Pod' ? (
      <p className="why">
        No log lines: they are read where <code>POD_LOG_LINES</code> is set, and shown to those who are signed in.
      </p>
    ) : null
  const telling = mostRelevantLogLine(log.lines)
  return (
    <section className="stack tight" id="pod-log" aria-labelledby="h-pod-log">
      <h3 id="h-pod-log">
        {log.pod === diagnosis?.culprit?.name ? (
          'Its log'
        ) : (
          <>
            Log of Pod <code>{log.pod}</code>
          </>
        )}
      </h3>
      <ol className="log whole" aria-labelledby="h-pod-log">
        {log.lines.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of an ended task never change
          <li key={index} className={index === telling ? 'hit' : undefined}>
            <span>
              {index === telling ? <span className="sr">Read this first: </span> : null}
              {line}
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}
