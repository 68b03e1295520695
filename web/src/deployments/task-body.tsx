import type { Evidence } from '../../../contract/diagnosis.ts'
import type { TaskRecord } from '../../../contract/task.ts'
import { Section } from '../ui/section.tsx'
import { Cell, Row, RowHead, Table } from '../ui/table.tsx'
import { Ago } from '../ui/when.tsx'
import { Images, Pods } from './pods.tsx'
import type { useTimeline } from './read-timeline.ts'
import { Timeline } from './timeline.tsx'

type Props = { task: TaskRecord; timeline: ReturnType<typeof useTimeline>; isGone: boolean }

/** Below the verdict: the timeline, events of Pods, images and Pods. */
export function TaskBody({ task, timeline, isGone }: Props) {
  const pods = (task.diagnosis?.evidence ?? []).filter((one) => one.kind === 'pod')
  return (
    <div className="flow">
      {isGone && timeline.data === undefined ? null : <Timeline task={task} timeline={timeline} />}
      {pods.map((pod) => (
        <PodEvents pod={pod} said={task.diagnosis?.culprit?.message} key={`${pod.namespace}/${pod.name}`} />
      ))}
      <Images task={task} />
      <Pods task={task} />
    </div>
  )
}

type PodEventsProps = {
  readonly pod: Extract<Evidence, { kind: 'pod' }>
  /** What the top of the page says already. */
  readonly said: string | undefined
}

/** What Kubernetes said of a Pod that decided. Of an older service it is not known how often and when. */
function PodEvents({ pod: { namespace, name, events, occurrences }, said }: PodEventsProps) {
  if (events.length === 0) return null
  const columns = [
    { name: 'Reason' },
    { name: 'Message' },
    ...(occurrences === undefined
      ? []
      : [
          { name: 'Times', isNumber: true },
          { name: 'Last', isNumber: true },
        ]),
  ]
  return (
    <Section title={`Events of Pod ${name}`} id={`events-${namespace}-${name}`} note={String(events.length)}>
      <Table label={`Events of Pod ${name}`} className="top" columns={columns}>
        {events.map((event, index) => {
          const { reason, message } = partsOf(event)
          const { count, last } = occurrences?.[index] ?? {}
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same event may be there twice, and none moves
            <Row key={index}>
              <RowHead className="full">{reason}</RowHead>
              <Cell className="full">
                <span className="wrap-any">{isSaid(message, said) ? 'The message above' : message}</span>
              </Cell>
              {occurrences === undefined ? null : (
                <>
                  <Cell className="num" data-label="Times">
                    {count}
                  </Cell>
                  <Cell className="num push" data-label="Last">
                    {last === undefined ? null : <Ago at={last} />}
                  </Cell>
                </>
              )}
            </Row>
          )
        })}
      </Table>
    </Section>
  )
}

/** The deciding message may begin with the state of the container: `ImagePullBackOff: Failed to pull image …`. */
const isSaid = (message: string, said = ''): boolean => message !== '' && said.includes(message)

/** `<reason>: <message>`, of which a reason has no colon. */
function partsOf(event: string): { readonly reason: string; readonly message: string } {
  const at = event.indexOf(': ')
  return at < 0 ? { reason: event, message: '' } : { reason: event.slice(0, at), message: event.slice(at + 2) }
}
