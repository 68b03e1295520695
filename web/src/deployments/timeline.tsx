import type { TaskRecord } from '../../../contract/task.ts'
import type { TaskEvent } from '../../../contract/task-event.ts'
import { Answered } from '../ui/answered.tsx'
import { fineDuration } from '../ui/duration.ts'
import { Icon } from '../ui/icon.tsx'
import { exactTime, isoTime } from '../ui/moment.ts'
import { Section } from '../ui/section.tsx'
import { useTimeZone } from '../ui/time-zone.ts'
import { gateRowId } from './describe-gates.ts'
import { eventWords } from './event-words.ts'
import { type GateRow, gateRows } from './gate-rows.ts'
import { ImageList } from './image-list.tsx'
import type { useTimeline } from './read-timeline.ts'
import { StatusIcon } from './status-mark.tsx'
import { wordsOf } from './status-words.ts'

type Props = { task: TaskRecord; timeline: ReturnType<typeof useTimeline> }

/** What happened to a task: a row for each gate, the current or failed one open, with the events of each behind it. */
export function Timeline({ task, timeline }: Props) {
  return (
    <Section title="Timeline" id="timeline" end={<span className="dim">since it was accepted</span>}>
      {timeline.isPending ? (
        <Rows task={task} events={[]} />
      ) : (
        <Answered query={timeline} what="the timeline">
          {(events) => <Rows task={task} events={events} />}
        </Answered>
      )}
    </Section>
  )
}

/** Until the events are there the rows keep their place. */
const Rows = ({ task, events }: { task: TaskRecord; events: readonly TaskEvent[] }) => (
  <ol className="gate-rows" aria-labelledby="h-timeline">
    {gateRows(task, events).map((row) => (
      <Row key={row.gate.name} row={row} task={task} />
    ))}
  </ol>
)

function Row({ row: { gate, time, sentence, steps, saidAt }, task }: { row: GateRow; task: TaskRecord }) {
  const at = time?.at ?? saidAt
  const isHere = gate.state === 'now' || gate.state === 'stop'
  return (
    <li className={gate.state === 'stop' ? `stop st-${wordsOf(task.status).tone}` : gate.state}>
      <details id={gateRowId(gate.name)} open={isHere && steps.length > 0}>
        <summary>
          <Icon name="i-down" className="tiny" />
          {gate.state === 'stop' ? <StatusIcon icon={wordsOf(task.status).icon} /> : <span className="dot" />}
          <b>{gate.name}</b>
          <span className="off">{at === undefined ? '' : offset(at, task)}</span>
          <span className="says">{sentence}</span>
        </summary>
        <ol className="steps">
          {steps.map((event) => (
            <Step key={event.id} event={event} task={task} />
          ))}
          {steps.length === 0 ? <li className="dim">{saidAt === undefined ? 'No event' : 'No other event'}</li> : null}
        </ol>
      </details>
    </li>
  )
}

function Step({ event, task }: { event: TaskEvent; task: TaskRecord }) {
  const zone = useTimeZone()
  const { what, more, images } = eventWords(event)
  return (
    <li>
      <time dateTime={isoTime(event.at)} title={exactTime(event.at, zone)}>
        {offset(event.at, task)}
      </time>
      <div>
        <span className="what">{what}</span> {more}
        {images.length === 0 ? null : (
          <>
            {more === '' ? '' : ' · '}
            <ImageList images={images} />
          </>
        )}
      </div>
    </li>
  )
}

/** "+0.8 s" */
const offset = (at: number, { created }: TaskRecord) => `+${fineDuration(at - created)}`
