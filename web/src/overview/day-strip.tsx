import { type MouseEvent, memo } from 'react'
import { useLocation } from 'wouter'
import type { History, HistoryMark } from '../../../contract/history.ts'
import { wordsOf } from '../deployments/status-words.ts'
import { lockedRanges } from '../locks/next-changes.ts'
import { useDeployLock } from '../locks/read-deploy-lock.ts'
import { useLockCalendar } from '../locks/read-lock-calendar.ts'
import { useNow } from '../ui/now.tsx'
import { useTimeWords } from '../ui/time-zone.ts'
import { clockIn, ownTimeZone, zoneLabel } from '../ui/zoned-time.ts'
import { clockMarks, type Day, describeDay, placeOn } from './lay-out-day.ts'

export const dayHeight = 52

type Props = { history: History; rollingOut: number; zone: string }

/** The day: a tick for each deployment, a shape for each that failed, the lock as a field, and now. */
export function DayStrip({ history, rollingOut, zone }: Props) {
  const now = useNow()
  const time = useTimeWords(now)
  const own = ownTimeZone()
  const { data: lock } = useDeployLock()
  const today = history.by_day.at(-1)
  const day = { from: today?.from ?? history.total.from, to: today?.to ?? history.total.to }
  const { data: calendar } = useLockCalendar(day.from, day.to, lock)
  const locked = lockedRanges(calendar?.intervals ?? [], day.from, day.to)
  const marks = history.marks ?? []
  const lockedSeconds = locked.reduce((sum, { from, to }) => sum + to - from, 0)
  const nowAt = `${placeOn(day, now)}%`
  return (
    <>
      <p className="sr">{describeDay(history.total, marks, rollingOut, lockedSeconds, zone)}</p>
      <svg className="day" width="100%" height={dayHeight} aria-hidden="true">
        {locked.map(({ from, to }) => (
          <g key={from}>
            <rect className="lockd" x={`${placeOn(day, from)}%`} y="10" width={widthOf(day, from, to)} height="22" />
            {placeOn(day, to) - placeOn(day, from) < 14 ? null : (
              <text className="hide-phone" x={`${placeOn(day, from) + 0.7}%`} y="25">
                Locked until {to >= day.to ? `24:00${zoneLabel(to, zone, own)}` : time(to)}
              </text>
            )}
          </g>
        ))}
        <line className="base" x1="0" x2="100%" y1="32" y2="32" />
        <Marks marks={marks} from={day.from} to={day.to} zone={zone} own={own} />
        {rollingOut === 0 ? null : <rect className="run" x={nowAt} y="10" width="3" height="22" />}
        {clockMarks(day, now, zone, own).map(({ place, words, isTight }) => (
          <text className={isTight ? 'hide-phone' : ''} x={`${place}%`} y="48" textAnchor={anchorAt(place)} key={place}>
            {words}
          </text>
        ))}
        <text className="now-t" x={nowAt} y="48" textAnchor={anchorAt(placeOn(day, now))}>
          now
        </text>
      </svg>
    </>
  )
}

const widthOf = (day: Day, from: number, to: number) =>
  `${Math.round((placeOn(day, to) - placeOn(day, from)) * 100) / 100}%`
const anchorAt = (place: number) => (place < 3 ? 'start' : place > 97 ? 'end' : 'middle')

type MarksProps = { marks: readonly HistoryMark[]; zone: string; own: string } & Day

/** The eye's way to a task; the keyboard has the lists below. */
const Marks = memo(function Marks({ marks, from, to, zone, own }: MarksProps) {
  const [, navigate] = useLocation()
  const day = { from, to }
  const open = (event: MouseEvent<SVGElement>) => {
    const link = event.target instanceof Element ? event.target.closest('a')?.getAttribute('href') : undefined
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    navigate(link)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: each mark is a link, which a click opens within the page
    <g onClick={open}>
      {marks.map(({ id, app, status, ended }) => (
        <a href={`/task/${encodeURIComponent(id)}`} tabIndex={-1} key={id}>
          <title>{`${app}: ${status}, ${clockIn(ended, zone)}${zoneLabel(ended, zone, own)}`}</title>
          <Mark status={status} x={`${placeOn(day, ended)}%`} />
        </a>
      ))}
    </g>
  )
})

function Mark({ status, x }: { status: HistoryMark['status']; x: string }) {
  if (status === 'deployed') return <rect className="ok" x={x} y="20" width="2" height="12" />
  const look = status === 'failed' ? 'bad' : 'lost'
  return (
    <svg x={x} y="4" width="14" height="28" overflow="visible" aria-hidden="true">
      <rect className={look} x="-1" y="8" width="3" height="20" />
      <use href={`#${wordsOf(status).icon}`} className={look} x="-6.5" width="14" height="14" />
    </svg>
  )
}
