import { useId, useState } from 'react'
import { useTimeZone } from '../ui/time-zone.ts'
import { fromPicker, startOfDay, toPicker, wallDay } from '../ui/zoned-time.ts'
import type { TaskFilters } from './task-filters.ts'

const hourSeconds = 3_600
const lasts = [
  ['Last hour', hourSeconds],
  ['Last 24 hours', 24 * hourSeconds],
  ['Last 7 days', 7 * 24 * hourSeconds],
  ['Last 30 days', 30 * 24 * hourSeconds],
] as const

type Props = { filters: TaskFilters; className: string; change: (changed: TaskFilters) => void }

/** When a task was created: any time, one of the last few, or between two times. The address holds the times. */
export function CreatedFilter({ filters: { from_timestamp: from, to_timestamp: to }, className, change }: Props) {
  const id = useId()
  const zone = useTimeZone()
  const [last, setLast] = useState({ seconds: '', from: '' })
  const isLast = last.from !== '' && last.from === from && to === undefined
  const isChosen = (from !== undefined || to !== undefined) && !isLast
  const choose = (value: string) => {
    const now = Math.floor(Date.now() / 1000)
    const begin = value === 'chosen' ? startOfDay(wallDay(now, zone), zone) : now - Number(value)
    setLast(value === 'chosen' ? { seconds: '', from: '' } : { seconds: value, from: String(begin) })
    change({ from_timestamp: value === '' ? '' : String(begin), to_timestamp: '' })
  }
  return (
    <>
      <div className={className}>
        <label htmlFor={id}>Created</label>
        <select
          id={id}
          value={isLast ? last.seconds : isChosen ? 'chosen' : ''}
          onChange={({ currentTarget }) => choose(currentTarget.value)}
        >
          <option value="">Any time</option>
          {lasts.map(([words, seconds]) => (
            <option value={seconds} key={words}>
              {words}
            </option>
          ))}
          <option value="chosen">Between two times</option>
        </select>
      </div>
      {isChosen ? (
        <>
          <Moment label={`After (${zone})`} at={from} zone={zone} change={(at) => change({ from_timestamp: at })} />
          <Moment label={`Until (${zone})`} at={to} zone={zone} change={(at) => change({ to_timestamp: at })} />
        </>
      ) : null}
    </>
  )
}

type MomentProps = { label: string; at: string | undefined; zone: string; change: (at: string) => void }

/** A time that is not complete yet changes nothing. */
function Moment({ label, at, zone, change }: MomentProps) {
  const id = useId()
  const shown = at === undefined ? '' : toPicker(Number(at), zone)
  const [draft, setDraft] = useState({ shown, text: shown })
  if (draft.shown !== shown) setDraft({ shown, text: shown })
  const take = (text: string) => {
    setDraft({ shown, text })
    const seconds = fromPicker(text, zone)
    if (seconds !== undefined && seconds >= 0) change(String(seconds))
  }
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="datetime-local"
        value={draft.text}
        onChange={({ currentTarget }) => take(currentTarget.value)}
        onBlur={() => draft.text === '' && at !== undefined && change('')}
      />
    </div>
  )
}
