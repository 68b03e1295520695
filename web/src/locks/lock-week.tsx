import type { DeployLockInterval } from '../../../contract/deploy-lock.ts'
import { dayIn, epochAt, wallSeconds } from '../ui/zoned-time.ts'
import { layOutWeek, type WeekDay, type WeekMark } from './lay-out-week.ts'
import { dayWords, markWords } from './lock-words.ts'

const top = 46
const hourHeight = 6
const axisWidth = 4.6
const dayWidth = (100 - axisWidth) / 7
const clockHours = [0, 6, 12, 18, 24]
/** Room that a label needs inside a mark. */
const labelHours = 3.5

const xOf = (day: number) => axisWidth + day * dayWidth
const yOf = (hour: number) => top + hour * hourHeight
const percent = (share: number) => `${share.toFixed(3)}%`

type Props = { intervals: readonly DeployLockInterval[]; now: number; zone: string }

/** The week as a picture, one sentence for the ear; on a phone as a list. */
export function LockWeek({ intervals, now, zone }: Props) {
  const week = layOutWeek(now, zone, intervals)
  const summary = week.map((day) => `${dayIn(day.from, zone)}: ${dayWords(day, zone)}`).join('. ')
  const bottom = yOf(Math.max(...week.map(({ hours }) => hours)))
  return (
    <>
      <svg
        className="week"
        width="100%"
        height={bottom + 8}
        role="img"
        aria-label={`This week in ${zone}. ${summary}.`}
      >
        {clockHours.map((hour) => (
          <text className="lbl" x="0" y={yOf(hour) + 4} key={hour}>
            {`${String(hour).padStart(2, '0')}:00`}
          </text>
        ))}
        {week.map((day, index) => (
          <Day day={day} index={index} now={now} zone={zone} key={day.from} />
        ))}
      </svg>
      <ul className="week-list">
        {week.map((day) => (
          <li className="wk-day" key={day.from}>
            <span>{dayIn(day.from, zone)}</span>
            <span>
              {dayWords(day, zone)}
              {day.hours === 24 ? '' : ` (a day of ${day.hours} h)`}
              {day.isToday ? ' (today)' : ''}
            </span>
          </li>
        ))}
      </ul>
      <Legend />
    </>
  )
}

function Day({ day, index, now, zone }: { day: WeekDay; index: number; now: number; zone: string }) {
  const middle = percent(xOf(index + 0.5))
  const [left, right] = [percent(xOf(index)), percent(xOf(index + 1))]
  const note = [...(day.isToday ? ['today'] : []), ...(day.hours === 24 ? [] : [`${day.hours} h`])].join(', ')
  const foot = yOf(day.hours)
  return (
    <g>
      <text className={day.isToday ? 'lbl on' : 'lbl'} x={middle} y="18" textAnchor="middle">
        {dayIn(day.from, zone)}
      </text>
      <text className="lbl" x={middle} y="36" textAnchor="middle">
        {note}
      </text>
      {gridHours(day, zone).map((hour) => (
        <line className="grid" x1={left} x2={right} y1={yOf(hour)} y2={yOf(hour)} key={hour} />
      ))}
      <line className="grid-strong" x1={left} x2={right} y1={top} y2={top} />
      <line className="grid-strong" x1={left} x2={right} y1={foot} y2={foot} />
      <line className="grid" x1={left} x2={left} y1={top} y2={foot} />
      <line className="grid" x1={right} x2={right} y1={top} y2={foot} />
      {day.marks.map((mark) => (
        <Mark mark={mark} index={index} zone={zone} key={`${mark.kind} ${mark.fromHour}`} />
      ))}
      {day.isToday ? <Now hour={(now - day.from) / 3_600} index={index} /> : null}
    </g>
  )
}

/** Where a clock shows 06:00, 12:00 and 18:00, in hours since the day began. */
function gridHours({ from }: WeekDay, zone: string): readonly number[] {
  const midnight = wallSeconds(from, zone)
  return clockHours.slice(1, -1).map((hour) => (epochAt(midnight + hour * 3_600, zone) - from) / 3_600)
}

const classOf: Record<WeekMark['kind'], string> = { scheduled: 'win', manual: 'man', opened: 'opn' }

function Mark({ mark, index, zone }: { mark: WeekMark; index: number; zone: string }) {
  const { kind, fromHour, toHour } = mark
  const hours = toHour - fromHour
  const isRoomy = hours >= labelHours
  const labelY = isRoomy ? yOf(fromHour) + 16 : fromHour > labelHours ? yOf(fromHour) - 5 : yOf(toHour) + 14
  return (
    <>
      <rect
        className={classOf[kind]}
        x={percent(xOf(index) + 0.15)}
        width={percent(dayWidth - 0.3)}
        y={yOf(fromHour)}
        height={Math.max(2, hours * hourHeight)}
        rx="2"
      />
      <text className={isRoomy && kind === 'manual' ? 'wlbl on-man' : 'wlbl'} x={percent(xOf(index) + 0.9)} y={labelY}>
        {markWords(mark, zone)}
      </text>
    </>
  )
}

function Now({ hour, index }: { hour: number; index: number }) {
  const y = yOf(hour)
  return (
    <>
      <line className="nowline" x1={percent(xOf(index))} x2={percent(xOf(index + 1))} y1={y} y2={y} />
      <circle className="nowdot" cx={percent(xOf(index))} cy={y} r="4" />
      <text
        className="nowlbl"
        x={percent(xOf(index + 1) - 0.9)}
        y={hour > labelHours ? y - 6 : y + 16}
        textAnchor="end"
      >
        now
      </text>
    </>
  )
}

const signs = {
  scheduled: <rect className="k-win" x=".5" y=".5" width="21" height="9" rx="2" />,
  manual: <rect className="k-man" width="22" height="10" rx="2" />,
  opened: <rect className="k-opn" x=".5" y=".5" width="21" height="9" rx="2" />,
  now: <path className="k-now" d="M0 5h22" />,
}

const Legend = () => (
  <div className="legend hide-phone">
    {Object.entries(signs).map(([word, sign]) => (
      <span key={word}>
        <svg className="key" viewBox="0 0 22 10" aria-hidden="true">
          {sign}
        </svg>
        {word}
      </span>
    ))}
  </div>
)
