import type { TaskRecord } from '../../../contract/task.ts'
import type { TaskEvent } from '../../../contract/task-event.ts'
import { Answered } from '../ui/answered.tsx'
import { exactTime, isoTime, stepTime } from '../ui/moment.ts'
import { useNow } from '../ui/now.tsx'
import { Section } from '../ui/section.tsx'
import { useTimeZone } from '../ui/time-zone.ts'
import { eventWords } from './event-words.ts'
import type { useTimeline } from './read-timeline.ts'
import { StatusIcon } from './status-mark.tsx'
import { wordsOf } from './status-words.ts'
import { rowCause, verdictWords } from './verdict-words.ts'

type Props = { task: TaskRecord; timeline: ReturnType<typeof useTimeline> }

/** What happened to a task, step by step; while it runs, its end says what it waits for. */
export function Timeline({ task, timeline }: Props) {
  const count = timeline.data?.length
  return (
    <Section
      title="Timeline"
      id="timeline"
      {...(count !== undefined && { note: count === 1 ? '1 step' : `${count} steps` })}
      end={<span className="dim">{useTimeZone()}</span>}
    >
      <Answered query={timeline} what="the timeline">
        {(events) => (
          <ol className="events" aria-labelledby="h-timeline">
            {events.map((event) => (
              <Step key={event.id} event={event} task={task} />
            ))}
            {task.status === 'in progress' ? (
              <li className="live-end">
                <span className="t">now</span>
                <span className="dot" />
                <div>
                  <span className="what">{verdictWords(task).headline}</span>
                </div>
              </li>
            ) : null}
          </ol>
        )}
      </Answered>
    </Section>
  )
}

function Step({ event, task }: { event: TaskEvent; task: TaskRecord }) {
  const [zone, now] = [useTimeZone(), useNow()]
  const isVerdict = event.kind === 'verdict' && task.status !== 'in progress'
  const { word, icon, tone } = wordsOf(isVerdict ? (event.data?.status ?? task.status) : task.status)
  const { what, more } = isVerdict ? { what: word, more: rowCause(task) ?? '' } : eventWords(event)
  return (
    <li>
      <time dateTime={isoTime(event.at)} title={exactTime(event.at, zone)}>
        {stepTime(event.at, now, zone)}
      </time>
      {isVerdict ? (
        <span className={`end-mark st-${tone}`}>
          <StatusIcon icon={icon} />
        </span>
      ) : (
        <span className="dot" />
      )}
      <div>
        <span className="what">{what}</span> {more === '' ? null : <span className="more">{more}</span>}
      </div>
    </li>
  )
}
