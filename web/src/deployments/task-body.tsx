import type { TaskRecord } from '../../../contract/task.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Section } from '../ui/section.tsx'
import { Images, Pods } from './pods.tsx'
import type { useTimeline } from './read-timeline.ts'
import { taskReport } from './task-report.ts'
import { Timeline } from './timeline.tsx'

type Props = { task: TaskRecord; timeline: ReturnType<typeof useTimeline>; isGone: boolean }

/** Below the verdict: events of Pods, images, Pods, the timeline and, after another end than deployed, the report as text. */
export function TaskBody({ task, timeline, isGone }: Props) {
  const hasReport = task.status !== 'in progress' && task.status !== 'deployed'
  return (
    <div className="flow">
      <PodEvents task={task} />
      <Images task={task} />
      <Pods task={task} />
      {isGone && timeline.data === undefined ? null : <Timeline task={task} timeline={timeline} />}
      {hasReport ? <Report task={task} /> : null}
    </div>
  )
}

/** What Kubernetes said of the Pods that decided. */
function PodEvents({ task: { diagnosis } }: { task: TaskRecord }) {
  const pods = (diagnosis?.evidence ?? []).filter((one) => one.kind === 'pod').filter(({ events }) => events.length > 0)
  return pods.map(({ namespace, name, events }) => (
    <Section title={`Events of Pod ${name}`} id={`events-${namespace}-${name}`} note={String(events.length)} key={name}>
      <ol className="lines">
        {events.map((event, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same event may stand there twice, and none moves
          <li key={index}>{event}</li>
        ))}
      </ol>
    </Section>
  ))
}

function Report({ task }: { task: TaskRecord }) {
  const text = taskReport(task, `${window.location.origin}/task/${encodeURIComponent(task.id)}`)
  return (
    <Section title="Report as text" id="report" end={<CopyButton text={text} label="Copy" />}>
      <code className="code-block">{text}</code>
    </Section>
  )
}
