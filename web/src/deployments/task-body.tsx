import type { PodLog, TaskRecord } from '../../../contract/task.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Section } from '../ui/section.tsx'
import { Cell, Row, RowHead, Table } from '../ui/table.tsx'
import { taskReport } from './task-report.ts'

/** Below the verdict: the images asked for and, after a bad end, the whole report as text. */
export function TaskBody({ task }: { task: TaskRecord }) {
  const isBadEnd = task.status !== 'in progress' && task.status !== 'deployed'
  return (
    <div className="flow">
      <Section title="Images" id="images" note={String(task.images.length)}>
        <Images images={task.images} />
      </Section>
      {isBadEnd ? <Report task={task} /> : null}
      {task.pod_log === undefined ? null : <PodLogSection log={task.pod_log} />}
    </div>
  )
}

function Images({ images }: Pick<TaskRecord, 'images'>) {
  return (
    <Table label="Images asked for" className="top" columns={[{ name: 'Image' }, { name: 'Requested' }]}>
      {images.map(({ image, tag }) => (
        <Row key={`${image}:${tag}`}>
          <RowHead className="full">
            <code className="wrap-any">{image}</code>
          </RowHead>
          <Cell className="full" data-label="Requested">
            <code className="wrap-any">{tag}</code>
          </Cell>
        </Row>
      ))}
    </Table>
  )
}

/** Only for those who are signed in, so it is no part of the report that is passed on. */
function PodLogSection({ log: { pod, lines } }: { log: PodLog }) {
  return (
    <Section title={`Log of Pod ${pod}`} id="pod-log" note={String(lines.length)}>
      <code className="code-block">{lines.join('\n')}</code>
    </Section>
  )
}

function Report({ task }: { task: TaskRecord }) {
  const text = taskReport(task, `${window.location.origin}/task/${encodeURIComponent(task.id)}`)
  return (
    <Section title="Report as text" id="report" end={<CopyButton text={text} label="Copy" />}>
      <code className="code-block">{text}</code>
    </Section>
  )
}
